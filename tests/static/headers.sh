#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every public header compiles alone, as C11 and as C++17 (.hpp: linked and by the table);
# every source names its licence.
set -u
cd "$SOURCE_DIR" || exit 1
status=0
flags="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude"
for header in include/simpler/*.h; do
    printf '#include "%s"\nint used;\n' "${header#include/}" | gcc -std=c11 $flags -x c - || status=1
    printf '#include "%s"\nint used;\n' "${header#include/}" | g++ -std=c++17 $flags -x c++ - || status=1
done
for header in include/simpler/*.hpp; do
    for table in 0 1; do
        printf '#include "%s"\nint used;\n' "${header#include/}" |
            g++ -std=c++17 $flags -DSIMPLER_VIA_TABLE=$table -x c++ - || status=1
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
