# SPDX-License-Identifier: Apache-2.0
import numpy as np


def golden(args):
    n = int((args["x"] < 0).sum())
    limit = args["limit"]
    hits = [n == limit, n != limit, n > limit, n < limit, n >= limit, n <= limit, True]
    marks = args["marks"] + np.array([(100 + n) * hit for hit in hits], dtype=np.int32)
    return {"marks": marks}
