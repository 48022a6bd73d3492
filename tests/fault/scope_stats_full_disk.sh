#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A disk that is full before the samples are written: the run's result is right,
# the file is whole as far as it goes, what is missing is counted, exit status 3.
# SS-04 SY-08
set -u
for how in -m -rm ""; do
    [ -n "$how" ] && unshare $how mount -t tmpfs none /mnt 2>/dev/null && break
done
if [ -z "$how" ]; then
    . "$SOURCE_DIR/tests/support/faults.sh"
    fault_cannot "no tmpfs can be mounted" full-disk-samples
    echo "SKIP: no tmpfs can be mounted here"
    exit 77
fi
export SIMPLER
exec unshare $how bash -c '
. "$SOURCE_DIR/tests/support/faults.sh"
work=$(mktemp -d) && mount -t tmpfs -o size=64k tmpfs "$work" || exit 77
trap "umount \"$work\"; rmdir \"$work\"" EXIT
"$SIMPLER" run fashion_mnist --case small \
    --enable-scope-stats --out "$work" --json >/dev/shm/full_$$ 2>/dev/shm/err_$$
status=$?
/usr/bin/python3 - /dev/shm/full_$$ $status <<PY
import json, sys
d = json.load(open(sys.argv[1]))
s = d["cases"][0]["scope_stats"]
assert sys.argv[2] == "3", (sys.argv[2], s)
assert d["passed"] and not s["complete"] and s["write_failed"] > 0, s
lines = open(s["file"]).read().split("\n")
assert lines.pop() == ""
rows = [json.loads(l) for l in lines]
meta = rows[0]
assert list(meta) == ["fatal", "dropped", "total", "task_window_max", "heap_max", "dep_pool_max", "tensormap_max"]
assert len(rows) - 1 == s["records"] > 0, (len(rows), s)
assert meta["dropped"] == s["write_failed"] and meta["total"] == s["records"] + meta["dropped"], (meta, s)
print(s["records"], "samples fit,", meta["dropped"], "did not")
PY
rc=$?
grep -c "No space left" /dev/shm/err_$$ | grep -qx "[1-9]" || { echo "nothing was said"; rc=1; }
[ $rc = 0 ] && fault_saw full-disk-samples exit=$status loss=counted
rm -f /dev/shm/full_$$ /dev/shm/err_$$
exit $rc'
