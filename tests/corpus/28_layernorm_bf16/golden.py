# SPDX-License-Identifier: Apache-2.0
"""bfloat16 tensors come and go as their bits in uint16."""
import numpy as np


def golden(args):
    x = (args["x"].astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    mean = x.mean(axis=1, keepdims=True)
    y = (x - mean) / np.sqrt(x.var(axis=1, keepdims=True) + args["epsilon"])
    y = (y * args["gamma"] + args["beta"]).astype(np.float32)
    bits = y.view(np.uint32)
    return {"y": ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)}
