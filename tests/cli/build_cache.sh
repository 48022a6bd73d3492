#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The cache of simpler build is bounded: beyond 256 MiB what was not used for longest goes, never
# what was used within the hour, never a file of somebody else.  Two builds at a time keep theirs.
set -u
fail() { echo "FAILED: $*"; ls -la cache; exit 1; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export SIMPLER_CACHE_DIR=$work/cache
unset CXX CXXFLAGS

scene() { # scene NAME: a directory with one source
    mkdir "$1"
    cat >"$1/orch.cpp" <<'END'
#include "pto_orchestration_api.h"
extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &) {}
END
    echo "// $1" >>"$1/orch.cpp"
    echo '{"name": "'"$1"'", "source": "orch.cpp", "kernels": [], "cases": [{"name": "first", "args": []}]}' >"$1/scene.json"
}
built() { # built DIRECTORY COMPILED
    "$SIMPLER" build "$1" >out 2>err || fail "simpler build $1: $(cat err)"
    grep -q "^1 source: $2 compiled" out || fail "$1: $(cat out), not $2 compiled"
}
# entry DIGIT SUFFIX MIB AGE: as large as it says, without a block of the disk
entry() {
    local name
    name=cache/$(printf "$1%.0s" {1..32})$2
    truncate -s "$3M" "$name" && touch -d "$4 ago" "$name"
}
is_there() { # is_there YES|NO DIGIT SUFFIX
    local name
    name=cache/$(printf "$2%.0s" {1..32})$3
    case $1 in
    YES) [ -e "$name" ] || fail "$name is gone" ;;
    NO) [ ! -e "$name" ] || fail "$name is there" ;;
    esac
}

for name in one two three four; do scene $name; done
built one 1
[ "$(ls cache | wc -l)" -eq 2 ] || fail "one object and its list"

# Below the bound nothing goes, however old.
entry a .so 100 '400 days'
entry b .deps 100 '3 hours'
built two 1
is_there YES a .so
is_there YES b .deps

# Above it: the oldest, as many as needed.  What is in use or not the cache's stays.
entry c .so 80 '2 hours'
entry d .so 300 '10 minutes'
truncate -s 300M cache/cafe.so cache/.hidden && touch -d '900 days ago' cache/cafe.so cache/.hidden
touch -d '3 days ago' cache/.123.0 cache/.123.0.d
touch cache/.124.0.log
built one 0 # nothing is compiled: nothing is looked at
is_there YES a .so
built three 1
is_there NO a .so
is_there NO b .deps
is_there NO c .so
is_there YES d .so
[ -e cache/cafe.so ] && [ -e cache/.hidden ] || fail "a file of somebody else is gone"
[ -e cache/.123.0 ] || [ -e cache/.123.0.d ] && fail "what an old compilation has left is there"
[ -e cache/.124.0.log ] || fail "a compilation that may run has lost its log"
built one 0
built two 0

# To use is to be young: of three that are old, the one that is found stays.
rm "cache/$(printf 'd%.0s' {1..32}).so"
touch -d '30 hours ago' cache/[0-9a-f]*.so cache/[0-9a-f]*.deps
built two 0
entry e .so 192 '20 hours'
entry f .so 70 '10 hours'
built four 1
is_there NO e .so
is_there YES f .so
built two 0
built one 1

# While somebody looks nothing is removed.
entry a .so 300 '5 hours'
sed -i '$s/.*/\/\/ again/' one/orch.cpp
flock -s cache/.lock "$SIMPLER" build one >out 2>err || fail "a build beside another"
is_there YES a .so
sed -i '$s/.*/\/\/ and again/' one/orch.cpp
built one 1
is_there NO a .so

# While somebody removes nobody looks.
flock -x cache/.lock timeout 1 "$SIMPLER" build one >out 2>err
[ $? -eq 124 ] || fail "a look while entries are removed"

# Two that build and prune at once: an object that was found, however old, is there to be loaded.
for process in 1 2; do
    name=$([ $process = 1 ] && echo two || echo three)
    SIMPLER_CACHE_DIR=$work/names.$process "$SIMPLER" build $name >/dev/null 2>&1
    own=$(cd names.$process && ls -- *.so *.deps)
    for i in 1 2 3 4 5 6; do
        large=cache/$(printf '%032x' "$process$i").so
        truncate -s 260M "$large" && touch -d '2 hours ago' "$large"
        for file in $own; do touch -c -d '3 hours ago' "cache/$file"; done
        "$SIMPLER" run $name >out.$process 2>&1 || cp out.$process failed.$process
        CXXFLAGS=-DROUND=$process$i "$SIMPLER" build one >out.$process 2>&1 || cp out.$process failed.$process
    done &
done
wait
cat failed.* 2>/dev/null && fail "two at once"
# A directory that cannot be written is used as it is.
built two 0
chmod a-w cache
"$SIMPLER" build two >out 2>err && grep -q ' 0 compiled' out || fail "a cache that cannot be written"
chmod u+w cache

# Who may only read the cache (root tries another user) has the lock as well.  He cannot note that
# an entry is in use, and so keeps the lock until he has loaded what he found.
as_reader=
if [ "$(id -u)" -eq 0 ]; then
    as_reader="setpriv --reuid=65534 --regid=65534 --clear-groups"
    chmod 755 "$work"
fi
mkfifo -m 666 started gate
cat >cxx <<END
#!/bin/sh
[ ! -e $work/hold ] || { echo >$work/started; read -r line <$work/gate; exit 1; }
exec c++ "\$@"
END
chmod +x cxx
mkdir five
cat >five/orch.cpp <<'END'
#include <cstdio>
#include <cstring>
#include <unistd.h>
#include "pto_orchestration_api.h"
static void look(const char *when)
{
    char name[40], path[4096];
    for (int fd = 3; fd < 100; fd++) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(name, path, sizeof path - 1);
        path[n > 0 ? n : 0] = 0;
        if (strstr(path, "/cache/.lock"))
            printf("locked %s\n", when);
    }
}
static const struct loading {
    loading() { look("as it loads"); }
} loading;
extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &) { look("as it runs"); }
END
echo 'extern "C" void kernel_entry(long *) {}' >five/kernel.cpp
cat >five/scene.json <<'END'
{"name": "five", "source": "orch.cpp", "cases": [{"name": "first", "args": []}],
 "kernels": [{"func_id": 0, "name": "k", "source": "kernel.cpp", "core_type": "aiv"}]}
END
CXX=$work/cxx "$SIMPLER" build five >out 2>err || fail "five: $(cat err)"
chmod a-w cache cache/.lock
if ! $as_reader test -x "$SIMPLER"; then
    echo "not tried: another user cannot run $SIMPLER"
elif [ -n "$as_reader" ]; then
    CXX=$work/cxx $as_reader "$SIMPLER" run five >out 2>err || fail "a reader: $(cat err)"
    [ "$(grep -c '^locked as it loads' out)" -eq 1 ] || fail "what a reader loads may go"
    grep -q '^locked as it runs' out && fail "a reader that has loaded all keeps the lock"
    : >hold
    echo '// again' >>five/kernel.cpp
    chmod a+w cache # a directory of many users, entries of one
    CXX=$work/cxx $as_reader "$SIMPLER" run five >out.reader 2>&1 &
    exec 8<>started
    until read -t 1 -r line <&8; do # the orchestration was found, the kernel is being compiled
        kill -0 $! || fail "a reader has ended before it compiled: $(cat out.reader)"
    done
    exec 8<&-
    entry a .so 300 '5 hours'
    sed -i '$s/.*/\/\/ a third time/' one/orch.cpp
    built one 1
    is_there YES a .so
    echo >gate
    wait $!
    rm hold
fi
chmod a-w cache
if [ -r /proc/locks ] && $as_reader test -x "$SIMPLER"; then
    exec 9<cache/.lock
    flock -x 9
    CXX=$work/cxx $as_reader "$SIMPLER" build five >out 2>err 9<&- &
    waiter="-> FLOCK .*:$(stat -c %i cache/.lock) " # as the system lists one
    until grep -q -- "$waiter" /proc/locks; do
        kill -0 $! 2>/dev/null || fail "a reader looks while entries are removed: $(cat out err)"
        sleep 0.02 # nobody tells when
    done
    exec 9<&-
    wait $!
fi
chmod u+w cache cache/.lock
sed -i '$s/.*/\/\/ a fourth time/' one/orch.cpp
built one 1
is_there NO a .so
# A cache that is a file, or below one: nothing is compiled.
echo x >plain && scene nowhere
for place in plain plain/below; do
    SIMPLER_CACHE_DIR=$place "$SIMPLER" build nowhere >out 2>err
    [ $? -eq 1 ] || fail "the cache is $place: $(cat out err)"
    grep -qF "the cache $place cannot be had: plain is a file, not a directory; set SIMPLER_CACHE_DIR to a" err ||
        fail "$place: $(cat err)"
done
echo ok
