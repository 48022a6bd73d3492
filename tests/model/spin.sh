#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest: TIMEOUT 120
# Each *.pml beside this script names in its head the variants that spin must
# prove (pass:) and those, with a bug, that it must refute (fail:).
set -uo pipefail
for tool in spin cc; do
    command -v $tool >/dev/null || {
        echo "skipped: $tool is not installed"
        exit 77
    }
done
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0 checked=0

# verify MODEL DEFINE...: prints spin's errors, 0 only after a full search.
verify() {
    local model=$1 log=$work/log
    shift
    rm -f pan* ./*.trail
    spin "${@/#/-D}" -a "$model" >"$log" 2>&1 || {
        echo "broken"
        return
    }
    cc -O0 -w -DSAFETY -DMEMLIM=1024 -o pan pan.c >>"$log" 2>&1 || {
        echo "broken"
        return
    }
    ./pan -w20 -m200000 >>"$log" 2>&1
    if grep -q 'max search depth too small\|out of memory\|aborted' "$log"; then
        echo "incomplete"
    else
        sed -n 's/.*errors: \([0-9]*\).*/\1/p' "$log"
    fi
}

for model in "$here"/*.pml; do
    name=$(basename "$model")
    variants=0
    while read -r verdict defines; do
        defines=${defines%%   *}
        # shellcheck disable=SC2086
        errors=$(verify "$model" $defines)
        states=$(sed -n 's/ *\([0-9]*\) states, stored.*/\1/p' "$work/log")
        wanted=0
        [ "$verdict" = fail: ] && wanted=1
        if [ "$errors" = "$wanted" ]; then
            echo "$name $defines: $verdict ${states:-?} states"
        else
            echo "$name $defines: spin says '$errors', expected '$wanted'"
            tail -n 20 "$work/log"
            bad=1
        fi
        variants=$((variants + 1))
        checked=$((checked + 1))
    done < <(sed -n 's/^ \* \(pass: .*\|fail: .*\)/\1/p' "$model")
    [ $variants -ge 2 ] || {
        echo "$name: names no variants"
        bad=1
    }
done
[ $checked -gt 0 ] || bad=1
echo "$checked variants"
exit $bad
