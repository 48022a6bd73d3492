# SPDX-License-Identifier: Apache-2.0
def golden(args):
    x = args["x"]
    spread = args["spread"].copy()
    spread[:, ::2] = x[:, 1::3]
    windows = args["windows"].copy()
    windows[:, :3] = x[2:5, 4:7]
    windows[:, 3:] = x[2:5, 4:7].T
    return {
        "transposed": x.T,
        "permuted": x.reshape(2, 3, 8).transpose(2, 0, 1),
        "spread": spread,
        "windows": windows,
    }
