# SPDX-License-Identifier: Apache-2.0
import numpy as np


def golden(args):
    return {"y": (1.5 + args["x"].astype(np.float64).sum(axis=0)).astype(np.float32)}
