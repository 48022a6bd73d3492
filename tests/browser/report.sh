#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The scope report in headless Chromium: hover, modal, keyboard, themes, print,
# strict policy, no JavaScript, hostile names, narrow screens, numbers equal to
# --json.  SS-29, SS-30, SS-31, SS-33, SS-35.
# ctest: TIMEOUT 300
set -u
for program in node npm chromium; do
    command -v $program >/dev/null 2>&1 || { echo "SKIP: there is no $program"; exit 77; }
done
work=$BUILD_DIR/tests/browser-report
mkdir -p "$work" || exit 1
cp "$SOURCE_DIR"/tests/browser/{package.json,package-lock.json,.npmrc} "$work/" || exit 1
(cd "$work" && npm ci --no-audit --no-fund >npm.log 2>&1) || {
    cat "$work/npm.log"
    if grep -qE 'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT' "$work/npm.log"; then
        echo "SKIP: the npm registry cannot be reached"
        exit 77
    fi
    exit 1
}
cp "$SOURCE_DIR"/tests/browser/*.mjs "$work/" || exit 1
# Pages and the browser's profile: a short path, which the browser's sockets need.
pages=$(mktemp -d) || exit 1
trap 'rm -rf "$pages"' EXIT
export TMPDIR=$pages/tmp
mkdir "$TMPDIR"
/usr/bin/python3 "$SOURCE_DIR/tests/support/scope_pages.py" "$pages/pages" || exit 1
CHROMIUM=$(command -v chromium) node "$work/report.mjs" "$pages/pages"
