#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# requirements.sh: each id that tests/requirements.txt calls built must be named
# by a test that ran and passed (build/results says which did).
set -euo pipefail
cd "$(dirname "$0")/.."
shopt -s nullglob
ran=$(mktemp)
trap 'rm -f "$ran"' EXIT
cat build/results/*.xml /dev/null |
    sed -n 's/.*<testcase name="\([^"]*\)".*status="run".*/\1/p' | sort -u |
    while read -r name; do
        for f in "tests/$name" "tests/$name.c" "tests/$name.cpp"; do
            if [ -f "$f" ]; then echo "$f"; fi
        done
    done >"$ran"
bad=0
while read -r id state rest; do
    case $id in '' | '#'*) continue ;; esac
    case $state in
    later) ;;
    built)
        if [ -z "$(xargs -r grep -lF -- "$id" <"$ran")" ]; then
            echo "requirement $id is called built, but no test that ran and passed names it"
            bad=1
        fi
        ;;
    *)
        echo "tests/requirements.txt: $id has state '$state' (built or later)"
        bad=1
        ;;
    esac
done <tests/requirements.txt
if [ $bad = 0 ]; then
    scripts/result.sh requirements run
else
    scripts/result.sh requirements fail "see above"
fi
exit $bad
