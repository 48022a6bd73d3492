#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# simpler info: what the host offers, for people and for machines (SY-06: the
# environment that is in force).
set -u
fail() { echo "FAILED: $*"; exit 1; }
unset SIMPLER_RING_TASK_WINDOW SIMPLER_RING_HEAP SIMPLER_RING_DEP_POOL SIMPLER_TENSORMAP
unset PTO2_RING_TASK_WINDOW PTO2_RING_HEAP PTO2_RING_DEP_POOL

text=$("$SIMPLER" info) || fail "exit status"
grep -q "^simpler [0-9.]*, [0-9]* usable CPUs$" <<<"$text" || fail "version and CPUs"
grep -q '^cpu .*(default)$' <<<"$text" || fail "cpu is the default platform"
grep -Eq '^a2a3sim +2-4 \([2-4]\) +1-24 \(8\) +0-15 +raw ' <<<"$text" || fail "the chip's limits"
grep -Eq '^a5sim +2-5 \([2-5]\) +1-36 \(8\) +0-15 +raw ' <<<"$text" || fail "the other chip's limits"
grep -Eq '^ring_task_window +16384  a power of two from 4' <<<"$text" || fail "window"
grep -Eq '^ring_heap +268435456 ' <<<"$text" || fail "heap"
grep -Eq '^tensormap +65536 ' <<<"$text" || fail "tensormap"
grep -Eq '^SIMPLER_SCHEDULER_TIMEOUT_MS +20000 +ms ' <<<"$text" || fail "time-outs are listed"
! grep -q 'in force' <<<"$text" || fail "none is set"

# One CPU in the mask is one usable CPU, whatever the quota.
taskset -c "$(awk '/Cpus_allowed_list/ { split($2, a, "[,-]"); print a[1] }' /proc/self/status)" \
    "$SIMPLER" info | grep -q ', 1 usable CPUs$' || fail "affinity"

text=$(SIMPLER_RING_HEAP=4096 PTO2_RING_DEP_POOL=8,8,8,9 SIMPLER_TENSORMAP=3 "$SIMPLER" info) ||
    fail "exit status with variables"
grep -q '^  SIMPLER_RING_HEAP=4096 (in force)$' <<<"$text" || fail "in force"
grep -q '^  PTO2_RING_DEP_POOL=8,8,8,9 (in force)$' <<<"$text" || fail "earlier spelling"
grep -q '^  SIMPLER_TENSORMAP is ignored: 3 is not legal' <<<"$text" || fail "ignored"

dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/build/scenes" && touch "$dir/build/scenes/lonely.so" "$dir/build/scenes/other.txt"
SIMPLER_TENSORMAP='"x' "$SIMPLER" info --json >"$dir/info.json" || fail "--json"
(cd "$dir" && "$SIMPLER" info) | grep -q '^  lonely  *build/scenes/lonely.so$' || fail "scenes"
/usr/bin/python3 - "$dir/info.json" <<'PY' || fail "the JSON document"
import json, sys
info = json.load(open(sys.argv[1]))
assert set(info) == {"version", "usable_cpus", "platforms", "runtimes", "sizes", "variables", "environment", "scenes",
                     "scenes_omitted"}
assert info["scenes_omitted"] == 0
by_name = {p["name"]: p for p in info["platforms"]}
assert by_name["a2a3sim"]["counter_hz"] == 50000000
assert by_name["a5sim"]["counter_hz"] == 1000000000
assert [p["memory"] for p in info["platforms"]] == ["shared", "shared", "copied"]
assert by_name["a2a3sim"]["missing_dtypes"] == ["fp8e4m3fn", "fp8e8m0", "fp4e2m1"]
assert by_name["a5sim"]["missing_dtypes"] == [] and by_name["cpu"]["missing_dtypes"] == []
assert by_name["cpu"]["min_threads"] == 1 and by_name["cpu"]["max_threads"] == 256
assert by_name["cpu"]["default_hazards"] == "all"
assert [s["default"] for s in info["sizes"]] == [16384, 268435456, 16384, 65536, 33554432]
variable, = info["environment"]
assert variable["value"] == '"x' and not variable["in_force"] and "one number" in variable["problem"]
PY

err=$("$SIMPLER" info --jsn 2>&1 >/dev/null); [ $? -eq 2 ] || fail "an unknown option exits 2"
grep -q "there is no option --jsn; did you mean --json? There are: --json" <<<"$err" || fail "the valid option is named"
# A list that is not whole says so.
for i in $(seq 200); do : >"$dir/build/scenes/many$i.so"; done
: >"$dir/build/scenes/$(printf 'x%.0s' {1..100}).so"
(cd "$dir" && "$SIMPLER" info --json) >"$dir/many.json" || fail "many scenes"
more=$(/usr/bin/python3 - "$dir/many.json" <<'PY'
import json, sys
info = json.load(open(sys.argv[1]))
listed = sum(1 for s in info["scenes"] if s["path"].startswith("build/scenes/"))
assert listed + info["scenes_omitted"] == 202, (listed, info["scenes_omitted"])
print(info["scenes_omitted"])
PY
) || fail "listed and omitted are not all"
(cd "$dir" && "$SIMPLER" info) | grep -q "^  and $more more" || fail "the omitted are not told"
"$SIMPLER" help info | grep -q '^usage: simpler info' || fail "help"
"$SIMPLER" info >/dev/full 2>/dev/null; [ $? -eq 1 ] || fail "a full disk exits 1"
echo ok
