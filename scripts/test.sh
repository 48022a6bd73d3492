#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make test: what a user runs first.  At most three minutes, few packages.
set -uo pipefail
cd "$(dirname "$0")/.."
scripts/need.sh build test || exit 1
jobs=$(nproc)
rm -rf build/results
unset MAKEFLAGS MAKELEVEL
mkdir -p build/dev
echo "== build"
cmake --preset dev >/dev/null && cmake --build build/dev -j "$jobs" >build/dev/build.log 2>&1 || {
    tail -n 40 build/dev/build.log
    exit 1
}
scripts/run-ctest.sh build/dev test 'unit|scene|cli|static' -j "$jobs"
status=$?
scripts/summary.sh || status=1
exit $status
