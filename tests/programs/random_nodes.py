"""What random programs are made of. A node holds how it is written in MLIR and what it computes, with NumPy, from tensors that
know how far off they may be.

Floats are computed in f64 with a bound of the error beside each number, so that a wrong number is told from a rounded one:
each operation adds half a unit in the last place of its type; sums add it for each step in f32, for halves too.
"""
import dataclasses

import numpy as np

UNIT = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
TINY = {"f64": 1e-300, "f32": 1e-37, "f16": 6e-8, "bf16": 1e-37}  # What may be flushed or denormal.
FLOATS = tuple(UNIT)
INTEGERS = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
LARGEST = {"f64": 1e6, "f32": 1e6, "f16": 2e3, "bf16": 1e6}


@dataclasses.dataclass
class Tensor:
    kind: str
    value: np.ndarray  # float64 for floats.
    error: np.ndarray | None = None  # Of floats.

    @property
    def shape(self):
        return self.value.shape

    @property
    def type(self):
        return "tensor<" + "".join(f"{size}x" for size in self.shape) + self.kind + ">"


def rounded(kind, value, error, steps=1.0):
    """The result of an operation on floats: its own rounding comes to the error of its operands."""
    return value, error * 1.01 + steps * UNIT[kind] * np.abs(value) + TINY[kind]


class Rejected(Exception):
    """A node that would tell nothing: too large, or too inexact."""


def checked(kind, value, error=None):
    if kind not in FLOATS:
        return Tensor(kind, value.astype(INTEGERS[kind]))
    scale = np.abs(value).max(initial=0)
    if scale > LARGEST[kind] or (error.max(initial=0) > 0.05 * scale + 1e-3):
        raise Rejected()
    return Tensor(kind, value, error)


# Expressions in the bodies of linalg.generic: tuples ("in", i), ("constant", c), ("index", loop), (operation, operands...) ---

FLOAT_OPERATIONS = {"arith.addf": 2, "arith.subf": 2, "arith.mulf": 2, "arith.maximumf": 2, "arith.minimumf": 2, "arith.negf": 1,
                    "math.absf": 1, "math.tanh": 1}
INTEGER_OPERATIONS = {"arith.addi": 2, "arith.subi": 2, "arith.muli": 2, "arith.andi": 2, "arith.ori": 2, "arith.xori": 2,
                      "arith.maxsi": 2, "arith.minsi": 2, "arith.maxui": 2, "arith.minui": 2}


def compute_float(kind, name, operands):
    (a, ea), (b, eb) = operands[0], operands[-1]
    if name == "arith.addf":
        return rounded(kind, a + b, ea + eb)
    if name == "arith.subf":
        return rounded(kind, a - b, ea + eb)
    if name == "arith.mulf":
        return rounded(kind, a * b, np.abs(a) * eb + np.abs(b) * ea + ea * eb)
    if name == "arith.maximumf":
        return np.maximum(a, b), np.maximum(ea, eb)
    if name == "arith.minimumf":
        return np.minimum(a, b), np.maximum(ea, eb)
    if name == "arith.negf":
        return -a, ea
    if name == "math.absf":
        return np.abs(a), ea
    if name == "math.tanh":
        return rounded(kind, np.tanh(a), ea, 8)
    raise KeyError(name)


def compute_integer(kind, name, operands):
    a, b = operands[0], operands[-1]
    dtype = INTEGERS[kind]
    if kind == "i1":
        table = {"addi": a ^ b, "subi": a ^ b, "muli": a & b, "andi": a & b, "ori": a | b, "xori": a ^ b,
                 "maxsi": a & b, "minsi": a | b, "maxui": a | b, "minui": a & b}
        return table[name.split(".")[1]]
    unsigned = np.dtype(dtype).name.replace("int", "uint")
    ua, ub = a.astype(unsigned), b.astype(unsigned)
    table = {"addi": ua + ub, "subi": ua - ub, "muli": ua * ub, "andi": a & b, "ori": a | b, "xori": a ^ b,
             "maxsi": np.maximum(a, b), "minsi": np.minimum(a, b), "maxui": np.maximum(ua, ub), "minui": np.minimum(ua, ub)}
    return table[name.split(".")[1]].astype(dtype)


def literal(kind, number):
    if kind in FLOATS:
        return f"{float(number):.6e}"
    return ("true" if number else "false") if kind == "i1" else str(int(number))


class Body:
    """Writes an expression's operations, one to a line."""

    def __init__(self, kind, names):
        self.kind, self.names, self.lines, self.count = kind, names, [], 0

    def fresh(self):
        self.count += 1
        return f"%t{self.count}_{len(self.names)}"

    def line(self, text):
        name = self.fresh()
        self.lines.append(f"      {name} = {text}")
        return name

    def write(self, expression):
        head = expression[0]
        if head == "in":
            return self.names[expression[1]]
        if head == "constant":
            constant = literal(self.kind, expression[1])
            return self.line(f"arith.constant {constant}" + ("" if self.kind == "i1" else f" : {self.kind}"))
        if head == "index":
            index = self.line(f"linalg.index {expression[1]} : index")
            if self.kind == "i64":
                return self.line(f"arith.index_cast {index} : index to i64")
            word = self.line(f"arith.index_cast {index} : index to i32")
            if self.kind in FLOATS:
                return self.line(f"arith.sitofp {word} : i32 to {self.kind}")
            return word if self.kind == "i32" else self.line(f"arith.trunci {word} : i32 to {self.kind}")
        operands = ", ".join(self.write(each) for each in expression[1:])
        return self.line(f"{head} {operands} : {self.kind}")


def compute(expression, kind, inputs, sizes):
    """An expression over the whole space of loops; a pair of value and error for floats."""
    head = expression[0]
    is_float = kind in FLOATS
    if head == "in":
        return inputs[expression[1]]
    if head in ("constant", "index"):
        if head == "constant":
            value = np.full(sizes, expression[1])
        else:
            shape = [1] * len(sizes)
            shape[expression[1]] = -1
            value = np.broadcast_to(np.arange(sizes[expression[1]]).reshape(shape), sizes)
        if not is_float:
            return value.astype(np.int64).astype(INTEGERS[kind]) if kind != "i1" else (value % 2).astype(bool)
        return rounded(kind, value.astype(float), np.zeros(sizes))
    operands = [compute(each, kind, inputs, sizes) for each in expression[1:]]
    return compute_float(kind, head, operands) if is_float else compute_integer(kind, head, operands)


@dataclasses.dataclass
class Axis:
    """Where a dimension of an operand is read: stride * loop + offset; a stride of -1 goes backwards."""

    loop: int
    stride: int = 1
    offset: int = 0

    def text(self):
        term = f"d{self.loop}" if self.stride == 1 else f"d{self.loop} * {self.stride}"
        return term + (f" + {self.offset}" if self.offset else "")

    def places(self, sizes):
        shape = [1] * len(sizes)
        shape[self.loop] = -1
        return (np.arange(sizes[self.loop]) * self.stride + self.offset).reshape(shape)


NEUTRAL = {"add": 0, "max": None, "min": None}


@dataclasses.dataclass
class Generic:
    """linalg.generic: inputs by maps, several results, sums and the like over some loops."""

    kind: str
    sizes: list  # Of the loops.
    operands: list  # Numbers of nodes' results: inputs, then what results begin with where that is a tensor.
    axes: list  # For each input its axes.
    outputs: list  # For each result the order of the loops that it has.
    expressions: list
    combiners: list  # For each result None (no reduction), "add", "max" or "min".
    begins: list = ()  # For each result the number of the operand that it begins with, or None.

    def results(self, tensors):
        inputs = [self._read(tensor, axes) for tensor, axes in zip(tensors, self.axes)]
        return [self._result(i, inputs, tensors) for i in range(len(self.outputs))]

    def begin(self, i):
        return self.begins[i] if self.begins else None

    def _read(self, tensor, axes):
        if not axes:
            places = ()
        else:
            places = tuple(np.broadcast_to(axis.places(self.sizes), self.sizes) for axis in axes)
        value = np.broadcast_to(tensor.value[places], self.sizes)
        return value if tensor.error is None else (value, np.broadcast_to(tensor.error[places], self.sizes))

    def _result(self, i, inputs, tensors):
        begin = None if self.begin(i) is None else tensors[self.begin(i)]
        made = compute(self.expressions[i], self.kind, inputs, self.sizes)
        order = self.outputs[i]
        gone = tuple(loop for loop in range(len(self.sizes)) if loop not in order)
        kept = sorted(order)
        back = [kept.index(loop) for loop in order]
        if self.kind not in FLOATS:
            value = made
            if self.combiners[i]:
                value = {"add": self._wrapped_sum, "max": np.max, "min": np.min}[self.combiners[i]](value, axis=gone)
            value = np.transpose(value, back)
            if begin:
                with np.errstate(over="ignore"):
                    value = {"add": np.add, "max": np.maximum, "min": np.minimum}[self.combiners[i]](begin.value, value)
            return checked(self.kind, value)
        value, error = np.broadcast_to(made[0], self.sizes), np.broadcast_to(made[1], self.sizes)
        if self.combiners[i] == "add":
            steps = float(np.prod([self.sizes[loop] for loop in gone]))
            unit = UNIT["f64" if self.kind == "f64" else "f32"]
            error = error.sum(axis=gone) + steps * unit * np.abs(value).sum(axis=gone)
            value = value.sum(axis=gone)
            if begin:  # Each of the steps may round what it begins with.
                first, unsure = (np.transpose(each, np.argsort(back)) for each in (begin.value, begin.error))
                value, error = value + first, error + unsure + (steps + 1) * UNIT[self.kind] * (np.abs(first) + np.abs(value))
            value, error = rounded(self.kind, value, error)
        elif self.combiners[i]:
            value = (np.max if self.combiners[i] == "max" else np.min)(value, axis=gone)
            error = error.max(axis=gone)
            if begin:
                first, unsure = (np.transpose(each, np.argsort(back)) for each in (begin.value, begin.error))
                value = (np.maximum if self.combiners[i] == "max" else np.minimum)(value, first)
                error = np.maximum(error, unsure)
        return checked(self.kind, np.transpose(value, back), np.transpose(error, back))

    @staticmethod
    def _wrapped_sum(value, axis):
        return np.logical_xor.reduce(value, axis=axis) if value.dtype == bool else value.sum(axis=axis, dtype=value.dtype)

    def write(self, name, operands, types, results):
        loops = ", ".join(f"d{i}" for i in range(len(self.sizes)))
        maps = [f"affine_map<({loops}) -> ({', '.join(axis.text() for axis in axes)})>" for axes in self.axes]
        maps += [f"affine_map<({loops}) -> ({', '.join(f'd{loop}' for loop in order)})>" for order in self.outputs]
        kinds = ", ".join('"reduction"' if self._is_reduced(loop) else '"parallel"' for loop in range(len(self.sizes)))
        lines, firsts = [], []
        count_of_inputs = len(self.axes)
        for i, result in enumerate(results):
            if self.begin(i) is not None:
                firsts.append(operands[self.begin(i)])
                continue
            lines.append(f"    {name}_e{i} = tensor.empty() : {result.type}")
            firsts.append(f"{name}_e{i}")
            if self.combiners[i]:
                scalar = literal(self.kind, self._first(i))
                lines.append(f"    {name}_c{i} = arith.constant {scalar}" + ("" if self.kind == "i1" else f" : {self.kind}"))
                lines.append(f"    {name}_f{i} = linalg.fill ins({name}_c{i} : {self.kind}) outs({name}_e{i} : {result.type}) -> {result.type}")
                firsts[i] = f"{name}_f{i}"
        made = ", ".join(result.type for result in results)
        operands, types = operands[:count_of_inputs], types[:count_of_inputs]
        inputs = f"ins({', '.join(operands)} : {', '.join(types)}) " if operands else ""
        count = f":{len(results)}" if len(results) > 1 else ""
        lines.append(f"    {name}{count} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}")
        lines.append(f"        {inputs}outs({', '.join(firsts)} : {made}) {{")
        arguments = [f"%x{i}" for i in range(len(operands))] + [f"%y{i}" for i in range(len(results))]
        lines.append(f"    ^bb0({', '.join(f'{each}: {self.kind}' for each in arguments)}):")
        body = Body(self.kind, arguments)
        yielded = [self._combined(body, i, len(operands)) for i in range(len(results))]
        lines += body.lines
        lines.append(f"      linalg.yield {', '.join(yielded)} : {', '.join([self.kind] * len(results))}")
        lines.append(f"    }} -> {made if len(results) == 1 else f'({made})'}")
        return lines

    def _is_reduced(self, loop):
        return any(loop not in order for order in self.outputs)

    def _first(self, i):
        if self.combiners[i] == "add":
            return 0
        sign = -1 if self.combiners[i] == "max" else 1
        if self.kind in FLOATS:
            return sign * LARGEST[self.kind] * 8
        bits = np.iinfo(INTEGERS[self.kind])
        return bits.min if sign < 0 else bits.max

    def _combined(self, body, i, inputs):
        value = body.write(self.expressions[i])
        if not self.combiners[i]:
            return value
        suffix = "f" if self.kind in FLOATS else "i"
        name = {"add": "add" + suffix, "max": "maximumf" if suffix == "f" else "maxsi", "min": "minimumf" if suffix == "f" else "minsi"}
        return body.line(f"arith.{name[self.combiners[i]]} %y{i}, {value} : {self.kind}")
