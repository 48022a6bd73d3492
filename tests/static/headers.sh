#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every public header compiles alone and without a warning, as C11 and as C++17 (.hpp: linked and by
# the table), with gcc and clang; so does every SIMPLER_*_INIT.  Before C++17 simpler.hpp says so, and
# nothing else.  Every source names its licence.
set -u
cd "$SOURCE_DIR" || exit 1
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
status=0
flags="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only -Iinclude"

jobs() { # one a line: a compiler and its arguments
    local header source
    for header in include/simpler/*.h "$work/inits.h"; do
        source=$work/$(basename "$header")
        printf '#include "%s"\nextern int used;\n' "${header#include/}" >"$source.c"
        cp "$source.c" "$source.cpp"
        echo "gcc -std=c11 $flags $source.c"
        echo "g++ -std=c++17 $flags $source.cpp"
        echo "clang -std=c11 $flags $source.c"
        echo "clang++ -std=c++17 $flags $source.cpp"
    done
    for header in include/simpler/*.hpp; do
        source=$work/$(basename "$header").cpp
        printf '#include "%s"\nint used;\n' "${header#include/}" >"$source"
        for table in 0 1; do
            echo "g++ -std=c++17 $flags -DSIMPLER_VIA_TABLE=$table $source"
        done
        echo "clang++ -std=c++17 $flags $source"
    done
    echo "g++ -std=c++20 $flags $work/simpler.hpp.cpp"
}
# Every initialiser, by the name of its struct.
{
    echo '#include "simpler/simpler.h"'
    grep -rhoE 'define SIMPLER_[A-Z_]+_INIT\b' include/simpler | sort -u | while read -r _ macro; do
        name=${macro,,}
        echo "extern struct ${name%_init} ${name}_of; struct ${name%_init} ${name}_of = $macro;"
    done
} >"$work/inits.h"
[ "$(grep -c ' = SIMPLER_' "$work/inits.h")" -ge 2 ] || { echo "no initialisers"; status=1; }

jobs >"$work/jobs"
command -v clang >/dev/null && command -v clang++ >/dev/null || sed -i '/^clang/d' "$work/jobs"
[ "$(wc -l <"$work/jobs")" -ge 60 ] || { echo "few headers: $(cat "$work/jobs")"; status=1; }
xargs -P 2 -d '\n' -n 1 sh -c <"$work/jobs" '$0 || { echo "FAILED: $0"; exit 1; }' || status=1

for old in 11 14; do
    for compiler in g++ clang++; do
        command -v $compiler >/dev/null || continue
        $compiler -std=c++$old -fsyntax-only -Iinclude "$work/simpler.hpp.cpp" 2>"$work/err" &&
            { echo "$compiler takes C++$old"; status=1; }
        [ "$(grep -c ' error: ' "$work/err")" -eq 1 ] &&
            grep -q ' error: .*simpler/simpler.hpp needs C++17: compile with -std=c++17' "$work/err" ||
            { cat "$work/err"; status=1; }
    done
done

while read -r file; do
    head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || {
        echo "$file: no SPDX line"
        status=1
    }
done < <(find include src tools tests examples bench scripts -name '*.[ch]' -o -name '*.[ch]pp' \
    -o -name '*.sh' -o -name '*.py')
[ $status = 0 ] && echo ok
exit $status
