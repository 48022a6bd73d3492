# SPDX-License-Identifier: Apache-2.0
# To be sourced: what a test saw of a fault that it has injected, as tests/support/faults.h.
#   fault_saw ID[@RUNTIME] key=value...
fault_saw() {
    local id=${1%%@*} runtime=tensormap_and_ringbuffer
    [ "$1" = "$id" ] || runtime=${1#*@}
    shift
    [ -n "${SIMPLER_TEST_FAULTS:-}" ] || return 0
    if ! grep -q "^$id |" "$SOURCE_DIR/tests/faults.txt"; then
        echo "FAILED: faults: $id: tests/faults.txt does not have this fault"
        exit 1
    fi
    printf '%s\t%s\t1\t%s\t%s\n' "$id" "$runtime" "${TEST_SOURCE:-?}" "$*" >>"$SIMPLER_TEST_FAULTS"
}
# fault_cannot WHY ID...: this machine does not let the test inject them.
fault_cannot() {
    local why=$1 id
    shift
    [ -n "${SIMPLER_TEST_FAULTS:-}" ] || return 0
    for id in "$@"; do
        printf '%s\ttensormap_and_ringbuffer\t0\t%s\tcannot=%s\n' "$id" "${TEST_SOURCE:-?}" "$why" >>"$SIMPLER_TEST_FAULTS"
    done
}
