# SPDX-License-Identifier: Apache-2.0
def golden(args):
    a = 2 * args["x"] + 1
    d = (a + 3) * -a
    return {"x": d, "copy": d}
