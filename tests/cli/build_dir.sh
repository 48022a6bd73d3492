#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# simpler build and simpler run on a directory of sources: the cache, the compiler's
# errors, mistakes in scene.json, goldens, what the objects need.
# ctest: TIMEOUT 300
set -u
. "$SOURCE_DIR/tests/support/faults.sh"
fail() { echo "FAILED: $*"; head -n 40 out err; exit 1; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export SIMPLER_CACHE_DIR=$work/cache
unset CXX CXXFLAGS
touch out err

# does STATUS ARGUMENT...: simpler's exit status, $got; out and err are files
does() {
    local status=$1
    shift
    "$SIMPLER" "$@" >out 2>err
    got=$?
    [ $got -eq "$status" ] || fail "simpler $*: exit status $got, not $status"
}
says() { grep -qE -- "$1" out || fail "standard output does not say '$1'"; }
complains() { grep -qF -- "$1" err || fail "standard error does not say '$1'"; }
built() { # built COMPILED CACHED
    does 0 build scene
    says "^$(($1 + $2)) sources*: $1 compiled, $2 unchanged\$"
}

mkdir scene
cat >scene/orch.cpp <<'END'
#include "pto_orchestration_api.h"
extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &) { return {3}; }
extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &run)
{
    CoreTaskArgs args;
    args.add_input(run.tensor(0));
    args.add_output(run.tensor(1));
    args.add_scalar(from_u64<float>(run.scalar(0)));
    LOG_WARN("said by the orchestration, %u", run.tensor(0).shapes[0]);
    rt_submit_aiv_task(5, args);
}
END
cat >scene/scale.h <<'END'
#define SCALED(x, by) ((x) * (by))
END
cat >scene/kernel.cpp <<'END'
#include "tensor.h"
#include "scale.h"
extern "C" void kernel_entry(int64_t *args)
{
    const auto *in = reinterpret_cast<ChipTensor *>(args[0]);
    const ChipTensor out = reinterpret_cast<ChipTensor *>(args[1])->view({4, 8}, {0, 0});
    for (uint64_t i = 0; i < out.numel(); i++)
        out.data<float>()[i] = SCALED(in->data<float>()[i], from_u64<float>(args[2]));
}
END
cat >scene/golden.py <<'END'
def golden(args):
    return {"y": args["x"] * args["factor"]}
END
cat >manifest.json <<'END'
{"name": "scaled", "source": "orch.cpp", "golden": "golden.py:golden",
 "kernels": [{"func_id": 5, "source": "kernel.cpp", "core_type": "aiv", "signature": ["in", "out"]}],
 "cases": [{"name": "first", "args": [
   {"name": "x", "dtype": "float32", "shape": [4, 8], "dir": "in", "init": {"arange": [0, 0.5]}},
   {"name": "y", "dtype": "float32", "shape": [4, 8], "dir": "out"},
   {"name": "factor", "scalar": "float32", "value": 3}]}]}
END
cp manifest.json scene/scene.json

# The cache knows contents, not times.
built 2 0
built 0 2
touch scene/*
built 0 2
sed -i 's/(x) \* (by)/(x) * (by) * 2/' scene/scale.h
built 1 1
sed -i 's/ \* 2//' scene/scale.h
built 0 2
CXXFLAGS=-DOTHER built 2 0
printf '#include_next <tensor.h>\n#undef SCALED\n' >scene/tensor.h # found before the other tensor.h now
built 2 0
rm scene/tensor.h
built 0 2
mkdir deeper && mv scene/scale.h deeper/scale.h
sed -i 's,"kernels":,"include_dirs": ["../deeper"]\, "kernels":,' scene/scene.json
built 2 0 # the command is another
mv deeper/scale.h scene/scale.h && cp manifest.json scene/scene.json

# The orchestration needs no symbol of the runtime, a kernel neither.
for object in cache/*.so; do
    nm -D --undefined-only "$object" | grep -i simpler && fail "$object needs the runtime"
    readelf -d "$object" | grep NEEDED | grep -i simpler && fail "$object needs the library"
done

# A run.
does 0 run scene
says '^scaled first: passed on cpu device 0, .* hazards raw$'
says '^  golden right: 32 elements of 1 tensor$'
complains 'aicpu_orchestration_entry: said by the orchestration, 4'
does 0 run "$work/scene/" -p a2a3sim --hazards all --json
says '"hazards": "all"'
sed 's/"value": 3/"value": 3, "value2": 1/' manifest.json >scene/scene.json
does 1 run scene
complains "scene/scene.json: cases[0].args[2]: there is no key 'value2' here; did you mean value? There are: "

# Results that are wrong.
cat >scene/golden.py <<'END'
def golden(args):
    y = args["x"] * args["factor"]
    y[2, 3] += 1
    return {"y": y}
END
cp manifest.json scene/scene.json
does 1 run scene
says '^  golden wrong: y\[2, 3\] is 28.5, right is 29.5; 1 of 32 elements wrong$'
does 0 run scene --skip-golden
sed 's/"golden": "golden.py:golden"/"golden": "golden.py:golden", "tolerance": {"rtol": 0.1}/' manifest.json >scene/scene.json
does 0 run scene
printf 'def golden(args):\n    raise ValueError("no table")\n' >scene/golden.py
does 1 run scene
complains 'ValueError: no table'
printf 'def golden(args):\n    return {}\n' >scene/golden.py
does 1 run scene
complains 'golden returns nothing for y'
printf 'def golden(args):\n    return {"y": args["x"].astype("f8")}\n' >scene/golden.py
does 1 run scene
says "the golden function's 'y' is of no use: it has another dtype"
/usr/bin/python3 -c 'import numpy as np
x = np.arange(32, dtype=np.float32).reshape(4, 8) / 2
np.save("scene/x.npy", x); np.save("scene/y.npy", 3 * x); np.save("scene/short.npy", x[1:])'
sed 's/"golden.py:golden"/{"y": "y.npy"}/; s/{"arange": \[0, 0.5\]}/{"npy": "x.npy"}/' manifest.json >scene/scene.json
PYTHON=/nonexistent does 0 run scene
sed -i 's/"x.npy"/"short.npy"/' scene/scene.json
does 1 run scene
says 'prepare failed: scene/short.npy does not fit 32 elements of float32: it has another'
cp manifest.json scene/scene.json
printf 'def golden(args):\n    return {"y": args["x"] * 3}\n' >scene/golden.py

# An input that a kernel has changed is seen even when the output is right.
cp scene/kernel.cpp kernel.good
sed -i 's,^}$,    in->data<float>()[31] = 7;\n},' scene/kernel.cpp
does 1 run scene
says '^  golden wrong: x\[3, 7\] is 7, it is an input and was 15.5; 1 of 32'
cp kernel.good scene/kernel.cpp

# Runs that must fail.
sed 's/"name": "first"/"name": "first", "expect_error": 5/; s/"value": 3}/"value": 3}, {"name": "more", "scalar": "bool", "value": true}/' manifest.json >scene/scene.json
does 1 run scene
says 'golden wrong: the run must end with INVALID_ARGS'
/usr/bin/python3 - <<'END'
import json
m = json.load(open("manifest.json"))
m["cases"][0]["expect_error"] = 5
m["cases"][0]["args"].pop()
json.dump(m, open("scene/scene.json", "w"))
END
does 0 run scene
says 'aicpu_orchestration_entry expects 3 arguments, but got 2'
says 'golden .*: the run must end with INVALID_ARGS and did$'

# The compiler's errors as they are; all sources are tried.
cp manifest.json scene/scene.json
sed -i 's/SCALED/SCALD/' scene/kernel.cpp
sed -i 's/add_input/add_imput/' scene/orch.cpp
does 1 build scene
complains "scene/kernel.cpp:8:32: error: "
complains "|         out.data<float>()[i] = SCALD(in->data<float>()[i], from_u64<float>(args[2]));"
complains "scene/orch.cpp:6:10: error: "
complains 'simpler build: 2 of 2 sources do not compile'
fault_saw source-does-not-compile exit=$got told=place
does 1 run scene
sed -i 's/SCALD/SCALED/' scene/kernel.cpp
sed -i 's/add_imput/add_input/' scene/orch.cpp
ls cache/.[0-9]* 2>/dev/null && fail "files of failed compilations are left"
built 0 2
sed -i 's/void kernel_entry/void other_entry/' scene/kernel.cpp
does 1 run scene
complains 'kernel_entry'
sed 's/"core_type": "aiv"/"core_type": "aiv", "entry": "other_entry"/' manifest.json >scene/scene.json
does 0 run scene
sed -i 's/other_entry/kernel_entry/' scene/kernel.cpp

# Several compilers at a time: each waits until two are there.
if [ "$(nproc)" -gt 1 ]; then
    cp manifest.json scene/scene.json
    cat >compiler <<END
#!/usr/bin/env bash
: >"$work/here.\$\$"
for ((i = 0; i < 200; i++)); do
    [ "\$(ls "$work"/here.* | wc -l)" -ge 2 ] && exec c++ "\$@"
    sleep 0.05
done
echo "alone" >&2
exit 1
END
    chmod +x compiler
    CXX=$work/compiler built 2 0
fi
CXX=/nonexistent/c++ does 1 build scene
complains 'the compiler /nonexistent/c++ cannot be started'

# What is not simulated says so and where to read on; a library of one's own goes first.
cp manifest.json scene/scene.json
sed -i '1i #include "pto_async_kernel_api.h"' scene/kernel.cpp
does 1 build scene
complains 'transfer engines are not simulated: docs/porting.md'
sed -i '1s,.*,#include <pto/pto-inst.hpp>,' scene/kernel.cpp
does 1 build scene
complains "name pto-isa's include directory in include_dirs"
mkdir -p isa/pto && echo '#define TILES 1' >isa/pto/pto-inst.hpp
sed 's,"kernels":,"include_dirs": ["../isa"]\, "kernels":,' manifest.json >scene/scene.json
does 0 run scene
sed -i 1d scene/kernel.cpp

# Kernels of one block that wait for each other, and one that completes later, by the table.
mkdir mixed
cat >mixed/orch.cpp <<'END'
#include "pto_orchestration_api.h"
extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &run)
{
    MixedKernels kernels;
    kernels.aic_kernel_id = 0;
    kernels.aiv0_kernel_id = kernels.aiv1_kernel_id = 1;
    CoreTaskArgs args;
    args.add_inout(run.tensor(0));
    rt_submit_task(kernels, args);
    CoreTaskArgs late;
    late.add_inout(run.tensor(1));
    rt_submit_aiv_task(2, late);
    CoreTaskArgs after;
    after.add_inout(run.tensor(1));
    rt_submit_aiv_task(3, after);
}
END
cat >mixed/aic.cpp <<'END'
#include "intrinsic.h"
#include "tensor.h"
extern "C" void kernel_entry(int64_t *args)
{
    int32_t *x = reinterpret_cast<ChipTensor *>(args[0])->data<int32_t>();
    x[0] = 1 + simpler::get_lane(args);
    simpler::set_flag(args, SIMPLER_LANE_AIV0, 3);
    simpler::set_flag(args, SIMPLER_LANE_AIV1, 3);
    if (simpler::sync_block(args) == 0 && simpler::sync_all(args) == 0)
        x[3] = x[0] + x[1] + x[2];
}
END
cat >mixed/aiv.cpp <<'END'
#include "intrinsic.h"
#include "tensor.h"
extern "C" void kernel_entry(int64_t *args)
{
    int32_t *x = reinterpret_cast<ChipTensor *>(args[0])->data<int32_t>();
    if (simpler::wait_flag(args, 3) == 0)
        x[simpler::get_lane(args)] = x[0] + 10 * simpler::get_lane(args);
    simpler::sync_block(args);
    simpler::sync_all(args);
}
END
cat >mixed/late.cpp <<'END'
#include <thread>
#include "intrinsic.h"
#include "tensor.h"
extern "C" void kernel_entry(int64_t *args)
{
    static simpler_async_counter counter;
    int32_t *y = reinterpret_cast<ChipTensor *>(args[0])->data<int32_t>();
    simpler_async_condition condition{};
    condition.type = SIMPLER_ASYNC_COUNTER;
    condition.expected = simpler::async_counter_get(counter) + 2;
    condition.counter = &counter;
    simpler::defer(args, condition);
    std::thread([y] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        y[0] = 5;
        simpler::async_counter_add(counter, 2);
    }).detach();
}
END
cat >mixed/after.cpp <<'END'
#include "tensor.h"
extern "C" void kernel_entry(int64_t *args)
{
    int32_t *y = reinterpret_cast<ChipTensor *>(args[0])->data<int32_t>();
    y[1] = y[0] + 1;
}
END
cat >mixed/golden.py <<'END'
import numpy as np
def golden(args):
    return {"x": np.array([1, 11, 21, 33], "i4"), "y": np.array([5, 6], "i4")}
END
cat >mixed/scene.json <<'END'
{"name": "mixed", "source": "orch.cpp", "golden": "golden.py:golden", "kernels": [
   {"func_id": 0, "source": "aic.cpp", "core_type": "aic"}, {"func_id": 1, "source": "aiv.cpp"},
   {"func_id": 2, "source": "late.cpp"}, {"func_id": 3, "source": "after.cpp"}],
 "cases": [{"name": "all", "args": [
   {"name": "x", "dtype": "int32", "shape": [4], "dir": "out"},
   {"name": "y", "dtype": "int32", "shape": [2], "dir": "inout", "init": {"values": [1, 2]}}]}]}
END
does 0 run mixed
does 0 run mixed -p a2a3sim --exec threads

# What can be wrong with scene.json.
wrong() { # wrong TEXT SED
    sed "$2" manifest.json >scene/scene.json
    does 1 build scene
    complains "$1"
}
wrong 'line 1 column' 's/"name": "scaled",/"name" "scaled",/'
wrong 'scene.json: name is missing' 's/"name": "scaled", //'
wrong "there is no key 'sauce' here; there are: " 's/"source": "orch/"sauce": "orch/'
wrong "cases[0].args[0]: dtype 'float33' is no element type" 's/"float32"/"float33"/'
wrong "uint8 to uint64, bool); did you mean float32?" 's/"float32"/"flaot32"/'
wrong 'cases[0].args[0]: shape[1] is no extent' 's/\[4, 8\]/[4, -8]/'
wrong "cases[0].args[0]: dir: there is no 'inn'; did you mean in? There are: in, " 's/"dir": "in"/"dir": "inn"/'
wrong 'cases[0].args[0]: init.arange is no list of two numbers' 's/\[0, 0.5\]/[0]/'
wrong 'cases[0].args[0]: init.values has 2 numbers, the tensor 32 elements' 's/"arange": \[0, 0.5\]/"values": [1, 2]/'
wrong 'cases[0].args[2]: value does not fit int8' 's/"scalar": "float32", "value": 3/"scalar": "int8", "value": 128/'
wrong 'kernels[0]: func_id is no integer from 0 to 1023' 's/"func_id": 5/"func_id": 1024/'
wrong "kernels[0]: core_type: there is no 'aix'; did you mean ai" 's/"aiv"/"aix"/'
wrong "kernels[0]: signature[1]: there is no 'oot'; did you mean out? There are: " 's/\["in", "out"\]/["in", "oot"]/'
wrong "kernels[0]: 'a b' is no function's name" 's/"core_type"/"entry": "a b", "core_type"/'
wrong "golden 'golden.py' is not FILE:FUNCTION" 's/golden.py:golden/golden.py/'
wrong 'runtime_env.ring_heap is no size nor four of them' 's/"cases"/"runtime_env": {"ring_heap": [1, 2]}, "cases"/'
/usr/bin/python3 -c 'import json
m = json.load(open("manifest.json"))
json.dump(dict(m, cases=[]), open("scene/scene.json", "w"))'
does 1 build scene
complains 'cases is no list of at least one case'
/usr/bin/python3 -c 'import json
m = json.load(open("manifest.json"))
m["cases"][0]["args"].reverse()
json.dump(m, open("scene/scene.json", "w"))'
does 1 build scene
complains 'cases[0].args[1]: a tensor after a scalar; tensors come first'
rm scene/scene.json
does 1 build scene
complains 'scene/scene.json'
does 2 build
does 2 build scene other
does 2 build --fast scene
does 2 build missing
does 2 run missing
echo ok
