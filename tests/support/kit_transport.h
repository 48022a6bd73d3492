/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_KIT_TRANSPORT_H
#define TEST_SUPPORT_KIT_TRANSPORT_H

/* Another transport for the diagnostics of a worker, before its first run. */
#include "platform/transport.h"
#include "simpler/worker.h"

void kit_set_transport(struct simpler_worker *worker,
                       const struct simpler_transport_ops *transport);

#endif
