"""The questions of the VM benches: the work, the unit it is counted in, and the answer.

An answer comes from Python, which none of the contenders is made of. The programs are beside this file, one folder for each
question, one file for each contender's language. The figure that DESIGN.md section 10 asks for stands with the question.
"""

import dataclasses
import functools


@dataclasses.dataclass(frozen=True)
class Reach:
    """What Baton is to reach: at most `factor` times `peer`, or at most `factor` units where there is no peer."""

    factor: float
    peer: str = ""

    def __str__(self) -> str:
        return f"<= {self.factor:g} x {self.peer}" if self.peer else f"<= {self.factor:g}"

    def holds(self, figures: dict[str, float]) -> bool | None:
        """None while a figure is missing."""
        if "baton" not in figures or (self.peer and self.peer not in figures):
            return None
        return figures["baton"] <= self.factor * figures.get(self.peer, 1)


@dataclasses.dataclass(frozen=True)
class Question:
    name: str
    unit: str
    arguments: tuple[int, ...] = ()
    units: int = 1  # in one repeat of the work
    answer: float | None = None  # of one call; None: the export returns nothing
    phase: str = "call"  # bench/support/contender.hpp
    folder: str = ""  # where the programs are, when not under the question's name
    reach: Reach | None = None
    iree_in_design: float | None = None  # DESIGN.md's figure of the same work, from another machine

    @property
    def programs(self) -> str:
        return self.folder or self.name


def _fib_calls(n: int) -> int:
    return 1 if n < 2 else 1 + _fib_calls(n - 1) + _fib_calls(n - 2)


def _fib(n: int) -> int:
    return n if n < 2 else _fib(n - 1) + _fib(n - 2)


def _recurrence(n: int) -> float:
    return functools.reduce(lambda x, _: x * 0.9999 + 0.25, range(n), 1.0)


def _wide(depth: int, seed: int) -> int:
    return sum(seed + k for k in range(20)) + (_wide(depth - 1, seed + 1) if depth > 0 else 0)


VERIFY_SIZES = (1_000, 10_000, 100_000)
GENERATED = "generated"  # programs that run.py has written, in its build folder
FIB, LOOPS, ELEMENTS, NESTS = 20, 100_000, 16_384, 200

QUESTIONS = [
    Question("entry", "call", reach=Reach(15), iree_in_design=50),
    Question("checked_call", "call", (3, 4), answer=14, reach=Reach(25)),
    Question("internal_call", "call", (FIB,), _fib_calls(FIB), _fib(FIB), reach=Reach(0.2, "iree")),
    Question("native_import", "call", (LOOPS,), LOOPS,
             functools.reduce(lambda total, i: total ^ (i + 1), range(LOOPS), 0), reach=Reach(8), iree_in_design=40),
    Question("integer_loop", "iteration", (LOOPS,), LOOPS, LOOPS, reach=Reach(0.5, "iree"), iree_in_design=3.3),
    Question("counted_loop", "iteration", (LOOPS,), LOOPS, LOOPS),
    Question("float_loop", "iteration", (LOOPS,), LOOPS, _recurrence(LOOPS)),
    Question("blob_reduction", "element", (ELEMENTS,), ELEMENTS, sum(3 * i for i in range(ELEMENTS)),
             reach=Reach(0.4, "iree"), iree_in_design=6.5),
    Question("live_registers", "call", (NESTS,), NESTS * 9, sum(_wide(8, i) for i in range(NESTS))),
    Question("load", "module", (1,), phase="load", folder="module_life", reach=Reach(700)),
    Question("link", "module", (1,), phase="link", folder="module_life", reach=Reach(150)),
    Question("state", "context", (1,), phase="state", folder="module_life", reach=Reach(30)),
    Question("drop", "context", (1,), phase="drop", folder="module_life"),
    Question("idle", "bytes/context", (1,), phase="idle", folder="module_life", reach=Reach(16_384)),
    *(Question(f"verify_{size // 1000}k", "instruction", (1,), size, phase="load", folder=f"{GENERATED}/{size}",
               reach=Reach(15)) for size in VERIFY_SIZES),
]
