# SPDX-License-Identifier: Apache-2.0
import numpy as np


def golden(args):
    bins = args["cumulated"].size
    counts = np.bincount(args["x"].astype(np.int64) * bins // 256, minlength=bins)
    return {"cumulated": np.cumsum(counts).astype(np.uint32)}
