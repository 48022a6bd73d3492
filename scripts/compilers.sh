#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the whole tree with clang, warnings as errors (gcc builds it in every
# other step).
set -uo pipefail
cd "$(dirname "$0")/.."
echo "== build clang"
if cmake -S . -B build/clang -DCMAKE_BUILD_TYPE=Release -DSIMPLER_WERROR=ON \
    -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ >build/clang.log 2>&1 &&
    cmake --build build/clang -j "$(nproc)" >>build/clang.log 2>&1; then
    scripts/result.sh build-clang run
else
    tail -n 40 build/clang.log
    scripts/result.sh build-clang fail "see build/clang.log"
    exit 1
fi
