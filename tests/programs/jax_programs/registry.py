"""What a program of this folder is: a JAX function with the arguments that it is tried with.

    @program(f32(4, 8), f32(8, 3))
    def dense(x, w): ...

Arguments are the same in each run: normal numbers for floats, numbers of a range for integers. `sizes` names dimensions that
stay unknown while the function is lowered ("b, 8" for each argument); the arguments' own sizes are used in the call, and those of
each other list of arguments in `also`.
"""
import dataclasses
import zlib
from collections.abc import Callable

import numpy as np


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    function: Callable
    arguments: tuple
    sizes: tuple = ()  # For each argument its symbolic shape or None.
    donate: tuple = ()
    tolerance: float | None = None  # As a share of the largest number of the result; None: by the result's type.
    x64: bool = False
    libraries: tuple = ()  # Plugins that do part of it.
    also: tuple = ()  # Arguments of other sizes that it is called with, too.


programs: dict[str, Program] = {}


@dataclasses.dataclass(frozen=True)
class Argument:
    """How one argument is made."""

    shape: tuple
    kind: str
    low: float | None = None
    high: float | None = None

    def make(self, seed):
        import ml_dtypes  # Brings bfloat16 to NumPy.

        del ml_dtypes
        source = np.random.default_rng(seed)
        kind = np.dtype(self.kind)
        if kind == np.bool_:
            return source.integers(0, 2, self.shape).astype(bool)
        if kind.kind in "iu":
            low = -50 if self.low is None and kind.kind == "i" else self.low or 0
            high = 100 if self.high is None else self.high
            return source.integers(int(low), int(high), self.shape).astype(kind)
        if kind.kind == "c":
            return (source.normal(size=self.shape) + 1j * source.normal(size=self.shape)).astype(kind)
        if self.low is not None:
            return source.uniform(self.low, self.high, self.shape).astype(kind)
        return source.normal(size=self.shape).astype(kind)


def maker(kind):
    def make(*shape, low=None, high=None):
        return Argument(shape, kind, low, high)

    return make


f16, f32, f64, bf16 = maker("float16"), maker("float32"), maker("float64"), maker("bfloat16")
i8, i16, i32, i64 = maker("int8"), maker("int16"), maker("int32"), maker("int64")
u8, u16, u32, u64 = maker("uint8"), maker("uint16"), maker("uint32"), maker("uint64")
c64, c128, boolean = maker("complex64"), maker("complex128"), maker("bool")


def made_arguments(name, arguments):
    first = zlib.crc32(name.encode())
    return tuple(a.make(first + i) if isinstance(a, Argument) else np.asarray(a) for i, a in enumerate(arguments))


def program(*arguments, also=(), **options):
    def add(function):
        name = function.__name__
        assert name not in programs, f"two programs are called {name}"
        made = made_arguments(name, arguments)
        programs[name] = Program(name, function, made, also=tuple(made_arguments(name, each) for each in also), **options)
        return function

    return add
