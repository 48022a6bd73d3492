#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# ctest: TIMEOUT 240
"""Every example of docs/orchestration.md is compiled and run; what it says holds (SY-05)."""
import os
import re
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["SOURCE_DIR"], os.environ["BUILD_DIR"]
HEAD = r"""
#include <simpler/simpler.h>
#include <stdio.h>
#include <string.h>
static float x[8], y[8], z[8];
static int32_t n[8];
static struct simpler_tensor X, Y, Z, N;
static struct simpler_run_result result;
"""
MAIN = r"""
static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *unused)
{
    struct simpler_task_args args;
    struct simpler_task_outputs out, out2;
    (void)unused;
    (void)args;
    (void)out;
    (void)out2;
%s
}
static const struct simpler_kernel kernels[] = {%s};
int main(void)
{
    struct simpler_callable callable = {.orchestrate = orchestrate, .kernels = kernels,
                                        .kernel_count = %d};
    struct simpler_call_config config = SIMPLER_CALL_CONFIG_INIT;
    struct simpler_orch_args none = {0};
    struct simpler_worker *worker;
    uint32_t handle;
    config.hazards = SIMPLER_HAZARDS_ALL;
    for (int i = 0; i < 8; i++)
        x[i] = (float)i;
    simpler_tensor_init(&X, x, SIMPLER_DIMS(8), SIMPLER_DTYPE_FLOAT32);
    simpler_tensor_init(&Y, y, SIMPLER_DIMS(8), SIMPLER_DTYPE_FLOAT32);
    simpler_tensor_init(&Z, z, SIMPLER_DIMS(8), SIMPLER_DTYPE_FLOAT32);
    simpler_tensor_init(&N, n, SIMPLER_DIMS(8), SIMPLER_DTYPE_INT32);
    if (simpler_worker_open(NULL, &worker) != 0 ||
        simpler_worker_register(worker, &callable, &handle) != 0)
        return 2;
    int rc = simpler_worker_run(worker, handle, &none, &config, &result);
    simpler_worker_close(worker);
    if (rc != 0) {
        printf("the run ended with %%d: %%s\n", rc, result.message);
        return 3;
    }
    return (%s) ? 0 : 1;
}
"""


def program(blocks):
    kernels = "".join(blocks.get("kernels", []))
    names = re.findall(r"^static int (\w+)\(int64_t \*args\)", kernels, re.M)
    ids = "enum { " + ", ".join(f"K_{n}" for n in names) + " };\n" if names else ""
    rows = ", ".join(f'{{K_{n}, SIMPLER_CORE_AI{"C" if n.startswith("aic_") else "V"}, "{n}", {n}, '
                     "NULL, 0}" for n in names)
    body = "".join(blocks["orch"])
    after = " && ".join(f"({line})" for text in blocks["after"] for line in text.splitlines())
    return HEAD + ids + kernels + MAIN % (body, rows or "{0}", len(names), after)


def sections(path):
    title, blocks = None, {}
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        title = part.splitlines()[0]
        blocks = {}
        for kind, code in re.findall(r"^```c (\w+)\n(.*?)^```", part, re.M | re.S):
            blocks.setdefault(kind, []).append(code)
        yield title, blocks


def main():
    failed = count = 0
    flags = os.environ.get("CFLAGS", "").split()
    if "thread" in open(f"{BUILD}/CMakeCache.txt").read().split("SIMPLER_SANITIZE:STRING=")[1][:20]:
        flags += ["-fsanitize=thread"]
    elif "address" in open(f"{BUILD}/CMakeCache.txt").read().split("SIMPLER_SANITIZE:STRING=")[1][:20]:
        flags += ["-fsanitize=address,undefined"]
    with tempfile.TemporaryDirectory() as work:
        for title, blocks in sections(f"{SOURCE}/docs/orchestration.md"):
            if not {"orch", "after"} <= blocks.keys():
                print(f"{title}: an example is missing")
                failed += 1
                continue
            count += 1
            with open(f"{work}/example.c", "w", encoding="utf-8") as file:
                file.write(program(blocks))
            built = subprocess.run(
                [os.environ.get("CC", "cc"), "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror",
                 *flags, f"-I{SOURCE}/include", f"{work}/example.c", "-o", f"{work}/example",
                 f"-L{BUILD}", "-lsimpler", f"-Wl,-rpath,{BUILD}"],
                capture_output=True, text=True, check=False)
            if built.returncode != 0:
                print(f"{title}: does not compile\n{built.stderr}")
                failed += 1
                continue
            for _ in range(5):
                ran = subprocess.run([f"{work}/example"], capture_output=True, text=True,
                                     timeout=60, check=False)
                if ran.returncode != 0:
                    print(f"{title}: ends with {ran.returncode}\n{ran.stdout}{ran.stderr}")
                    failed += 1
                    break
    print(f"{count} examples, {failed} faults")
    if count < 12:
        print("examples are missing")
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
