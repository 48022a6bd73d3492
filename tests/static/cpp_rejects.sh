#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What simpler.hpp must not compile, each with the message that it must give; the
# same lines without their mistake do compile (AD-05, SY-05).
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
status=0
count=0

compiles() { # compiles STATEMENTS: into $work/out
    {
        echo '#include "simpler/simpler.hpp"'
        echo 'using namespace simpler; enum class Color { RED };'
        echo 'ChipTensor make(); TensorCreateInfo info_of(); struct Big { long a, b; };'
        echo "void f(ChipTensor x, ChipTensor y, TensorCreateInfo info, CoreTaskArgs &args, TaskId id) {"
        echo "float scale = 1; double d = 2; long double wide = 3; Color color{}; Big big{};"
        echo "(void)scale; (void)d; (void)wide; (void)color; (void)big; (void)x; (void)y; (void)info; (void)args; (void)id;"
        echo "$1"
        echo '}'
    } >"$work/t.cpp"
    "${CXX:-c++}" -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I"$SOURCE_DIR/include" "$work/t.cpp" >"$work/out" 2>&1
}
accepts() {
    count=$((count + 1))
    compiles "$1" || { echo "does not compile: $1"; head -n 5 "$work/out"; status=1; }
}
rejects() { # rejects PATTERN STATEMENTS
    count=$((count + 1))
    if compiles "$2"; then
        echo "compiles: $2"
        status=1
    elif ! grep -qE -- "$1" "$work/out"; then
        echo "rejected, but not because of '$1': $2"
        head -n 5 "$work/out"
        status=1
    fi
}

accepts 'args.add_input(x, y); args.add_inout(x); args.add_no_dep(y); args.add_output(x, y); args.add_output(info, info);'
rejects 'give lvalues' 'args.add_input(make());'
rejects 'give lvalues' 'args.add_input(x, x.view({1}, {0}));'
rejects 'give lvalues' 'args.add_inout(make());'
rejects 'give lvalues' 'args.add_no_dep(make());'
rejects 'give lvalues' 'args.add_output(make());'
rejects 'give lvalues' 'args.add_output(info_of());'
rejects 'not both' 'args.add_output(x, info);'
rejects 'ChipTensors only' 'args.add_input(info);'
rejects 'ChipTensors only' 'args.add_inout(scale);'
rejects 'at least one' 'args.add_input();'

accepts 'args.add_scalar(scale, d, color, 3, true, 2.0f, Color::RED);'
rejects 'at most 8 bytes' 'args.add_scalar(wide);'
rejects 'at most 8 bytes' 'args.add_scalar(big);'
rejects 'at most 8 bytes' 'args.add_scalar("text");'
rejects 'at most 8 bytes' 'args.add_scalar(&scale);'
rejects 'at least one' 'args.add_scalar();'

accepts 'args.dump(x, info, scale, color); args.dump(); const float c = 1; args.dump(c);'
rejects 'give lvalues' 'args.dump(1.0f);'
rejects 'give lvalues' 'args.dump(x, make());'
rejects 'give lvalues' 'args.dump(scale + 1);'
rejects 'dump selects ChipTensors' 'args.dump(big);'
rejects 'dump selects ChipTensors' 'args.dump(id);'

accepts 'CoreTaskArgsWithDeps<2> two; two.add_dep(id, id); two.add_dep_wait(id); two.add_input(x); (void)rt_submit_task(MixedKernels{}, two);'
rejects 'add_dep takes task ids' 'CoreTaskArgsWithDeps<> deps; deps.add_dep(7);'
rejects 'inaccessible' 'CoreTaskArgsWithDeps<> deps; (void)alloc_tensors(deps);'
rejects 'give lvalues' 'GraphTaskArgs graph; graph.add_input(make());'
rejects 'ChipTensors' 'GraphTaskArgs graph; graph.add_output(info);'

accepts 'CoreTaskArgs other; other.copy_scalars_from(args, 0, 1);'
rejects 'deleted' 'CoreTaskArgs other(args);'
rejects 'deleted' 'CoreTaskArgs other; other = args;'
rejects '.' 'CoreTaskArgs moved(static_cast<CoreTaskArgs &&>(args));'

accepts '(void)alloc_tensors(info); (void)alloc_tensors(info, info_of()); (void)alloc_tensors(args);'
rejects 'alloc_tensors takes TensorCreateInfos' '(void)alloc_tensors(info, x);'
rejects 'no matching function' '(void)alloc_tensors(x);'
accepts '(void)rt_submit_aiv_task(0, args); (void)from_u64<float>(to_u64(scale));'
rejects '.' '(void)rt_submit_aiv_task(0, CoreTaskArgs());'
rejects 'at most 8 bytes' '(void)to_u64(big);'
rejects 'at most 8 bytes' 'info.set_initial_value(wide);'

[ $status = 0 ] && echo "$count pieces of code, accepted and rejected as they must be"
exit $status
