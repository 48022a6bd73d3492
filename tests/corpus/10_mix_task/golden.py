# SPDX-License-Identifier: Apache-2.0
import numpy as np


def golden(args):
    c = args["a"].astype(np.float64) @ args["b"].astype(np.float64)
    return {"c": c.astype(np.float32), "r": 2 * np.maximum(args["x"], 0)}
