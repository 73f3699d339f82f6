"""Files of weights: safetensors written and read, random ones, and those that a variant of a model takes (bf16, int8, a rank's part)."""
import dataclasses
import json
import os
import pathlib

import ml_dtypes
import model as models
import numpy as np

KINDS = {"F32": np.dtype(np.float32), "F16": np.dtype(np.float16), "BF16": np.dtype(ml_dtypes.bfloat16), "I8": np.dtype(np.int8)}
NAMES = {kind: name for name, kind in KINDS.items()}


def write(path, described, make):
    """Tensors one after the other, so that no more than one of them is in memory; `described` has shapes and types by name."""
    header, offset = {}, 0
    for name, each in described.items():
        size = each.dtype.itemsize * int(np.prod(each.shape))
        header[name] = {"dtype": NAMES[np.dtype(each.dtype)], "shape": list(each.shape), "data_offsets": [offset, offset + size]}
        offset += size + -size % 4  # The next one may be of f32.
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64 + 56)  # Tensors begin on 64 bytes.
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, each in described.items():
            made = np.ascontiguousarray(make(name, each), each.dtype)
            if made.shape != tuple(each.shape):
                raise ValueError(f"{name} is {made.shape} and should be {each.shape}")
            file.write(made.tobytes() + bytes(-made.nbytes % 4))


def header_of(path):
    """What the file says of its tensors, and where they begin."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    header.pop("__metadata__", None)
    return header, 8 + size


def read(path):
    """The arrays of a file, in place."""
    header, begin = header_of(path)
    data = np.memmap(path, np.uint8, "r", offset=begin)
    return {name: data[slice(*each["data_offsets"])].view(KINDS[each["dtype"]]).reshape(each["shape"]) for name, each in header.items()
            if each["dtype"] in KINDS}


def published(folder):
    """The model and the file of weights of a folder with config.json and model.safetensors, as `transformers` writes them."""
    folder = pathlib.Path(folder)
    names = header_of(folder / "model.safetensors")[0]
    prefix = "transformer." if "transformer.wte.weight" in names else ""
    return models.of_config(json.loads((folder / "config.json").read_text(encoding="utf-8")), prefix), folder / "model.safetensors"


def find(name):
    """A model by its name, or by the folder in which it was published."""
    if name in models.MODELS:
        return models.MODELS[name]
    if os.path.isdir(name):
        return published(name)[0]
    raise SystemExit(f"'{name}' is no folder, and none of {', '.join(models.MODELS)}")


def write_random(model, path, seed=1):
    rng = np.random.default_rng(seed)

    def make(name, each):
        if name.endswith(".bias"):
            return np.zeros(each.shape, np.float32)
        if len(each.shape) == 1:
            return np.ones(each.shape, np.float32)
        return rng.standard_normal(each.shape, np.float32) * np.float32(0.02 if each.shape[-1] >= 512 else 0.15)

    write(path, models.shapes(dataclasses.replace(model, kind="f32", ranks=1, prefix="")), make)


def in_bytes(weight):
    """A weight, a row for each output, as int8 with a scale for each row."""
    scale = np.maximum(np.abs(weight).max(axis=1), 1e-30) / 127
    return np.rint(weight / scale[:, None]).astype(np.int8), scale.astype(np.float32)


class Prepared:
    """The weights of a variant, made of whole ones in f32, f16 or bf16."""

    def __init__(self, model, weights, rank=0):
        self.model, self.weights, self.rank, self.products = model, weights, rank, models.products(model)

    def whole(self, name):
        return np.asarray(self.weights[self.model.prefix + name], np.float32)

    def part(self, value, dimension, own, pieces=1):
        """This rank's `own` numbers of that dimension, the same part of each piece: queries, keys and values lie side by side. Behind the last are zeros."""
        def cut(piece):
            room = own // pieces * self.model.ranks - piece.shape[dimension]
            padded = np.pad(piece, [(0, room if i == dimension else 0) for i in range(piece.ndim)])
            return np.split(padded, self.model.ranks, dimension)[self.rank]

        return np.concatenate([cut(piece) for piece in np.split(value, pieces, dimension)], dimension)

    def product(self, name):
        value, (inner, outer, how) = self.whole(f"{name}.weight"), self.products.get(name, (0, 0, ""))
        if f"{name}.weight" == self.model.last:
            return self.part(value, 0, self.model.vocabulary // self.model.ranks) if self.model.last_is_shared else value
        outputs = 0 if self.model.groups else 1
        value = self.part(value, 1 - outputs, inner) if how == "rows" else self.part(value, outputs, outer, 3 if how == "thirds" else 1)
        return value.T if self.model.kind == "int8" and not self.model.groups else value

    def make(self, name, each):
        if name.endswith(".scale"):
            return in_bytes(self.product(name.removesuffix(".weight.scale")))[1]
        product = name.removesuffix(".weight")
        if product in self.products or (name == self.model.last != self.model.table):
            return in_bytes(self.product(product))[0] if each.dtype == np.int8 else self.product(product)
        how = self.products.get(name.removesuffix(".bias"), (0, 0, "rows"))[2]
        return self.whole(name) if how == "rows" else self.part(self.whole(name), 0, each.shape[0], 3 if how == "thirds" else 1)


def prepare(model, source, path, rank=0):
    """The file that the variant takes, of the published one."""
    prepared = Prepared(model, read(source), rank)
    write(path, models.shapes(model), prepared.make)
