#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The program's own command line: help, version, unknown commands.
set -u
fail() { echo "FAILED: $*"; exit 1; }

"$SIMPLER" version | grep -qx 'simpler [0-9.]*' || fail "version"
"$SIMPLER" --version | grep -q simpler || fail "--version"
"$SIMPLER" help | grep -q 'usage: simpler COMMAND' || fail "help"
"$SIMPLER" help help | grep -q 'usage: simpler help' || fail "help help"
"$SIMPLER" version --help | grep -q 'usage: simpler version' || fail "version --help"
"$SIMPLER" >/dev/null; [ $? -eq 2 ] || fail "no command exits 2"
err=$("$SIMPLER" nonsense 2>&1); [ $? -eq 2 ] || fail "an unknown command exits 2"
grep -q "no command 'nonsense'" <<<"$err" || fail "the unknown command is named"
grep -q version <<<"$err" || fail "the valid commands are listed"
"$SIMPLER" help nonsense 2>/dev/null; [ $? -eq 2 ] || fail "help of an unknown command exits 2"
"$SIMPLER" version extra 2>/dev/null; [ $? -eq 2 ] || fail "an extra argument exits 2"
# What did not get out is no success.
for arguments in help "help run" version "run --help" info "info --json"; do
    for sink in '>/dev/full' '>&-'; do
        eval "\"\$SIMPLER\" $arguments $sink" 2>err.$$; got=$?
        err=$(cat err.$$); rm -f err.$$
        [ $got -eq 1 ] || fail "$arguments $sink: exit status $got"
        grep -q 'could not be written' <<<"$err" || fail "$arguments $sink says: $err"
    done
done
echo ok
