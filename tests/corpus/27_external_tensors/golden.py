# SPDX-License-Identifier: Apache-2.0
import numpy as np


def golden(args):
    z = 1j * args["radius"].astype(np.float64) * np.exp(1j * args["angle"].astype(np.float64))
    return {"z": np.stack([z.real, z.imag], axis=-1).astype(np.float32)}
