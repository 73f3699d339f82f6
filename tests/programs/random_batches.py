#!/usr/bin/env python3
"""Random loops over batches, whose turns keep the items apart or, now and then, join them, compiled and run, against NumPy.

    random_batches.py --count=500 --device=vulkan        from a new seed, which is printed
    random_batches.py --seed=17 --count=1 --keep=folder   that program again, and its text

Items may be any dimension of a tensor, and some tensors are the same for all. Elements are integers: they are exact.
"""
import random
import sys

import numpy as np

import random_options
import tools

TURNS = 5
MAPS = {"row": "(b, i) -> (b, i)", "turned": "(b, i) -> (i, b)", "number": "(b, i) -> (b)"}


class Writer:
    """A program's text, line by line, and what it computes: functions that are run as often as their lines are."""

    def __init__(self, seed):
        self.source = random.Random(seed)
        self.items, self.size = self.source.choice([9, 64, 257, 1000, 2000, 4096]), self.source.choice([2, 3, 8, 17])
        b, n = self.items, self.size
        self.shapes = {"row": (b, n), "turned": (n, b), "number": (b,), "shared": (n, n), "square": (b, n, n), "history": (TURNS, b, n),
                       "late": (b, TURNS, n)}
        self.names = 0

    def name(self):
        self.names += 1
        return f"%v{self.names}"

    def type(self, kind):
        return f"tensor<{'x'.join(map(str, self.shapes[kind]))}xi32>"

    def generic(self, kinds, values, made_kind, maps, iterators, body, init=None):
        """`maps` of the values and the result; `body` gets the names of the elements, and of what is made so far."""
        made, empty = self.name(), self.name()
        names = [f"%e{i}" for i in range(len(values) + 1)]
        lines = [f"{empty} = tensor.empty() : {self.type(made_kind)}"]
        begin = empty
        if init is not None:
            zero, begin = self.name(), self.name()
            lines += [f"{zero} = arith.constant {init} : i32",
                      f"{begin} = linalg.fill ins({zero} : i32) outs({empty} : {self.type(made_kind)}) -> {self.type(made_kind)}"]
        types = ", ".join(self.type(kind) for kind in kinds)
        inputs = f"ins({', '.join(values)} : {types}) " if values else ""
        lines += [f"{made} = linalg.generic {{indexing_maps = [{', '.join(f'affine_map<{each}>' for each in maps)}], "
                  f"iterator_types = [{', '.join(f'{chr(34)}{each}{chr(34)}' for each in iterators)}]}} "
                  f"{inputs}outs({begin} : {self.type(made_kind)}) {{",
                  f"^bb0({', '.join(f'{each}: i32' for each in names)}):", *(f"  {line}" for line in body(*names)), f"}} -> {self.type(made_kind)}"]
        return made, lines

    # Statements: the name of what is made, its kind, lines, and what it is computed by ------------------------------------------

    def elements(self, scope):
        """Of rows, turned rows and numbers, and of the places where they are."""
        kinds = [self.source.choice(["row", "row", "turned", "number"]) for _ in range(2)]
        values = [scope.some(self, kind) for kind in kinds]
        made_kind = self.source.choice(["row", "turned"])
        loop, factor = self.source.randrange(2), self.source.randint(-3, 3)

        def body(x, y, _):
            return [f"%f = arith.constant {factor} : i32", f"%m = arith.muli {x}, %f : i32", f"%s = arith.addi %m, {y} : i32",
                    f"%k = linalg.index {loop} : index", "%p = arith.index_cast %k : index to i32", "%r = arith.addi %s, %p : i32", "linalg.yield %r : i32"]

        made, lines = self.generic(kinds, values, made_kind, [MAPS[kind] for kind in [*kinds, made_kind]], ["parallel"] * 2, body)

        def run(held):
            x, y = (self.as_row(held[value], kind) for value, kind in zip(values, kinds))
            place = np.arange(self.items)[:, None] if loop == 0 else np.arange(self.size)[None]
            result = (x * factor + y + place).astype(np.int32) + np.zeros(self.shapes["row"], np.int32)
            held[made] = result if made_kind == "row" else result.T

        return made, made_kind, lines, run

    @staticmethod
    def as_row(value, kind):
        return value.T if kind == "turned" else value[:, None] if kind == "number" else value

    def product(self, scope):
        """With the matrix of all items, or with that of each."""
        left, kind = scope.some(self, "row"), self.source.choice(["shared", "square"])
        right = scope.some(self, kind)
        other = "(b, i, k) -> (k, i)" if kind == "shared" else "(b, i, k) -> (b, k, i)"
        made, lines = self.generic(["row", kind], [left, right], "row", ["(b, i, k) -> (b, k)", other, "(b, i, k) -> (b, i)"],
                                   ["parallel", "parallel", "reduction"],
                                   lambda x, y, sum_: [f"%m = arith.muli {x}, {y} : i32", f"%s = arith.addi {sum_}, %m : i32", "linalg.yield %s : i32"], init=0)

        def run(held):
            held[made] = np.einsum("bk,ki->bi" if kind == "shared" else "bk,bki->bi", held[left], held[right], dtype=np.int32)

        return made, "row", lines, run

    def total(self, scope):
        row = scope.some(self, "row")
        made, lines = self.generic(["row"], [row], "number", [MAPS["row"], MAPS["number"]], ["parallel", "reduction"],
                                   lambda x, sum_: [f"%s = arith.addi {x}, {sum_} : i32", "linalg.yield %s : i32"], init=self.source.randint(-2, 2))
        begin = int(lines[1].split("constant ")[1].split(" ")[0])

        def run(held):
            held[made] = (held[row].sum(1) + begin).astype(np.int32)

        return made, "number", lines, run

    def joined(self, scope):
        """What no division takes apart: the sum of all items."""
        row = scope.some(self, "row")
        over, lines = self.generic(["row"], [row], "row", ["(b, i, c) -> (c, i)", "(b, i, c) -> (b, i)"], ["parallel", "parallel", "reduction"],
                                   lambda x, sum_: [f"%s = arith.addi {x}, {sum_} : i32", "linalg.yield %s : i32"], init=0)

        def run(held):
            held[over] = np.broadcast_to(held[row].sum(0, dtype=np.int32), self.shapes["row"]).astype(np.int32)

        return over, "row", lines, run

    def picked(self, scope):
        """Elements of an item's row by what stands in another one."""
        row, by = scope.some(self, "row"), scope.some(self, "row")

        def body(x, _):
            return [f"%n = arith.constant {self.size} : i32", f"%u = arith.remui {x}, %n : i32", "%j = arith.index_cast %u : i32 to index",
                    "%b = linalg.index 0 : index", f"%r = tensor.extract {row}[%b, %j] : {self.type('row')}", "linalg.yield %r : i32"]

        made, lines = self.generic(["row"], [by], "row", [MAPS["row"], MAPS["row"]], ["parallel"] * 2, body)

        def run(held):
            held[made] = np.take_along_axis(held[row], (held[by].view(np.uint32) % self.size).astype(np.int64), 1)

        return made, "row", lines, run

    def moved(self, scope):
        """Some columns come to stand elsewhere."""
        row, into = scope.some(self, "row"), scope.some(self, "row")
        width = self.source.randint(1, self.size)
        begin, end = (self.source.randint(0, self.size - width) for _ in range(2))
        taken, made, kind = self.name(), self.name(), f"tensor<{self.items}x{width}xi32>"
        sizes = f"[{self.items}, {width}] [1, 1]"
        lines = [f"{taken} = tensor.extract_slice {row}[0, {begin}] {sizes} : {self.type('row')} to {kind}",
                 f"{made} = tensor.insert_slice {taken} into {into}[0, {end}] {sizes} : {kind} into {self.type('row')}"]

        def run(held):
            held[made] = held[into].copy()
            held[made][:, end:end + width] = held[row][:, begin:begin + width]

        return made, "row", lines, run

    def reshaped(self, scope):
        row, wide, made = scope.some(self, "row"), self.name(), self.name()
        kind = f"tensor<{self.items}x1x{self.size}xi32>"
        lines = [f"{wide} = tensor.expand_shape {row} [[0, 1], [2]] output_shape [{self.items}, 1, {self.size}] : {self.type('row')} into {kind}",
                 f"{made} = tensor.collapse_shape {wide} [[0], [1, 2]] : {kind} into {self.type('row')}"]

        def run(held):
            held[made] = held[row]

        return made, "row", lines, run

    def noted(self, scope):
        """A row as one of those of all turns, and one of these."""
        kind = self.source.choice(["history", "late"])
        into, row, made, read = scope.some(self, kind), scope.some(self, "row"), self.name(), self.name()
        turn = scope.turn
        where = f"[{turn}, 0, 0] [1, {self.items}, {self.size}]" if kind == "history" else f"[0, {turn}, 0] [{self.items}, 1, {self.size}]"
        lines = [f"{read} = tensor.extract_slice {into}{where} [1, 1, 1] : {self.type(kind)} to {self.type('row')}",
                 f"{made} = tensor.insert_slice {row} into {into}{where} [1, 1, 1] : {self.type('row')} into {self.type(kind)}"]
        scope.add(read, "row")

        def run(held):
            at = (held[turn],) if kind == "history" else (slice(None), held[turn])
            held[read], held[made] = held[into][at].copy(), held[into].copy()
            held[made][at] = held[row]

        return made, kind, lines, run

    def of_all(self, scope):
        """The matrix of all items, which each computes for itself."""
        one, other = scope.some(self, "shared"), scope.some(self, "shared")
        made, lines = self.generic(["shared"] * 2, [one, other], "shared", ["(i, j) -> (i, j)", "(i, j) -> (j, i)", "(i, j) -> (i, j)"], ["parallel"] * 2,
                                   lambda x, y, _: [f"%s = arith.subi {x}, {y} : i32", "linalg.yield %s : i32"])

        def run(held):
            held[made] = (held[one] - held[other].T).astype(np.int32)

        return made, "shared", lines, run

    def branch(self, scope):
        """One of two rows, by the turn."""
        rows = [scope.some(self, "row") for _ in range(2)]
        made, bound, asks = self.name(), self.name(), self.name()
        limit = self.source.randrange(TURNS)
        inner, inner_lines, run_inner = self.block(scope, 1)
        chosen = inner.some(self, "row")
        lines = [f"{bound} = arith.constant {limit} : index", f"{asks} = arith.cmpi ult, {scope.turn}, {bound} : index",
                 f"{made} = scf.if {asks} -> ({self.type('row')}) {{", *inner_lines, f"  scf.yield {chosen} : {self.type('row')}", "} else {",
                 f"  scf.yield {rows[1]} : {self.type('row')}", "}"]

        def run(held):
            if held[scope.turn] < limit:
                run_inner(held)
                held[made] = held[chosen]
            else:
                held[made] = held[rows[1]]

        return made, "row", lines, run

    def again(self, scope):
        """A loop in a loop."""
        row, made, carried, turn, zero, one, end = scope.some(self, "row"), *(self.name() for _ in range(6))
        inside = scope.inside()
        inside.add(carried, "row")
        inner, inner_lines, run_inner = self.block(inside, 2)
        last = inner.some(self, "row")
        count = self.source.randint(1, 3)
        lines = [f"{zero} = arith.constant 0 : index", f"{one} = arith.constant 1 : index", f"{end} = arith.constant {count} : index",
                 f"{made} = scf.for {turn} = {zero} to {end} step {one} iter_args({carried} = {row}) -> ({self.type('row')}) {{", *inner_lines,
                 f"  scf.yield {last} : {self.type('row')}", "}"]

        def run(held):
            held[carried] = held[row]
            for _ in range(count):
                run_inner(held)
                held[carried] = held[last]
            held[made] = held[carried]

        return made, "row", lines, run

    def block(self, scope, count, joins=False):
        scope = scope.inside()
        all_lines, runs = [], []
        simple = [self.elements, self.elements, self.product, self.total, self.picked, self.moved, self.reshaped, self.noted, self.of_all]
        for _ in range(count):
            choices = simple + ([self.branch, self.again] if count > 2 else []) + ([self.joined] if joins else [])
            made, kind, lines, run = self.source.choice(choices)(scope)
            scope.add(made, kind)
            all_lines += [f"  {line}" for line in lines]
            runs.append(run)

        def run_all(held):
            for each in runs:
                each(held)

        return scope, all_lines, run_all


class Scope:
    def __init__(self, turn, values):
        self.turn, self.values = turn, {kind: list(names) for kind, names in values.items()}

    def inside(self):
        return Scope(self.turn, self.values)

    def add(self, name, kind):
        self.values.setdefault(kind, []).append(name)

    def some(self, writer, kind):
        """Most often one of the last."""
        names = self.values[kind]
        return writer.source.choice(names[-2:] if writer.source.random() < 0.7 else names)


def make_program(seed):
    """The text, the arguments and the results."""
    writer = Writer(seed)
    source, kinds = writer.source, list(writer.shapes)
    arguments = {kind: writer.name() for kind in kinds}
    carried_kinds = [kind for kind in kinds if source.random() < 0.6] or ["row"]
    carried = [writer.name() for _ in carried_kinds]
    scope = Scope("%turn", {kind: [name] for kind, name in arguments.items()})
    for name, kind in zip(carried, carried_kinds):
        scope.add(name, kind)
    scope, lines, run = writer.block(scope, source.randint(5, 12), joins=source.random() < 0.15)
    nexts = [scope.values[kind][-1] for kind in carried_kinds]
    inits = [arguments[kind] for kind in carried_kinds]
    types = [writer.type(kind) for kind in carried_kinds]
    made = f"%made:{len(carried)}"
    pairs = ", ".join(f"{name} = {init}" for name, init in zip(carried, inits))
    # What the loop begins with is returned, too: nobody may have written into it.
    kept = [kind for kind in carried_kinds if source.random() < 0.5]
    result_kinds = carried_kinds + kept
    results = [f"%made#{i}" for i in range(len(carried))] + [arguments[kind] for kind in kept]
    result_types = ", ".join(writer.type(kind) for kind in result_kinds)
    head = ", ".join(f"{name}: {writer.type(kind)}" for kind, name in arguments.items())
    text = [f"func.func @main({head}) -> ({result_types}) {{", "  %zero = arith.constant 0 : index", "  %one = arith.constant 1 : index",
            f"  %turns = arith.constant {TURNS} : index",
            f"  {made} = scf.for %turn = %zero to %turns step %one iter_args({pairs}) -> ({', '.join(types)}) {{", *(f"  {line}" for line in lines),
            f"    scf.yield {', '.join(nexts)} : {', '.join(types)}", "  }", f"  return {', '.join(results)} : {result_types}", "}", ""]
    numbers = np.random.default_rng(source.getrandbits(32))
    held = {name: numbers.integers(-9, 10, writer.shapes[kind]).astype(np.int32) for kind, name in arguments.items()}
    given = [held[name].copy() for name in arguments.values()]
    now = [held[init] for init in inits]
    with np.errstate(over="ignore"):
        for turn in range(TURNS):
            held["%turn"] = turn
            held.update(zip(carried, now))
            run(held)
            now = [held[name] for name in nexts]
    return "\n".join(text), given, [np.ascontiguousarray(each) for each in now + [held[arguments[kind]] for kind in kept]]


def failure_of(seed, folder):
    """What was wrong, and whether workgroups had parts of the loop."""
    folder.mkdir(parents=True, exist_ok=True)
    text, arguments, wanted = make_program(seed)
    source, target = folder / "program.mlir", folder / "program.bvm"
    source.write_text(text)
    try:
        tools.run_tool("baton-compile", [source, "-o", target, *tools.FLAGS])
        given = tools.call(target, "main", arguments, wanted, folder)
        said = tools.run_tool("baton-compile", [source, *tools.FLAGS, "--compile-to=flow"])
    except tools.ToolFailed as error:
        return str(error), False
    return "; ".join(f"result {i} {wrong}" for i, wrong in enumerate(map(tools.difference, wanted, given)) if wrong), "baton.workgroups" in said


def text_of(seed):
    return make_program(seed)[0]


def main():
    options, seeds = random_options.parse(random_options.parser_of(__doc__))
    found = random_options.run(options, seeds, "random_batches", failure_of, text_of)
    failed, divided = sum(bool(wrong) for wrong, _ in found), sum(is_divided for _, is_divided in found)
    print(f"{options.count} programs, {failed} failed; the loops of {divided} are divided among workgroups")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
