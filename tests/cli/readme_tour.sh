#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The README's section "A first scene": its C text is built and run by its own commands.
# Every command of the section "Five minutes" ends with status 0.  The scene of docs/porting.md runs.
set -u
fail() { echo "FAILED: $*"; exit 1; }

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
ln -s "$SOURCE_DIR/include" "$work/include"
ln -s "$SOURCE_DIR/tests" "$work/tests"
ln -s "$(dirname "$SIMPLER")" "$work/build"
mkdir "$work/ported"
cd "$work" || exit 1

# block LANGUAGE: the first fenced block of that language in the section.
block() {
    awk -v fence="\`\`\`$1" '/^## /{in_section = ($0 == "## A first scene")}
        in_section && $0 == fence && !seen {copy = seen = 1; next}
        /^```$/ {copy = 0}
        copy' "$SOURCE_DIR/README.md"
}
block c >first.c
block sh >commands
[ "$(grep -c . first.c)" -gt 30 ] || fail "the section has no C text"
[ "$(grep -c '^build/simpler run' commands)" -ge 2 ] || fail "the section runs nothing"

for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    $compiler -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only -Iinclude first.c ||
        fail "first.c has warnings of $compiler"
done
while IFS= read -r command; do
    output=$(eval "$command" 2>&1) || fail "$command: $output"
    case $command in
    build/simpler*) grep -q 'the sum is 999000' <<<"$output" || fail "$command: $output" ;;
    esac
done <commands

# The same scene with a wrong kernel fails: the tour does judge.
sed -i 's/to\[i\] = 2 \* from/to[i] = 3 * from/' first.c
eval "$(head -n 1 commands)" || fail "the changed scene does not build"
build/simpler run ./first.so >wrong.log 2>&1
[ $? -eq 1 ] || fail "a wrong kernel does not give exit status 1: $(cat wrong.log)"

awk '/^## /{in_section = ($0 == "## Five minutes")} in_section && /^build\/simpler/' \
    "$SOURCE_DIR/README.md" >tour
[ "$(grep -c . tour)" -ge 7 ] || fail "the five minutes have no commands"
while IFS= read -r command; do
    scene=$(sed -n 's/^build.simpler run \([a-z_]*\) .*/\1/p' <<<"$command")
    [ -z "$scene" ] || [ -e "build/scenes/$scene.so" ] || continue # its packages are not here
    [[ $command != *tests/corpus* ]] || /usr/bin/python3 -c 'import numpy' 2>/dev/null || continue
    output=$(eval "$command" 2>&1) || fail "$command: $output"
done <tour
# The C++ scene of docs/porting.md, as it is printed there.
awk '/^```(json|cpp|python)$/ {copy = 1; name = $0 == "```json" ? "scene.json" : ""; next}
    /^```$/ {copy = 0}
    copy && name == "" {name = $2; next}
    copy {print >("ported/" name)}' "$SOURCE_DIR/docs/porting.md"
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    output=$(build/simpler run ported 2>&1) || fail "the scene of docs/porting.md: $output"
    grep -q 'golden right: 32 elements' <<<"$output" || fail "the scene of docs/porting.md: $output"
fi

page=$(sed -n 's/.*and a page, `\(.*\)`\.$/\1/p' "$SOURCE_DIR/README.md")
[ ! -e build/scenes/fashion_mnist.so ] || [ -s outputs/fashion_mnist_small_*/scope_stats/"$page" ] ||
    fail "the page '$page' that the README promises is not there"
echo ok
