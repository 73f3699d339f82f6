"""The other nodes of random programs: casts, slices, concatenations, padding, reshapes, products, arithmetic on whole tensors."""
import dataclasses

import numpy as np

from random_nodes import FLOATS, INTEGERS, UNIT, Tensor, checked, compute_float, compute_integer, literal, rounded


def moved(tensor, change):
    """The same elements elsewhere."""
    return Tensor(tensor.kind, change(tensor.value), None if tensor.error is None else change(tensor.error))


@dataclasses.dataclass
class Arithmetic:
    """arith on tensors, without a body."""

    operation: str
    operands: list

    def results(self, tensors):
        kind = tensors[0].kind
        if kind in FLOATS:
            return [checked(kind, *compute_float(kind, self.operation, [(each.value, each.error) for each in tensors]))]
        return [checked(kind, compute_integer(kind, self.operation, [each.value for each in tensors]))]

    def write(self, name, operands, types, results):
        return [f"    {name} = {self.operation} {', '.join(operands)} : {types[0]}"]


@dataclasses.dataclass
class Cast:
    kind: str
    operands: list

    def results(self, tensors):
        (source,) = tensors
        if self.kind in FLOATS and source.kind in FLOATS:
            if UNIT[self.kind] <= UNIT[source.kind] and (source.kind, self.kind) != ("f16", "bf16"):
                return [checked(self.kind, source.value, source.error)]
            return [checked(self.kind, *rounded(self.kind, source.value, source.error))]
        if self.kind in FLOATS:
            value = source.value.astype(float) * (-1 if source.kind == "i1" else 1)
            return [checked(self.kind, *rounded(self.kind, value, np.zeros(value.shape)))]
        return [checked(self.kind, self._integers(source))]

    def _integers(self, source):
        if self.kind == "i1":
            return source.value % 2 != 0
        return (-source.value.astype(INTEGERS[self.kind]) if source.kind == "i1" else source.value).astype(INTEGERS[self.kind])

    def write(self, name, operands, types, results):
        source = types[0].rstrip(">").split("x")[-1].split("<")[-1]
        widths = [{"bf16": 16}.get(kind) or int(kind[1:]) for kind in (source, self.kind)]
        if source in FLOATS:
            operation = "arith.extf" if widths[1] > widths[0] else "arith.truncf"
        elif self.kind in FLOATS:
            operation = "arith.sitofp"
        else:
            operation = "arith.extsi" if widths[1] > widths[0] else "arith.trunci"
        return [f"    {name} = {operation} {operands[0]} : {types[0]} to {results[0].type}"]


@dataclasses.dataclass
class ExtractSlice:
    offsets: list
    sizes: list
    strides: list
    operands: list

    def _slices(self):
        return tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in zip(self.offsets, self.sizes, self.strides))

    def results(self, tensors):
        return [moved(tensors[0], lambda value: value[self._slices()].copy())]

    def write(self, name, operands, types, results):
        return [f"    {name} = tensor.extract_slice {operands[0]}{self.offsets} {self.sizes} {self.strides} : {types[0]} to {results[0].type}"]


class InsertSlice(ExtractSlice):
    """The second operand into a part of the first."""

    def results(self, tensors):
        into, piece = tensors

        def put(value, part):
            value = value.copy()
            value[self._slices()] = part
            return value

        return [Tensor(into.kind, put(into.value, piece.value), None if into.error is None else put(into.error, piece.error))]

    def write(self, name, operands, types, results):
        return [f"    {name} = tensor.insert_slice {operands[1]} into {operands[0]}{self.offsets} {self.sizes} {self.strides} : "
                f"{types[1]} into {types[0]}"]


@dataclasses.dataclass
class Concat:
    dimension: int
    operands: list

    def results(self, tensors):
        value = np.concatenate([each.value for each in tensors], self.dimension)
        error = None if tensors[0].error is None else np.concatenate([each.error for each in tensors], self.dimension)
        return [Tensor(tensors[0].kind, value, error)]

    def write(self, name, operands, types, results):
        return [f"    {name} = tensor.concat dim({self.dimension}) {', '.join(operands)} : ({', '.join(types)}) -> {results[0].type}"]


@dataclasses.dataclass
class Pad:
    low: list
    high: list
    number: int
    operands: list

    def results(self, tensors):
        widths = list(zip(self.low, self.high))
        (source,) = tensors
        value = np.pad(source.value, widths, constant_values=self.number)
        return [Tensor(source.kind, value, None if source.error is None else np.pad(source.error, widths))]

    def write(self, name, operands, types, results):
        kind = results[0].kind
        arguments = ", ".join(f"%i{i}: index" for i in range(len(self.low)))
        suffix = "" if kind == "i1" else f" : {kind}"
        return [f"    {name}_n = arith.constant {literal(kind, self.number)}{suffix}",
                f"    {name} = tensor.pad {operands[0]} low{self.low} high{self.high} {{", f"    ^bb0({arguments}):",
                f"      tensor.yield {name}_n : {kind}", f"    }} : {types[0]} to {results[0].type}"]


@dataclasses.dataclass
class Reshape:
    """Groups of dimensions become one, or one becomes a group."""

    shape: list
    groups: list
    operands: list

    def results(self, tensors):
        return [moved(tensors[0], lambda value: value.reshape(self.shape))]

    def write(self, name, operands, types, results):
        if len(self.groups) == len(self.shape):
            return [f"    {name} = tensor.collapse_shape {operands[0]} {self.groups} : {types[0]} into {results[0].type}"]
        return [f"    {name} = tensor.expand_shape {operands[0]} {self.groups} output_shape {self.shape} : {types[0]} into {results[0].type}"]


@dataclasses.dataclass
class ArgMax:
    """The largest along a dimension and where it is; the first of equal ones."""

    dimension: int
    operands: list

    def results(self, tensors):
        (source,) = tensors
        value = source.value.max(self.dimension)
        error = None if source.error is None else source.error.max(self.dimension)
        return [Tensor(source.kind, value, error), Tensor("i32", source.value.argmax(self.dimension).astype(np.int32))]

    def write(self, name, operands, types, results):
        kind, rank = results[0].kind, len(results[0].shape) + 1
        loops = ", ".join(f"d{i}" for i in range(rank))
        kept = ", ".join(f"d{i}" for i in range(rank) if i != self.dimension)
        maps = f"affine_map<({loops}) -> ({loops})>, affine_map<({loops}) -> ({kept})>, affine_map<({loops}) -> ({kept})>"
        kinds = ", ".join('"reduction"' if i == self.dimension else '"parallel"' for i in range(rank))
        compare, first = ("arith.cmpf o", -1e30 if kind in ("f32", "f64", "bf16") else -6e4) if kind in FLOATS else ("arith.cmpi s", np.iinfo(INTEGERS[kind]).min)
        equal = compare + "eq" if kind in FLOATS else "arith.cmpi eq"
        types_of = ", ".join(each.type for each in results)
        return [
            f"    {name}_z = arith.constant 0 : i32", f"    {name}_m = arith.constant {literal(kind, first)} : {kind}",
            f"    {name}_a = tensor.empty() : {results[0].type}", f"    {name}_b = tensor.empty() : {results[1].type}",
            f"    {name}_f = linalg.fill ins({name}_m : {kind}) outs({name}_a : {results[0].type}) -> {results[0].type}",
            f"    {name}_g = linalg.fill ins({name}_z : i32) outs({name}_b : {results[1].type}) -> {results[1].type}",
            f"    {name}:2 = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}",
            f"        ins({operands[0]} : {types[0]}) outs({name}_f, {name}_g : {types_of}) {{",
            f"    ^bb0(%x: {kind}, %m: {kind}, %w: i32):", f"      %i = linalg.index {self.dimension} : index",
            "      %p = arith.index_cast %i : index to i32", f"      %more = {compare}gt, %x, %m : {kind}",
            f"      %same = {equal}, %x, %m : {kind}", "      %before = arith.cmpi slt, %p, %w : i32",
            "      %tie = arith.andi %same, %before : i1", "      %take = arith.ori %more, %tie : i1",
            f"      %v = arith.select %more, %x, %m : {kind}", "      %q = arith.select %take, %p, %w : i32",
            f"      linalg.yield %v, %q : {kind}, i32", f"    }} -> ({types_of})"]
