#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The fault matrix is whole: document, promises and tests agree (nothing is run), and scripts/faults.py
on small trees fails, with a line that says why, for each way in which a fault is not as promised."""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.environ["SOURCE_DIR"]
TMR, HBG = "tensormap_and_ringbuffer", "host_build_graph"
PROMISES = """# a comment
# ---- Edges, lost ----
lost-edge | both | an edge is lost | code 7 `TIMEOUT`: the oldest task | the device | status=TIMEOUT device=free ms<=300
# ---- Disks ----
full-disk | - | the disk is full | `LATE` | what fits | run=OK,LATE kept=all/some
"""
STATUSES = '#define A(X) X(7, TIMEOUT, "too late")  X(8, LATE, "late")\n#define B(X) X(-9, EIO, "disk")\n'
GOOD = [("release", "lost-edge", TMR, 12, "status=TIMEOUT device=free ms=41.5"),
        ("asan", "lost-edge", HBG, 1, "device=free status=TIMEOUT ms=3"),
        ("asan", "full-disk", TMR, 20, "run=LATE kept=some"),
        ("asan", "full-disk", TMR, 100, "run=OK kept=some")]
HEAD = "| what went wrong | what you see | what holds | tried by |\n| --- | --- | --- | --- |\n"
TABLE = """<!-- faults: scripts/faults.py --write -->

### From what you were told to its row

| told | it means | rows |
| --- | --- | --- |
| code 7 `TIMEOUT` | too late | [lost-edge](#lost-edge) |
| code 8 `LATE` | late | [full-disk](#full-disk) |

### Edges, lost

%s| <a id="lost-edge"></a>an edge is lost | code 7 `TIMEOUT`: the oldest task | the device | `test_a` |

### Disks

%s| <a id="full-disk"></a>the disk is full | `LATE` | what fits | `test_a` |

<!-- faults: end -->""" % (HEAD, HEAD)
TEST = 'fault_saw("lost-edge", "x=%d", 1);\nsaw_by_name("full-disk");\n'
bad = []


class Tree:
    """A tree with what scripts/faults.py reads, by default all as it should be."""

    def __init__(self, promises=PROMISES, records=None, table=TABLE, test=TEST):
        self.root = tempfile.mkdtemp()
        for name in ("scripts", "tests/unit", "docs", "include/simpler", "build/results/faults"):
            os.makedirs(os.path.join(self.root, name))
        for name in ("faults.py", "result.sh"):
            shutil.copy(os.path.join(ROOT, "scripts", name), os.path.join(self.root, "scripts"))
        self.write("tests/faults.txt", promises)
        self.write("include/simpler/status.h", STATUSES)
        self.write("docs/reliability.md", "# Before\n\n%s\n\nBehind\n" % table)
        self.write("tests/unit/test_a.c", test)
        for suite, *cells in GOOD if records is None else records:
            with open(os.path.join(self.root, "build/results/faults", suite + ".tsv"), "a", encoding="utf-8") as f:
                f.write("\t".join(map(str, cells[:3])) + "\ttests/unit/test_a.c\t" + cells[3] + "\n")

    def write(self, name, text):
        with open(os.path.join(self.root, name), "w", encoding="utf-8") as f:
            f.write(text)

    def read(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8") as f:
            return f.read()

    def run(self, *words):
        return subprocess.run(["/usr/bin/python3", os.path.join(self.root, "scripts", "faults.py"), *words],
                              capture_output=True, text=True)


def expect(what, tree, status, text, *words):
    r = tree.run(*words)
    if r.returncode != status or text not in r.stdout or r.stderr:
        bad.append("%s: status %d, not %d, or not '%s': %s%s" % (what, r.returncode, status, text, r.stdout, r.stderr))
    if not words:
        result = tree.read("build/results/step-faults.xml")
        if 'name="faults" status="%s"' % ("fail" if status else "run") not in result:
            bad.append("%s: the last line counts another result: %s" % (what, result))
    shutil.rmtree(tree.root)


def with_record(index, *record):
    return GOOD[:index] + [record] + GOOD[index + 1:]


def promises_and_records():
    expect("all as promised", Tree(), 0, "2 faults, injected 133 times")
    expect("not injected on hbg", Tree(records=[GOOD[0]] + GOOD[2:]), 1, "lost-edge was never injected on hbg")
    expect("not injected", Tree(records=GOOD[:2]), 1, "full-disk was never injected anywhere")
    expect("no records", Tree(records=[]), 1, "was never injected")
    expect("nought times", Tree(records=GOOD[:2] + [("asan", "full-disk", TMR, 0, "run=OK kept=all")]), 1,
           "full-disk was never injected")
    expect("an unknown fault", Tree(records=GOOD + [("asan", "lost-egde", TMR, 1, "status=TIMEOUT")]), 1,
           "tests/faults.txt does not have 'lost-egde'")
    expect("another status", Tree(records=with_record(2, "asan", "full-disk", TMR, 1, "run=LOST kept=all")), 1,
           "full-disk in tests/unit/test_a.c: 'run=LOST' contradicts 'run=OK,LATE kept=all/some'")
    expect("one of many", Tree(records=GOOD + [("tsan", "full-disk", TMR, 1, "run=LOST kept=all")]), 1, "tsan.tsv:1: full-disk")
    expect("not looked at", Tree(records=with_record(1, "asan", "lost-edge", HBG, 1, "status=TIMEOUT ms=3")), 1,
           "'device' is promised and was not looked at")
    expect("more than promised", Tree(records=with_record(2, "asan", "full-disk", TMR, 1, "run=OK kept=all leak=3")), 1,
           "'leak=3' was seen, nothing is promised of it")
    expect("too long", Tree(records=with_record(1, "a", "lost-edge", HBG, 1, "status=TIMEOUT device=free ms=301")), 1,
           "'ms=301' contradicts")
    expect("no number", Tree(records=with_record(1, "a", "lost-edge", HBG, 1, "status=TIMEOUT device=free ms=nan")), 1,
           "'ms=nan' contradicts")
    expect("another runtime", Tree(PROMISES.replace("both", "tmr")), 1, "on hbg, promised on tmr")
    expect("a status that the words do not say", Tree(PROMISES.replace("`TIMEOUT`", "it is late")), 1,
           "lost-edge: 'TIMEOUT' is not in its words", "--static")
    expect("an exit status that they do not say", Tree(PROMISES.replace("kept=", "exit=0,3 kept=")), 1,
           "full-disk: 'exit status 3' is not in its words", "--write")
    expect("a code of another number", Tree(PROMISES.replace("code 7", "code 8")), 1, "TIMEOUT has not the number 8",
           "--static")
    expect("no record", Tree(records=GOOD + [("asan", "full-disk", "other", 1, "run=OK kept=all")]), 1, "no record")
    for line in ("lost-edge | both | again | x | y | status=A\n", "odd | both | no hyphen | x | y | status=A\n",
                 "no-place | here | x | y | z | status=A\n", "no-token | - | x | y | z | late\n",
                 "too-few | - | x | y | status=A\n", "no-words | - | x |  | z | status=A\n"):
        expect(line, Tree(PROMISES + line), 1, "tests/faults.txt:6: not 'ID | tmr")


def what_cannot_be():
    no = ("asan", "full-disk", TMR, 0, "cannot=no tmpfs can be mounted")
    expect("no machine for it", Tree(records=GOOD[:2] + [no]), 0, "not injected here: full-disk: no tmpfs can be mounted")
    expect("in one suite alone", Tree(records=GOOD + [no]), 0, "2 faults, injected 133 times")
    expect("another one", Tree(records=GOOD[1:] + [no]), 1, "lost-edge was never injected on tmr")
    expect("an unknown one", Tree(records=GOOD + [("asan", "fool-disk", TMR, 0, "cannot=x")]), 1,
           "tests/faults.txt does not have 'fool-disk'")


def document():
    expect("an alternative that is never seen", Tree(records=GOOD[:3]), 1, "full-disk was never seen with run=OK")
    expect("another by chance", Tree(records=GOOD + [("a", "full-disk", TMR, 1, "run=OK kept=all")]), 0, "")
    expect("other numbers", Tree(records=GOOD + [("a", "lost-edge", TMR, 900, "status=TIMEOUT device=free ms=290")]), 0, "")
    expect("another promise", Tree(PROMISES.replace("an edge", "one edge")), 1, "says otherwise of lost-edge", "--static")
    expect("another one, and all ran", Tree(PROMISES.replace("what fits", "all")), 1, "says otherwise of full-disk")
    expect("another test", Tree(test=TEST.replace("full", "fool") + '"fool-disk"'), 1, "no test names the fault full-disk",
           "--static")
    expect("a missing row", Tree(PROMISES + "third-one | - | x | y | z | a=b\n", test=TEST + '"third-one"'), 1,
           "does not have third-one", "--static")
    expect("a row too many", Tree(PROMISES.split("# ---- Disks")[0], test=TEST.split("saw_by")[0]), 1,
           "has 'full-disk', tests/faults.txt has not", "--static")
    expect("another index", Tree(table=TABLE.replace("too late", "late")), 1, "is not what tests/faults.txt makes", "--static")
    expect("no markers", Tree(table=""), 1, "has no '<!--", "--static")
    expect("as it is", Tree(), 0, "", "--static")
    expect("a name of no fault", Tree(test=TEST + 'fault_saw_times("lost-egde", 3, "a=b");'), 1,
           "does not have 'lost-egde'", "--static")
    expect("a fault of no test", Tree(test=TEST.split("saw_by")[0]), 1, "no test names the fault full-disk", "--static")
    tree = Tree(records=[], table="<!-- faults: scripts/faults.py --write -->\nold\n<!-- faults: end -->")
    r = tree.run("--write")
    if r.returncode or tree.read("docs/reliability.md") != "# Before\n\n%s\n\nBehind\n" % TABLE:
        bad.append("--write: %s%s" % (r.stdout, tree.read("docs/reliability.md")))
    shutil.rmtree(tree.root)
    # Of many rows the index names the table, of one runtime the row says which.
    more = "".join("edge-%s | hbg | x | code 7 `TIMEOUT` | exit status 139 | exit=139 status=TIMEOUT\n" % c for c in "abcd")
    tree = Tree(PROMISES.replace("# ---- Disks", more + "# ---- Disks"), test=TEST + '"edge-a" "edge-b" "edge-c" "edge-d"')
    r = tree.run("--write")
    for line in ("| code 7 `TIMEOUT` | too late | [Edges, lost](#edges-lost) |",
                 "| exit status 139 | SIGSEGV | [edge-a](#edge-a), [edge-b](#edge-b), [edge-c](#edge-c), [edge-d](#edge-d) |",
                 '| <a id="edge-a"></a>x | code 7 `TIMEOUT` | exit status 139 | `test_a` (hbg) |'):
        if r.returncode or line not in tree.read("docs/reliability.md").split("\n"):
            bad.append("--write of many: not '%s': %s%s" % (line, r.stdout, tree.read("docs/reliability.md")))
    shutil.rmtree(tree.root)


def helpers():
    """The shell's and Python's way to say what was seen."""
    tree = Tree()
    env = dict(os.environ, SOURCE_DIR=tree.root, TEST_SOURCE="tests/cli/x.sh",
               SIMPLER_TEST_FAULTS=os.path.join(tree.root, "seen"))
    support = os.path.join(ROOT, "tests", "support")
    for language, call in (
            ("bash", ". %s/faults.sh; fault_saw full-disk@%s run=OK" % (support, HBG)),
            (sys.executable, "import sys; sys.path.insert(0, %r); import faults; faults.saw('full-disk@%s', run='OK')"
             % (support, HBG))):
        r = subprocess.run([language, "-c", call], env=env, capture_output=True, text=True)
        if r.returncode or tree.read("seen") != "full-disk\t%s\t1\ttests/cli/x.sh\trun=OK\n" % HBG:
            bad.append("%s: %r %s" % (language, tree.read("seen"), r.stderr))
        os.unlink(os.path.join(tree.root, "seen"))
        r = subprocess.run([language, "-c", call.replace("full-disk", "full-dsik")], env=env, capture_output=True,
                           text=True)
        if r.returncode == 0 or "full-dsik: tests/faults.txt does not have this fault" not in r.stdout + r.stderr:
            bad.append("%s: an unknown fault passes: %r %r" % (language, r.stdout, r.stderr))
        quiet = {k: v for k, v in env.items() if k != "SIMPLER_TEST_FAULTS"}
        if subprocess.run([language, "-c", call], env=quiet).returncode or os.path.exists(os.path.join(tree.root, "seen")):
            bad.append("%s: not quiet without SIMPLER_TEST_FAULTS" % language)
    shutil.rmtree(tree.root)


r = subprocess.run([os.path.join(ROOT, "scripts", "faults.py"), "--static"], capture_output=True, text=True)
if r.returncode:
    bad.append(r.stdout + r.stderr)
promises_and_records()
what_cannot_be()
document()
helpers()
print("\n".join(bad) or "ok")
sys.exit(1 if bad else 0)
