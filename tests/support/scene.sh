# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of tests/scene.  SIMPLER and BUILD_DIR come from ctest.
set -u
fail() { echo "FAILED: $*"; exit 1; }

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# need_scene NAME: skips the test when the scene could not be built here.
need_scene() {
    [ -e "$BUILD_DIR/scenes/$1.so" ] && return
    echo "SKIP: the scene $1 was not built (see its packages.cmake)"
    exit 77
}

# ends STATUS PATTERN ARGUMENTS...: `simpler run ARGUMENTS` must end so and say so.
ends() {
    local status=$1 pattern=$2
    shift 2
    "$SIMPLER" run "$@" >run.log 2>&1
    local got=$?
    [ "$got" -eq "$status" ] || fail "run $*: exit status $got instead of $status: $(cat run.log)"
    grep -Eq -- "$pattern" run.log || fail "run $*: no '$pattern' in: $(cat run.log)"
}

# everywhere PATTERN ARGUMENTS...: right on every platform, with several threads, both ways
# to run kernels.
everywhere() {
    local pattern=$1 platform threads exec
    shift
    for platform in cpu a2a3sim a5sim; do
        for threads in 1 2 4; do
            [ $threads = 1 ] && [ $platform != cpu ] && continue # a chip has at least two
            for exec in inline threads; do
                ends 0 "$pattern" "$@" -p $platform --aicpu-threads $threads --exec $exec
            done
        done
    done
    ends 0 "$pattern" "$@"
}
