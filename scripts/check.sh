#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make check: everything.  Each step adds a JUnit file to build/results; the last
# line counts them all.
set -uo pipefail
cd "$(dirname "$0")/.."
scripts/need.sh build test check browser || exit 1
jobs=$(nproc)
unset MAKEFLAGS MAKELEVEL
status=0
rm -rf build/results
mkdir -p build/results

build() { # build PRESET DIRECTORY
    echo "== build $1"
    if ! { cmake --preset "$1" && cmake --build "$2" -j "$jobs"; } >"build/$1.log" 2>&1; then
        tail -n 40 "build/$1.log"
        scripts/result.sh "build-$1" fail "the build of preset $1 failed"
        status=1
        return 1
    fi
}

step() { # step COMMAND...: a step that fails says so, whatever it recorded
    "$@" && return
    echo "FAILED step: $*"
    status=1
}

build release build &&
    step scripts/run-ctest.sh build release \
        'unit|scene|cli|static|stress|fault|model|browser' -j "$jobs"
build asan build/asan &&
    step scripts/run-ctest.sh build/asan asan 'unit|scene|cli|stress|fault' -j "$jobs"
build tsan build/tsan &&
    step scripts/run-ctest.sh build/tsan tsan 'unit|scene|stress|fault' -j "$jobs"
build fuzz build/fuzz && step scripts/fuzz.sh "${FUZZ_SECONDS:-60}"
step scripts/compilers.sh
step scripts/requirements.sh
step scripts/faults.py
step scripts/summary.sh
exit $status
