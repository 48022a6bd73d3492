/* SPDX-License-Identifier: Apache-2.0 */
#include "kit_transport.h"

#include "host/worker_state.h"

void kit_set_transport(struct simpler_worker *worker, const struct simpler_transport_ops *transport)
{
    worker->diagnostics.transport = transport;
}
