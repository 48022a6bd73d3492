# SPDX-License-Identifier: Apache-2.0
"""What README.md says about arguments and goldens, in numpy: the second
implementation that the runner's is held against."""
import importlib.util
import os

import numpy as np

DTYPES = {
    "float32": np.float32, "float64": np.float64, "float16": np.float16, "bfloat16": np.uint16,
    "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64,
    "bool": np.bool_,
}
MASK = (1 << 64) - 1


def splitmix64(seed, count):
    state = (seed << 32) & MASK
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def is_float(dtype):
    return "float" in dtype


def random(dtype, low, high, seed, count):
    if is_float(dtype):
        return [low + (high - low) * ((z >> 11) * 2.0**-53) for z in splitmix64(seed, count)]
    return [low + z % (high - low + 1) for z in splitmix64(seed, count)]


def convert(dtype, numbers):
    """Numbers as elements of dtype; bfloat16 as bits, rounded to nearest even."""
    if dtype != "bfloat16":
        return np.array(numbers, dtype=DTYPES[dtype])
    bits = np.array(numbers, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def tensor(folder, arg):
    init = arg.get("init", "zeros")
    count = int(np.prod(arg["shape"]))
    if init in ("zeros", "ones"):
        numbers = [int(init == "ones")] * count
    elif "fill" in init:
        numbers = [init["fill"]] * count
    elif "arange" in init:
        start, step = init["arange"]
        numbers = [start + i * step for i in range(count)]
    elif "random" in init:
        numbers = random(arg["dtype"], *init["random"], init["seed"], count)
    elif "values" in init:
        numbers = init["values"]
        if len(numbers) != count:
            raise ValueError(f"{arg['name']}: {len(numbers)} values, not {count}")
    else:
        loaded = np.load(os.path.join(folder, init["npy"]))
        if loaded.dtype != DTYPES[arg["dtype"]] or list(loaded.shape) != arg["shape"]:
            raise ValueError(f"{arg['name']}: {init['npy']} has another dtype or shape")
        return loaded
    return convert(arg["dtype"], numbers).reshape(arg["shape"])


def scalar(arg):
    value = arg["value"]
    if isinstance(value, str):
        value = float(value) if is_float(arg["scalar"]) else int(value, 0)
    return DTYPES[arg["scalar"]](value).item()


def arguments(folder, case):
    """Name -> array or Python number, in the order of the case."""
    return {a["name"]: scalar(a) if "scalar" in a else tensor(folder, a) for a in case["args"]}


def expected(folder, golden, values):
    """Name -> expected array, from "file.py:function" or {name: "file.npy"}."""
    if isinstance(golden, dict):
        return {name: np.load(os.path.join(folder, file)) for name, file in golden.items()}
    file, function = golden.split(":")
    spec = importlib.util.spec_from_file_location("golden", os.path.join(folder, file))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    copies = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in values.items()}
    return {k: np.ascontiguousarray(v) for k, v in getattr(module, function)(copies).items()}


def as_numbers(dtype, array):
    if dtype == "bfloat16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64) if is_float(dtype) else array


def equal(dtype, found, want, tolerance):
    """Whether each element found is |found - want| <= atol + rtol |want|; integers are exact."""
    found, want = as_numbers(dtype, found).reshape(-1), as_numbers(dtype, want).reshape(-1)
    if not is_float(dtype):
        return bool(np.array_equal(found, want))
    rtol, atol = tolerance.get("rtol", 1e-5), tolerance.get("atol", 1e-6)
    return bool(np.allclose(found, want, rtol=rtol, atol=atol, equal_nan=True))
