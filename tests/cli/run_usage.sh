#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# simpler run: every refusal exits with its status and says what is valid.
set -u
fail() { echo "FAILED: $*"; exit 1; }
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT

# refused STATUS TEXT ARGUMENT...: exit status, a line with TEXT, nothing on standard output
refused() {
    local status=$1 text=$2 out err
    shift 2
    out=$("$SIMPLER" run "$@" 2>"$dir/err")
    [ $? -eq "$status" ] || fail "run $*: exit status is not $status: $(cat "$dir/err")"
    err=$(cat "$dir/err")
    grep -qF -- "$text" <<<"$err" || fail "run $*: '$text' is not in '$err'"
    [ -z "$out" ] || fail "run $*: standard output has '$out'"
}

refused 2 "which scene?"
refused 2 "one scene at a time: 'a' or 'b'?" a b
refused 2 "there is no option --ronds; did you mean --rounds? There are: --rounds, " a --ronds 3
refused 2 "there is no option --ring-hep; did you mean --ring-heap? There are: --ring-heap, " a --ring-hep=3
refused 2 "there is no option -q; there are: " a -q
refused 2 "--rounds needs a value" a --rounds
refused 2 "--json takes no value" a --json=yes
refused 2 "--rounds: '0' is no number from 1 to 1000000" a --rounds 0
refused 2 "--rounds: '1x' is no number" a --rounds=1x
refused 2 "--manual: there is no 'onyl'; did you mean only? There are: only, " a --manual onyl
refused 2 "--exec: there is no 'thread'; did you mean threads? There are: threads, inline" a --exec thread
refused 2 "--hazards: there is no 'rwa'; did you mean raw? There are: raw, all" a --hazards rwa
refused 2 "--log-level: there is no 'wran'; did you mean warn? There are: warn, " a --log-level wran
refused 2 "--deadline: '-1' is no number of seconds above 0" a --deadline -1
refused 2 "--deadline: 'nan' is no number" a --deadline nan
refused 2 "--deadline: '2s' is no number" a --deadline 2s
refused 2 "--aicpu-threads: '0' is no number from 1" a --aicpu-threads 0
refused 2 "--clusters: '-1' is no number from 1" a --clusters -1
refused 2 "--ring-task-window: '1,2' is not one number or four" a --ring-task-window 1,2
refused 2 "--ring-heap: '1M' is not one number or four" a --ring-heap 1M
refused 2 "--ring-dep-pool: '1,2,3,4,5' is not one number or four" a --ring-dep-pool 1,2,3,4,5
refused 2 "--tensormap: '1,2,3,4' is not one number" a --tensormap 1,2,3,4
refused 2 "--out: the directory's name is empty" a --out ""
# Where nothing can be written, before anything runs: also when a diagnostic is on by the case alone.
echo x >"$dir/file" && ln -s nowhere "$dir/dangling" && mkdir "$dir/taken" && echo x >"$dir/taken/outputs"
remedy="; name a directory that can be written into (it is made when it is missing)"
refused 2 "--out: $dir/file is a file, not a directory$remedy" vector_example --out "$dir/file" --dump-args
refused 2 "--out: $dir/file is a file, not a directory$remedy" vector_example --out "$dir/file/x/y" --enable-scope-stats
refused 2 "--out: $dir/file is a file, not a directory$remedy" vector_example --out "$dir/file"
refused 2 "--out: $dir/dangling is a link to nothing$remedy" vector_example --out "$dir/dangling/" --dump-args
(cd "$dir/taken" && refused 2 "--out: outputs is a file, not a directory" vector_example --dump-args 2 --json) || exit 1
(cd "$dir/taken" && "$SIMPLER" run vector_example --quiet >/dev/null) || fail "outputs is a file, but nothing is to be written"
# Only who tries it learns it: root may write everywhere.
[ "$(id -u)" -ne 0 ] || refused 2 "--out: /proc/x cannot be made: No such file or directory$remedy" \
    vector_example --out /proc/x --dump-args
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    mkdir "$dir/closed" && chmod 755 "$dir"
    err=$(setpriv --reuid=65534 --clear-groups "$SIMPLER" run vector_example --out "$dir/closed/x" --dump-args 2>&1)
    [ $? -eq 2 ] || fail "closed: $err"
    grep -qF -- "--out: $dir/closed cannot be written into by this user$remedy" <<<"$err" || fail "closed: $err"
fi
refused 2 "--param: 'steps' is not NAME=NUMBER" a --param steps
refused 2 "--param: '=3' is not NAME=NUMBER" a --param =3
refused 2 "--param: 'n=1.5' is not NAME=NUMBER" a --param n=1.5

# Platforms and devices.
refused 2 "a2a3: no such device on this host: use a2a3sim" a -p a2a3
refused 2 "a5: no such device on this host: use a5sim" a --platform=a5
refused 2 "there is no platform 'a2a3sm'; did you mean a2a3sim? There are: a2a3sim, a5sim, cpu" a -p a2a3sm
refused 2 "there is no platform 'cup'; did you mean cpu? There are: cpu, a5sim, a2a3sim" a -p cup
refused 2 "'-1' is no device id" a -d -1
refused 2 "'4-7' names several devices" a -d 4-7
refused 2 "'0,2,5' names several devices" a --device 0,2,5
refused 2 "'first' is no device id" a -d first
refused 2 "there is no 'tensormap'; did you mean tensormap_and_ringbuffer? There are: " a --runtime tensormap
refused 2 "platform cpu has no device 1; its devices are 0 to 0" a -d 1
refused 2 "platform a2a3sim has no device 16; its devices are 0 to 15" a -p a2a3sim -d 16

# Scenes that are none.
mkdir -p "$dir/build/scenes"
touch "$dir/build/scenes/vektor.so" "$dir/build/scenes/fourier.so"
(cd "$dir" && refused 2 "there is no scene 'vektr'; did you mean vektor? There are: vektor" vektr) || exit 1
(cd "$dir" && refused 1 "the scene does not load" vektor) || exit 1
touch "$dir/here.so" "$dir/first.c"
(cd "$dir" && refused 2 "there is no scene 'here'; did you mean the file ./here.so?" here) || exit 1
(cd "$dir" && refused 2 "first.c is neither a shared object nor a directory: a scene in C is built by gcc -shared" first.c) ||
    exit 1
refused 2 "./missing.so cannot be read" missing.so
refused 2 "no/such/scene cannot be read" no/such/scene
compile() { # compile NAME: C from standard input
    "${CC:-cc}" -shared -fPIC -I"$SOURCE_DIR/include" -x c - -o "$dir/$1.so" || fail "compile $1"
}
echo 'int simpler_scenes;' | compile nothing
refused 1 "nothing.so is no scene: it exports no" "$dir/nothing.so"
printf '#include "simpler/scene.h"\n%s\n' 'SIMPLER_API struct simpler_scene simpler_scene = {.abi = 77};' |
    compile old
abi=$(sed -n 's/^#define SIMPLER_SCENE_ABI //p' "$SOURCE_DIR/include/simpler/scene.h")
refused 1 "old.so was built for scene interface 77, this program has $abi;" "$dir/old.so"
printf '#include "simpler/scene.h"\n%s\n' 'void nowhere(void); void call(void) { nowhere(); }' |
    compile unresolved
refused 1 "unresolved.so: undefined symbol: nowhere" "$dir/unresolved.so"
scene() { # scene NAME MEMBERS
    printf '#include "simpler/scene.h"\n%s\n' "
static void orchestrate(struct simpler_orch *o, const struct simpler_orch_args *a) { (void)o; (void)a; }
static const struct simpler_scene_value seven[] = {{\"steps\", 7}, {NULL, 0}};
static const struct simpler_scene_case cases[] = {
    {.name = \"small\"}, {.name = \"large\", .manual = 1},
    {.name = \"chip\", .platforms = \"a2a3sim, a5sim\", .params = seven},
    {.name = \"narrow\", .manual = 1, .config = {.runtime_env = {.ring_task_window = {5}}}}};
static const struct simpler_scene_param params[] = {
    {\"steps\", \"how many\", 3, 1, 9}, {\"width\", NULL, 4, -4, 4}, {NULL, NULL, 0, 0, 0}};
SIMPLER_API const struct simpler_scene simpler_scene = {.abi = SIMPLER_SCENE_ABI, $2};
const void *used[] = {orchestrate, cases, params};" | compile "$1"
}
scene nameless '.callable.orchestrate = orchestrate, .cases = cases, .case_count = 4'
refused 1 "nameless.so is no valid scene: it has no name" "$dir/nameless.so"
scene silent '.name = "silent", .cases = cases, .case_count = 4'
refused 1 "its callable has no orchestration" "$dir/silent.so"
scene caseless '.name = "caseless", .callable.orchestrate = orchestrate'
refused 1 "it has no cases" "$dir/caseless.so"

# Cases, parameters and sizes of one that is.
scene good '.name = "good", .callable.orchestrate = orchestrate, .cases = cases, .case_count = 4,
    .params = params'
scene plain '.name = "plain", .callable.orchestrate = orchestrate, .cases = cases, .case_count = 1'
scene manual '.name = "manual", .callable.orchestrate = orchestrate, .cases = cases + 1,
    .case_count = 1'
good=$dir/good.so
refused 2 "scene good has no case 'smal'; did you mean small? There are: small, " "$good" --case smal
refused 2 "--case: large is a manual case; add --manual include" "$good" --case large
refused 2 "--case: small is not a manual case" "$good" --case small --manual only
refused 2 "--case: chip runs on a2a3sim, a5sim, not on cpu" "$good" --case chip
refused 2 "scene manual has 1 case, none of which fits platform cpu and --manual exclude" \
    "$dir/manual.so"
refused 2 "scene good has no parameter 'setps'; did you mean steps? There are: steps, width" "$good" --param setps=3
refused 2 "scene plain has no parameters" "$dir/plain.so" --param steps=3
refused 2 "parameter steps is 10; legal is 1 to 9 (how many)" "$good" --param steps=10
refused 2 "parameter width is -5; legal is -4 to 4" "$good" --param width=-5
refused 2 "case small: runtime_env.ring_task_window[0] is 6; legal is a power of two" \
    "$good" --ring-task-window 6
refused 2 "case narrow: runtime_env.ring_task_window[0] is 5" "$good" --manual include
refused 2 "case small: runtime_env.ring_heap[2] is 1000; legal is a multiple of 1024" \
    "$good" --ring-heap 1024,0,1000,1024
refused 2 "runtime_env.ring_dep_pool[0] is 3; legal is a number from 4" "$good" --ring-dep-pool 3
refused 2 "runtime_env.tensormap is 15; legal is a number from 16" "$good" --tensormap 15
refused 2 "aicpu_thread_num is 257; platform cpu takes 1 to 256" "$good" --aicpu-threads 257
refused 2 "aicpu_thread_num is 1; platform a2a3sim takes 2 to 4" "$good" -p a2a3sim --aicpu-threads 1
refused 2 "aicpu_thread_num is 6; platform a5sim takes 2 to 5" "$good" -p a5sim --aicpu-threads 6
refused 2 "cluster_count is 25; platform a2a3sim takes 1 to 24" "$good" -p a2a3sim --clusters 25

"$SIMPLER" help run | grep -q '^usage: simpler run SCENE' || fail "help"
"$SIMPLER" help run | grep 'has neither' && fail "host_build_graph has a hang report"
"$SIMPLER" help run | grep -A1 'SIGUSR1 shows what runs; on' | grep -q '^host_build_graph from when the' ||
    fail "help: SIGUSR1"
# Each option that is listed is described.
options=$("$SIMPLER" run a --zzz 2>&1 | grep -o -- '--[a-z-]*' | grep -v -- '--zzz' | sort -u)
[ "$(wc -l <<<"$options")" -ge 22 ] || fail "22 options are listed"
for option in $options; do
    "$SIMPLER" help run | grep -q -- "$option" || fail "$option is not described"
done
echo ok
