#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# result.sh NAME run|fail [TEXT]: adds the result of a step that is not a ctest
# test to build/results, so that the last line counts it.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build/results
printf '<testsuite>\n<testcase name="%s" status="%s">\n</testcase>\n</testsuite>\n' \
    "$1" "$2" >"build/results/step-${1//\//_}.xml"
[ "$2" = run ] || echo "FAILED $1: ${3:-}"
