/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_SCOPE_VERDICT_H
#define SIMPLER_REPORT_SCOPE_VERDICT_H

#include "report/scope_model.h"

/*
 * Whether the statistics are whole: sets chip and sentence of a model that is
 * otherwise finished.  Every reason is named with its numbers; the chip is the
 * gravest, and Healthy needs that there is none.  SIMPLER_ENOMEM.
 */
int simpler_scope_verdict(struct simpler_scope_model *m);

#endif
