#!/usr/bin/env python3
"""Random weights under a model's names, as a safetensors file: make_weights.py 124M -o weights.safetensors"""
import argparse
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import model as models  # noqa: E402


def random_weight(name, shape, rng):
    if name.endswith(".bias"):
        return np.zeros(shape, np.float32)
    if len(shape) == 1:
        return np.ones(shape, np.float32)
    return rng.standard_normal(shape, np.float32) * np.float32(0.02 if shape[-1] >= 512 else 0.15)


def write(model, path, seed=1):
    """The header first, then tensors one after the other, so that no more than one of them is in memory."""
    header, offset = {}, 0
    for name, shape in models.shapes(model).items():
        size = 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64 + 56)  # Tensors begin on 64 bytes.
    rng = np.random.default_rng(seed)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, shape in models.shapes(model).items():
            file.write(random_weight(name, shape, rng).tobytes())


def read(path):
    """The arrays of a file in f32, in place."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    data = np.memmap(path, np.uint8, "r", offset=8 + size)
    return {name: data[slice(*each["data_offsets"])].view(np.float32).reshape(each["shape"])
            for name, each in header.items() if name != "__metadata__"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=models.MODELS)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    write(models.MODELS[options.model], options.output, options.seed)


if __name__ == "__main__":
    main()
