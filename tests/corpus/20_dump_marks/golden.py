# SPDX-License-Identifier: Apache-2.0
import numpy as np


def golden(args):
    x, y = args["x"].astype(np.float64), args["y"].astype(np.float64)
    a = 0.75 * x + 0.25 * y
    b = 2 * a - y
    c = 0.75 * (a + b)
    return {"z": (0.25 * b + 0.75 * c).astype(np.float32)}
