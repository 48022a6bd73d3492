#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""tests/corpus: each name of names.txt is used in its C++, its manifests follow README.md, and
its goldens, called with the arguments of each case, give arrays of the right shape and type.
First, that each of these checks can fail."""
import json
import os
import re
import sys
import tempfile

corpus = os.path.join(os.environ["SOURCE_DIR"], "tests", "corpus")
sys.dont_write_bytecode = True
sys.path.insert(0, corpus)
DTYPES = set("float32 float64 float16 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
             "bool".split())
SCENE = {"name", "source", "entry", "config", "runtime", "platform", "hazards",
         "aicpu_thread_num", "runtime_env", "kernels", "golden", "tolerance", "cases"}
CASE = {"name", "args", "golden", "tolerance", "platform", "hazards", "aicpu_thread_num",
        "runtime_env", "expect_error"}
KERNEL = {"func_id", "name", "source", "core_type", "signature"}
INITS = ({"fill"}, {"arange"}, {"random", "seed"}, {"values"}, {"npy"})
STRING_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.S)


def code(text):
    """C++ without comments, and without strings but those of includes."""
    def keep(match):
        string = match.group(1)
        return string if string and string.endswith('.h"') else '""' if string else " "
    return STRING_OR_COMMENT.sub(keep, text)


def names(text):
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, _, pattern = line.partition("\t")
            yield name, re.compile(pattern or rf"\b{re.escape(name)}\(")


def missing(list_text, sources):
    return [name for name, pattern in names(list_text)
            if not any(pattern.search(source) for source in sources)]


def check_args(args, say):
    seen_scalar = False
    for arg in args:
        where = arg.get("name", "?")
        if "scalar" in arg:
            seen_scalar = True
            say(set(arg) == {"name", "scalar", "value"}, f"{where}: keys of a scalar")
            say(arg["scalar"] in DTYPES, f"{where}: type {arg['scalar']}")
            continue
        say(not seen_scalar, f"{where}: a tensor after a scalar")
        say({"name", "dtype", "shape", "dir"} <= set(arg) <=
            {"name", "dtype", "shape", "dir", "init"}, f"{where}: keys of a tensor")
        say(arg.get("dtype") in DTYPES, f"{where}: dtype {arg.get('dtype')}")
        say(arg.get("dir") in ("in", "out", "inout"), f"{where}: dir")
        say(1 <= len(arg.get("shape", [])) <= 5, f"{where}: shape")
        init = arg.get("init", "zeros")
        say(init in ("zeros", "ones") or set(init) in INITS, f"{where}: init")
    say(len({a["name"] for a in args}) == len(args), "two arguments of one name")


def check_scene(folder, scene):
    faults = []

    def say(good, what):
        if not good:
            faults.append(f"{os.path.basename(folder)}: {what}")

    def file(name):
        say(os.path.isfile(os.path.join(folder, name)), f"no file {name}")

    say(set(scene) <= SCENE, f"unknown keys {set(scene) - SCENE}")
    say({"name", "source", "kernels", "cases"} <= set(scene), "a required key is missing")
    file(scene["source"])
    say(os.path.basename(folder).partition("_")[2] == scene["name"], "name is not the folder's")
    for kernel in scene["kernels"]:
        say(set(kernel) == KERNEL, f"keys of kernel {kernel.get('name')}")
        say(kernel["core_type"] in ("aic", "aiv"), "core_type")
        say(set(kernel["signature"]) <= {"in", "out", "inout", "scalar"}, "signature")
        file(kernel["source"])
    say(len({k["func_id"] for k in scene["kernels"]}) == len(scene["kernels"]), "a func_id twice")
    for case in scene["cases"]:
        say({"name", "args"} <= set(case) <= CASE, f"keys of case {case.get('name')}")
        check_args(case["args"], say)
    return faults


def check_goldens(folder, scene, reference):
    for case in scene["cases"]:
        where = f"{scene['name']}/{case['name']}"
        values = reference.arguments(folder, case)
        if "expect_error" in case:
            continue
        want = reference.expected(folder, case.get("golden", scene.get("golden")), values)
        outputs = {a["name"]: a for a in case["args"] if a.get("dir") in ("out", "inout")}
        if set(want) != set(outputs):
            yield f"{where}: golden gives {sorted(want)}, not {sorted(outputs)}"
            continue
        for name, arg in outputs.items():
            dtype = reference.DTYPES[arg["dtype"]]
            if want[name].dtype != dtype or want[name].size != values[name].size:
                yield f"{where}: golden of {name} is {want[name].dtype} {want[name].shape}"
        if all(reference.equal(a["dtype"], values[n], want[n], {}) for n, a in outputs.items()):
            yield f"{where}: a run that computes nothing would pass"


def self_test():
    assert missing("a\nb\tb::c\n", ["x.a (); a;", code('b:: c "a("')]) == ["a", "b"]
    assert missing("a\nb\tb::c\n", ["a(1)", "b::c"]) == []
    assert "f(" not in code('/* f( */ // f(\n "f(" g(1)') and "g(" in code('/* */ g(1)')
    with tempfile.TemporaryDirectory() as folder:
        bad = {"name": "x", "source": "none.cpp", "kernels": [], "extra": 1,
               "cases": [{"name": "c", "args": [{"name": "s", "scalar": "int32", "value": 1},
                                                {"name": "t", "dtype": "int5", "shape": [1],
                                                 "dir": "in", "init": {"fil": 1}}]}]}
        text = "\n".join(check_scene(folder, bad))
        for fault in ("unknown keys", "no file none.cpp", "after a scalar", "int5", "init"):
            assert fault in text, f"{fault} is not noticed:\n{text}"


self_test()
folders = sorted(os.path.join(corpus, d) for d in os.listdir(corpus)
                 if os.path.isfile(os.path.join(corpus, d, "orch.cpp")))
sources = [code(open(os.path.join(f, s), encoding="utf-8").read())
           for f in folders for s in sorted(os.listdir(f)) if s.endswith(".cpp")]
listed = open(os.path.join(corpus, "names.txt"), encoding="utf-8").read()
faults = [f"no use of {name}" for name in missing(listed, sources)]
scenes = [(f, json.load(open(os.path.join(f, "scene.json"), encoding="utf-8"))) for f in folders]
for folder, scene in scenes:
    faults += check_scene(folder, scene)
try:
    import reference
except ModuleNotFoundError as error:
    print(f"goldens are not called: {error}")
else:
    for folder, scene in scenes:
        faults += check_goldens(folder, scene, reference)
if len(folders) != 30:
    faults.append(f"{len(folders)} programs, not thirty")
print("\n".join(faults) or f"{len(list(names(listed)))} names, {len(sources)} sources, "
      f"{sum(len(s['cases']) for _, s in scenes)} cases")
sys.exit(bool(faults))
