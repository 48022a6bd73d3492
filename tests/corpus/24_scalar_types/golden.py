# SPDX-License-Identifier: Apache-2.0
import struct

import numpy as np


def signed(word):
    return word - (1 << 64) if word >= 1 << 63 else word


def golden(args):
    typed = [round(1000 * args["f32"]), round(1000 * args["f64"])]
    typed += [args[n] for n in ("i8", "u8", "i16", "u16", "i32", "u32", "i64")]
    typed += [signed(args["u64"]), int(args["flag"]), 40000 if args["flag"] else 3]
    one = struct.unpack("<I", struct.pack("<f", 1.0))[0]
    raw = [
        [one, 0xFFFF, 1, signed(args["u64"])],
        [1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF],
        [args["i32"] & 0xFFFFFFFF, args["u32"], args["i64"], signed(args["u64"])],
    ]
    return {"typed": np.array(typed, dtype=np.int64), "raw": np.array(raw, dtype=np.int64)}
