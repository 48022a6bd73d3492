#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make demo: a real network learns real images through the runtime.  The summary
# shows the peak of each ring, pool and map, and which scope drove it there; the page
# that it names shows the whole run.
set -euo pipefail
cd "$(dirname "$0")/.."
exec build/simpler run fashion_mnist --case default --enable-scope-stats "$@"
