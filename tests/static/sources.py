# SPDX-License-Identifier: Apache-2.0
"""No tracked file has the markers of a merge in it, and every Python script compiles."""
import os
import re
import subprocess
import sys

root = os.environ["SOURCE_DIR"]
try:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True)
except (OSError, subprocess.CalledProcessError):
    print("SKIP: no git tree")
    sys.exit(77)
marker = re.compile(rb"^(<<<<<<< |>>>>>>> )", re.M)
faults = []
for name in filter(None, listed.stdout.decode().split("\0")):
    path = os.path.join(root, name)
    if not os.path.isfile(path):
        continue
    with open(path, "rb") as f:
        text = f.read()
    if marker.search(text):
        faults.append(f"{name}: a merge was not finished")
    if name.endswith(".py"):
        try:
            compile(text, name, "exec")
        except (SyntaxError, ValueError) as error:
            faults.append(f"{name}: {error}")
print("\n".join(faults))
sys.exit(1 if faults else 0)
