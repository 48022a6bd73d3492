# SPDX-License-Identifier: Apache-2.0
import numpy as np


def golden(args):
    squares = args["x"] * args["x"]
    return {"squares": squares, "y": np.roll(squares, 1) + np.roll(squares, -1)}
