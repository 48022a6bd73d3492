# SPDX-License-Identifier: Apache-2.0
import numpy as np


def golden(args):
    x = args["x"].astype(np.float64)
    for _ in range(args["steps"]):
        x[1:-1] = 0.5 * (x[:-2] + x[2:])
    return {"y": np.append(x, args["steps"]).astype(np.float32)}
