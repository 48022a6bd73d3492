# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np


def golden(args):
    gelu = np.vectorize(lambda v: 0.5 * v * (1.0 + math.erf(v / math.sqrt(2.0))))
    return {"y": gelu(args["x"].astype(np.float64)).astype(np.float32)}
