# SPDX-License-Identifier: Apache-2.0
import numpy as np


def golden(args):
    states = args["states"].astype(np.float64)
    layers = args["weights"].shape[0]
    for i, weight in enumerate(args["weights"].astype(np.float64)):
        y = states[i] @ weight
        slope = args["slope"] / (i + 1)
        for _ in range(2 if i + 1 == layers else 1):
            y = np.where(y < 0, slope * y, y)
        states[i + 1] = y
    return {"states": states.astype(np.float32)}
