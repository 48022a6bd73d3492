# SPDX-License-Identifier: Apache-2.0
"""Plain attention over the gathered tokens, no pages and no online softmax."""
import numpy as np


def golden(args):
    query = args["query"].astype(np.float64)
    out = np.zeros_like(query)
    page = args["keys"].shape[1]
    for b, length in enumerate(args["lengths"]):
        blocks = args["block_table"][b][: -(-length // page)]
        k = args["keys"][blocks].reshape(-1, query.shape[2])[:length].astype(np.float64)
        v = args["values"][blocks].reshape(-1, query.shape[2])[:length].astype(np.float64)
        s = args["scale"] * query[b] @ k.T
        p = np.exp(s - s.max(axis=1, keepdims=True))
        out[b] = p @ v / p.sum(axis=1, keepdims=True)
    return {"out": out.astype(np.float32)}
