#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# need.sh GROUP...: makes sure that the programs and headers of the groups are
# here.  It looks for the program or header, not for the package.  As root, or
# with sudo that asks no password, it installs what is missing; else it prints
# the one command that does and exits 1.
set -euo pipefail

have_program() { command -v "$1" >/dev/null 2>&1; }
have_header() {
    local dir
    for dir in /usr/include /usr/local/include "/usr/include/$(uname -m)-linux-gnu"; do
        [ -e "$dir/$1" ] && return 0
    done
    return 1
}
have_file() { compgen -G "$1" >/dev/null; }
have_module() { /usr/bin/python3 -c "import $1" >/dev/null 2>&1; }

missing=()
want() { # want KIND WHAT PACKAGE
    "have_$1" "$2" || missing+=("$3")
}

for group in "$@"; do
    case $group in
    build)
        want program gcc gcc
        want program g++ g++
        want program make make
        want program cmake cmake
        want program pkg-config pkg-config
        want header jansson.h libjansson-dev
        ;;
    test)
        want header cmocka.h libcmocka-dev
        want file /usr/bin/python3 python3
        want module numpy python3-numpy
        ;;
    demo)
        want header zlib.h zlib1g-dev
        want file '/usr/share/*/*ashion*mnist*' dataset-fashion-mnist
        want file "/usr/include/*/openblas-pthread/cblas.h" libopenblas-pthread-dev
        ;;
    check)
        want program clang clang
        want file '/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-x86_64.a' \
            libclang-rt-14-dev
        want program valgrind valgrind
        want program spin spin
        want file /usr/bin/python3 python3
        want module numpy python3-numpy
        want header zlib.h zlib1g-dev
        want file '/usr/share/*/*ashion*mnist*' dataset-fashion-mnist
        want file "/usr/include/*/openblas-pthread/cblas.h" libopenblas-pthread-dev
        want program clang-format clang-format
        ;;
    browser)
        want program node nodejs
        want program npm npm
        want program chromium chromium
        ;;
    bench)
        want program clang clang
        want file "/usr/lib/llvm-*/lib/libomp.so*" libomp-dev
        want header oneapi/tbb/flow_graph.h libtbb-dev
        want file "/usr/include/starpu/*/starpu.h" libstarpu-dev
        want program valgrind valgrind
        ;;
    lint)
        want program clang-format clang-format
        ;;
    *)
        echo "need.sh: unknown group '$group' (build test demo check browser bench lint)" >&2
        exit 2
        ;;
    esac
done

[ ${#missing[@]} -eq 0 ] && exit 0
mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
sudo=
if [ "$(id -u)" -ne 0 ]; then
    if have_program sudo && sudo -n true 2>/dev/null; then
        sudo="sudo -n"
    else
        echo "missing: ${missing[*]}; please run" >&2
        echo "  sudo apt-get update && sudo apt-get install -y ${missing[*]}" >&2
        exit 1
    fi
fi
have_program apt-get || {
    echo "missing: ${missing[*]} (Debian's names; there is no apt-get here)" >&2
    exit 1
}
echo "installing ${missing[*]}"
log=$(mktemp)
if ! { $sudo apt-get update && $sudo env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    exit 1
fi
rm -f "$log"
