/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_SIMPLER_H
#define SIMPLER_SIMPLER_H

/* Everything public. */
#include "simpler/call_config.h"
#include "simpler/dtype.h"
#include "simpler/info.h"
#include "simpler/kernel.h"
#include "simpler/log.h"
#include "simpler/orch.h"
#include "simpler/recover.h"
#include "simpler/scene.h"
#include "simpler/status.h"
#include "simpler/task.h"
#include "simpler/tensor.h"
#include "simpler/version.h"
#include "simpler/worker.h"

#endif
