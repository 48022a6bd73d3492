#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `make install` leaves, moved elsewhere: a C scene is built with its pkg-config file and run by
# its program, a directory of C++ sources is built with its headers.  Nothing of the source tree is used.
set -u
fail() { echo "FAILED: $*"; cat log 2>/dev/null; exit 1; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export SIMPLER_CACHE_DIR=$work/cache
unset CXX CXXFLAGS CPATH CPLUS_INCLUDE_PATH LD_LIBRARY_PATH

# DESTDIR and PREFIX of the Makefile reach CMake, and a relative PREFIX is one of here.
asked=$(make -s -n -C "$SOURCE_DIR" install DESTDIR=/stage PREFIX=/opt/simpler 2>&1)
grep -qE 'DESTDIR="/stage" cmake --install build --prefix "/opt/simpler"' <<<"$asked" || fail "make: $asked"
for case in '/with space/and  two=/with space/and  two' "here=$SOURCE_DIR/here" "a b=$SOURCE_DIR/a b"; do
    asked=$(make -s -n -C "$SOURCE_DIR" install PREFIX="${case%%=*}" 2>&1)
    grep -qF -- "--prefix \"${case#*=}\"" <<<"$asked" || fail "make, '${case%%=*}': $asked"
done

DESTDIR=$work/stage cmake --install "$BUILD_DIR" --prefix /opt/simpler >log 2>&1 || fail "cmake --install"
[ "$(ls stage)" = opt ] || fail "more than the prefix: $(ls stage)"

# The pkg-config file names the prefix as it was asked for, also one with blanks, plainly.
pc() { # pc PREFIX-OF-THE-TREE ARGUMENT...
    PKG_CONFIG_PATH=$(dirname "$(find "$1" -name simpler.pc)") pkg-config "${@:2}" simpler
}
lib=$(cd stage/opt/simpler && dirname "$(find . -name libsimpler.so)") && lib=${lib#./}
[ "$(pc stage/opt/simpler --cflags --libs | xargs)" = "-I/opt/simpler/include -L/opt/simpler/$lib -lsimpler" ] ||
    fail "simpler.pc: $(pc stage/opt/simpler --cflags --libs)"
[ "$(pc stage/opt/simpler --variable=includedir)" = /opt/simpler/include ] || fail "includedir"
blank="$work/with a blank"
cmake --install "$BUILD_DIR" --prefix "$blank" >log 2>&1 || fail "cmake --install into '$blank'"
eval "words=($(pc "$blank" --cflags --libs))"
[ "${words[*]}" = "-I$blank/include -L$blank/$lib -lsimpler" ] || fail "simpler.pc: ${words[*]}"
rm -rf "$blank"

# What users read, with links that hold.
doc=stage/opt/simpler/share/doc/simpler
for file in README.md CHANGELOG.md LICENSE; do
    cmp -s "$SOURCE_DIR/$file" "$doc/$file" || fail "$file is not installed"
done
while IFS=: read -r file link; do
    [[ $link == http* || $link == include/simpler ]] || [ -e "$(dirname "$file")/${link%%#*}" ] ||
        fail "$file: $link is not there"
done < <(grep -roE '\]\([^)]+\)' --include='*.md' "$doc" | sed -E 's/:\]\((.*)\)$/:\1/')
[ "$(ls "$doc"/docs/*.md | wc -l)" -ge 6 ] || fail "docs: $(ls "$doc" "$doc/docs")"

mv stage/opt/simpler tree && rm -rf stage
root=$work/tree
for header in "$SOURCE_DIR"/include/simpler/*; do
    cmp -s "$header" "$root/include/simpler/${header##*/}" || fail "$header is not installed"
done
[ "$(find tree -name '*.so*' -o -name simpler.pc -o -path '*/bin/*' | wc -l)" -eq 5 ] ||
    fail "other files: $(find tree -not -name '*.h*')"
[ -e tree/include/tensor.h ] && fail "a header of the SIMPLER documents lies among everybody's"

# The program runs on its own library.
program=$root/bin/simpler
"$program" info >log 2>&1 || fail "simpler info"
ldd "$program" | grep -q "libsimpler.so.0 => $root/" || fail "the library: $(ldd "$program")"

# The first scene of the README, by pkg-config.
export PKG_CONFIG_PATH=$(dirname "$(find "$root" -name simpler.pc)")
pkg-config() { command pkg-config --define-prefix "$@"; } # the tree was moved
[ "$(pkg-config --cflags simpler | xargs)" = "-I$root/include" ] || fail "moved: $(pkg-config --cflags simpler)"
[ "$(pkg-config --modversion simpler)" = "$("$program" version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1)" ] ||
    fail "the version: $(pkg-config --modversion simpler)"
awk '/^## /{in_section = ($0 == "## A first scene")} in_section && $0 == "```c" {copy = 1; next}
    /^```$/ {copy = 0} copy' "$SOURCE_DIR/README.md" >first.c
cc -shared -fPIC -o first.so first.c $(pkg-config --cflags --libs simpler) >log 2>&1 || fail "first.c"
cc -M first.c $(pkg-config --cflags simpler) | grep -F "$SOURCE_DIR" && fail "a header of the source tree"
"$program" run ./first.so >log 2>&1 || fail "first.so"
grep -q 'the sum is 999000' log || fail "first.so"

# A directory of C++ sources.
mkdir scene
cat >scene/orch.cpp <<'END'
#include "pto_orchestration_api.h"
extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &run)
{
    CoreTaskArgs args;
    args.add_inout(run.tensor(0));
    rt_submit_aiv_task(0, args);
}
END
cat >scene/kernel.cpp <<'END'
#include "tensor.h"
extern "C" void kernel_entry(int64_t *args) { *reinterpret_cast<ChipTensor *>(args[0])->data<int32_t>() += 41; }
END
printf 'def golden(args):\n    return {"x": args["x"] + 41}\n' >scene/golden.py
cat >scene/scene.json <<'END'
{"name": "small", "source": "orch.cpp", "golden": "golden.py:golden",
 "kernels": [{"func_id": 0, "source": "kernel.cpp"}], "cases": [{"name": "first", "args": [
   {"name": "x", "dtype": "int32", "shape": [1], "dir": "inout", "init": {"values": [1]}}]}]}
END
"$program" build scene >log 2>&1 || fail "simpler build"
grep -qx "$root/include/simpler/compat/tensor.h" cache/*.deps || fail "compat: $(cat cache/*.deps)"
grep -F "$SOURCE_DIR" cache/*.deps && fail "a header of the source tree"
golden=
/usr/bin/python3 -c 'import numpy' 2>/dev/null || golden=--skip-golden
"$program" run scene $golden >log 2>&1 || fail "simpler run"
grep -q '^small first: passed' log || fail "simpler run"

# Through a link, as from /usr/bin.
ln -s "$program" simpler
./simpler build scene >log 2>&1 && grep -q ' 0 compiled' log || fail "by a link"
echo ok
