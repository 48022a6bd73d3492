# SPDX-License-Identifier: Apache-2.0
import numpy as np


def golden(args):
    return {"y": args["x"] / np.abs(args["x"]).max()}
