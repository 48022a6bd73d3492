# SPDX-License-Identifier: Apache-2.0
def golden(args):
    return {"z": args["scale"] * args["x"] + args["shift"]}
