#!/usr/bin/env python3
"""Random loops, branches and calls that carry tensors and update parts of them, compiled and run, against NumPy.

    random_loops.py --count=500                 from a new seed, which is printed
    random_loops.py --seed=17 --count=1 --keep=folder   that program again, and its text

A tensor that a loop carries may be written in place only where nobody sees it. So programs use tensors again after updates,
swap them, carry one twice, hand in what the caller lent or gave, and leave loops early. Elements are integers: they are exact.
"""
import random
import sys

import numpy as np

import random_options
import tools
from random_places import OnePlace, Places, chooser_of

BLOCKS_MAX = 9  # Loops, conditions and calls of a program.
TURNS_MAX = 3000  # Statements that run.


class Writer:
    """The text of a program, and what it computes: each statement is written once and run as often as it is met."""

    def __init__(self, seed, places):
        self.source, self.places, self.place_source = random.Random(seed), places, chooser_of(seed)
        self.rows, self.columns = self.source.randint(2, 5), self.source.choice([1, 2, 3, 17])
        self.tensor, self.row = f"tensor<{self.rows}x{self.columns}xi32>", f"tensor<1x{self.columns}xi32>"
        self.names = self.blocks = 0
        self.functions = []

    def name(self):
        self.names += 1
        return f"%v{self.names}"

    # Indices and conditions: text that computes one, its name, and a function of the values of names ------------------------

    def index(self, scope, size):
        k, made = self.source.randrange(size), self.name()
        if not scope.counters or self.source.random() < 0.3:
            return [f"{made} = arith.constant {k} : index"], made, lambda values: k
        counter = self.source.choice(scope.counters)
        constant, sum_of, count = self.name(), self.name(), self.name()
        lines = [f"{constant} = arith.constant {k} : index", f"{count} = arith.constant {size} : index",
                 f"{sum_of} = arith.addi {counter}, {constant} : index", f"{made} = arith.remui {sum_of}, {count} : index"]
        return lines, made, lambda values: (values[counter] + k) % size

    def condition(self, scope):
        made, bit, one, zero = (self.name() for _ in range(4))
        if self.source.random() < 0.4:  # A tensor is read for it.
            tensor, element = self.source.choice(scope.tensors), self.name()
            (first, i, row), (second, j, column) = self.index(scope, self.rows), self.index(scope, self.columns)
            lines = first + second + [f"{element} = tensor.extract {tensor}[{i}, {j}] : {self.tensor}", f"{one} = arith.constant 1 : i32",
                                      f"{zero} = arith.constant 0 : i32", f"{bit} = arith.andi {element}, {one} : i32",
                                      f"{made} = arith.cmpi eq, {bit}, {zero} : i32"]
            return lines, made, lambda values: values[tensor][row(values), column(values)] & 1 == 0
        lines, i, number = self.index(scope, 2)
        return lines + [f"{one} = arith.constant 1 : index", f"{made} = arith.cmpi eq, {i}, {one} : index"], made, lambda values: number(values) == 1

    # Statements ---------------------------------------------------------------------------------------------------------------

    def constant(self, scope):
        made, value = self.name(), self.source.randint(-3, 3)
        scope.tensors.append(made)

        def run(values):
            values[made] = np.full((self.rows, self.columns), value, np.int32)

        return [f"{made} = arith.constant dense<{value}> : {self.tensor}"], run

    def add(self, scope):
        made, a, b = self.name(), scope.some_tensor(self.source), self.source.choice(scope.tensors)
        scope.tensors.append(made)

        def run(values):
            values[made] = values[a] + values[b]

        return [f"{made} = arith.addi {a}, {b} : {self.tensor}"], run

    def update(self, scope):
        """A row of one tensor, changed or not, in place of a row of another."""
        made, part, source, target = self.name(), self.name(), self.source.choice(scope.tensors), scope.some_tensor(self.source)
        changes = self.source.random() < 0.6
        (first, i, read), (second, j, written) = self.index(scope, self.rows), self.index(scope, self.rows)
        lines = first + second + [f"{part} = tensor.extract_slice {source}[{i}, 0] [1, {self.columns}] [1, 1] : {self.tensor} to {self.row}"]
        if changes:
            changed = self.name()
            lines.append(f"{changed} = arith.addi {part}, {part} : {self.row}")
            part = changed
        lines.append(f"{made} = tensor.insert_slice {part} into {target}[{j}, 0] [1, {self.columns}] [1, 1] : {self.row} into {self.tensor}")
        scope.tensors.append(made)

        def run(values):
            row = values[source][read(values)] * np.int32(2 if changes else 1)
            values[made] = values[target].copy()
            values[made][written(values)] = row

        return lines, run

    def update_column(self, scope):
        """Elements that don't lie one after the other."""
        made, part, source, target = self.name(), self.name(), self.source.choice(scope.tensors), scope.some_tensor(self.source)
        (first, i, read), (second, j, written) = self.index(scope, self.columns), self.index(scope, self.columns)
        column = f"tensor<{self.rows}x1xi32>"
        scope.tensors.append(made)

        def run(values):
            values[made] = values[target].copy()
            values[made][:, written(values)] = values[source][:, read(values)]

        return first + second + [f"{part} = tensor.extract_slice {source}[0, {i}] [{self.rows}, 1] [1, 1] : {self.tensor} to {column}",
                                 f"{made} = tensor.insert_slice {part} into {target}[0, {j}] [{self.rows}, 1] [1, 1] : {column} into {self.tensor}"], run

    def choose(self, scope):
        lines, which, chooses = self.condition(scope)
        made, a, b = self.name(), scope.some_tensor(self.source), self.source.choice(scope.tensors)
        scope.tensors.append(made)

        def run(values):
            values[made] = values[a] if chooses(values) else values[b]

        return lines + [f"{made} = arith.select {which}, {a}, {b} : {self.tensor}"], run

    def branch(self, scope):
        lines, which, chooses = self.condition(scope)
        count = self.source.randint(1, 3)
        (first, run_first, given_first), (second, run_second, given_second) = self.body(scope, count), self.body(scope, count)
        results = self.new_results(scope, count)
        types = ", ".join([self.tensor] * count)
        made = results[0].split("#")[0]
        lines += [f"{made}:{count} = scf.if {which} -> ({types}) {{", *first, f"  scf.yield {', '.join(given_first)} : {types}", "} else {",
                  *second, f"  scf.yield {', '.join(given_second)} : {types}", "}"]

        def run(values):
            taken, given = (run_first, given_first) if chooses(values) else (run_second, given_second)
            taken(values)
            values.update(zip(results, [values[each] for each in given]))

        return lines, run

    def new_results(self, scope, count):
        made = self.name()
        results = [f"{made}#{i}" for i in range(count)]
        scope.tensors += results
        return results

    def counted_loop(self, scope):
        turns, count = self.source.choice([0, 1, 2, 3, 5]), self.source.randint(1, 3)
        carried, begins = [self.name() for _ in range(count)], scope.some_tensors(self.source, count)
        counter, zero, one, end, hidden = (self.name() for _ in range(5))
        inner = scope.inside(carried, counter)
        body, run_body, given = self.body(inner, count)
        results = self.new_results(scope, count)
        types = ", ".join([self.tensor] * count)
        first = ", ".join(f"{a} = {b}" for a, b in zip(carried, begins))
        lines = [f"{zero} = arith.constant 0 : index", f"{one} = arith.constant 1 : index", f"{hidden} = arith.constant {turns} : index",
                 f"{end} = util.optimization_barrier {hidden} : index",
                 f"{results[0].split('#')[0]}:{count} = scf.for {counter} = {zero} to {end} step {one} iter_args({first}) -> ({types}) {{",
                 *body, f"  scf.yield {', '.join(given)} : {types}", "}"]

        def run(values):
            values.update(zip(carried, [values[each] for each in begins]))
            for turn in range(turns):
                values[counter] = turn
                run_body(values)
                values.update(zip(carried, [values[each] for each in given]))
            values.update(zip(results, [values[each] for each in carried]))

        return lines, run

    def while_loop(self, scope):
        """Ends after some turns or when a condition says so, which may read a tensor. Its results may be in another order."""
        turns, count = self.source.choice([0, 1, 3, 4]), self.source.randint(1, 3)
        before, after = [self.name() for _ in range(count)], [self.name() for _ in range(count)]
        begins = scope.some_tensors(self.source, count)
        i, j, limit, less, zero, one, next_i = (self.name() for _ in range(7))
        head = scope.inside(before, i)
        lines_of_head, run_head = self.statements(head, self.source.choice([0, 0, 1]), (self.update, self.add))
        lines, goes_on, chooses = self.condition(head)
        passed = [head.some_tensor(self.source) if self.source.random() < 0.4 else each for each in before]
        body, run_body, given = self.body(scope.inside(after, j), count)
        results = self.new_results(scope, count)
        made, types = results[0].split("#")[0], ", ".join(["index"] + [self.tensor] * count)
        either = self.name()
        joins = self.source.random() < 0.5
        first = ", ".join(f"{a} = {b}" for a, b in zip([i, *before], [zero, *begins]))
        text = [f"{zero} = arith.constant 0 : index", f"{one} = arith.constant 1 : index", f"{limit} = arith.constant {turns} : index",
                f"{made}_all:{count + 1} = scf.while ({first}) : ({types}) -> ({types}) {{", *(f"  {each}" for each in lines_of_head + lines),
                f"  {less} = arith.cmpi ult, {i}, {limit} : index",
                f"  {either} = arith.andi {less}, {goes_on} : i1" if joins else f"  {either} = arith.andi {less}, {less} : i1",
                f"  scf.condition({either}) {', '.join([i, *passed])} : {types}", "} do {",
                f"^bb0({', '.join([f'{j}: index'] + [f'{each}: {self.tensor}' for each in after])}):", *body,
                f"  {next_i} = arith.addi {j}, {one} : index", f"  scf.yield {', '.join([next_i, *given])} : {types}", "}"]
        for number, result in enumerate(results):  # The counter is the first.
            text.append(f"{made}_{number} = tensor.cast {made}_all#{number + 1} : {self.tensor} to {self.tensor}")
            scope.tensors[scope.tensors.index(result)] = f"{made}_{number}"
        results = [f"{made}_{number}" for number in range(count)]

        def run(values):
            values.update(zip([i, *before], [0, *(values[each] for each in begins)]))
            while True:
                run_head(values)
                goes = values[i] < turns and (chooses(values) or not joins)
                values.update(zip([j, *after], [values[i], *(values[each] for each in passed)]))
                if not goes:
                    break
                run_body(values)
                values.update(zip([i, *before], [values[j] + 1, *(values[each] for each in given)]))
            values.update(zip(results, [values[each] for each in after]))

        return text, run

    def call(self, scope):
        count = self.source.randint(1, 2)
        inside = [self.name() for _ in range(self.source.randint(1, 3))]
        given = [scope.some_tensor(self.source) for _ in inside]
        body, run_body, back = self.body(Scope(inside, []), count)
        results = self.new_results(scope, count)
        types, made = ", ".join([self.tensor] * count), results[0].split("#")[0]
        function = f"@called_{made[2:]}"
        arguments = ", ".join(f"{each}: {self.tensor}" for each in inside)
        self.functions.append([f"func.func private {function}({arguments}) -> ({types}) {{", *body, f"  return {', '.join(back)} : {types}", "}"])

        def run(values):
            values.update(zip(inside, [values[each] for each in given]))
            run_body(values)
            values.update(zip(results, [values[each] for each in back]))

        of_arguments = ", ".join([self.tensor] * len(given))
        return [f"{made}:{count} = func.call {function}({', '.join(given)}) : ({of_arguments}) -> ({types})"], run

    # Bodies -------------------------------------------------------------------------------------------------------------------

    def statements(self, scope, count, kinds=None):
        lines, runs = [], []
        for _ in range(count):
            chosen = kinds or [self.constant] + [self.add, self.choose] * 2 + 8 * [self.update] + 2 * [self.update_column]
            if not kinds and self.blocks < BLOCKS_MAX and self.source.random() < 0.4:
                self.blocks += 1
                chosen = 3 * [self.counted_loop] + [self.while_loop] * 3 + [self.branch] * 2 + [self.call]
            text, run = self.source.choice(chosen)(scope)
            lines += text
            runs.append(run)
            self.move(scope, lines, runs)

        def run_all(values):
            values["turns"] = values.get("turns", 0) + len(runs)
            if values["turns"] > TURNS_MAX:
                raise OverflowError
            for each in runs:
                each(values)

        return lines, run_all

    def move(self, scope, lines, runs):
        """The last tensor, now and then, to another device."""
        tensor = scope.tensors[-1]
        moved, text = self.places.moved(self.place_source, tensor, self.tensor)
        if not text or moved in scope.tensors:
            return
        lines += text
        scope.tensors.append(moved)

        def run(values):
            values[moved] = values[tensor]

        runs.append(run)

    def body(self, scope, count):
        inner = scope.inside([], None)
        lines, run = self.statements(inner, self.source.choice([1, 1, 2, 3, 4]))
        return [f"  {line}" for line in lines], run, inner.some_tensors(self.source, count)


class Scope:
    def __init__(self, tensors, counters):
        self.tensors, self.counters = list(tensors), list(counters)

    def inside(self, carried, counter):
        return Scope(self.tensors + carried, self.counters + ([counter] if counter else []))

    def some_tensor(self, source):
        return self.some_tensors(source, 1)[0]

    def some_tensors(self, source, count):
        """Now and then one of them for all."""
        made = [self.recent(source) for _ in range(count)]
        return made if source.random() < 0.8 else made[:1] * count

    def recent(self, source):
        """Most often one of the last."""
        return source.choice(self.tensors[-2:] if source.random() < 0.8 else self.tensors[-6:])


def make_program(seed):
    """The text, the arguments and the results."""
    for attempt in range(100):
        places = Places(tools.DEVICE.split(",")) if "," in tools.DEVICE else OnePlace()
        writer = Writer(f"{seed} {attempt}", places)
        source = writer.source
        arguments = [writer.name() for _ in range(source.randint(1, 3))]
        scope = Scope(arguments, [])
        lines, run = writer.statements(scope, source.randint(3, 8))
        results = [scope.some_tensor(source) for _ in range(source.randint(1, 4))]
        donated = source.randrange(len(arguments)) if source.random() < 0.4 else None
        values = {each: np.array(np.random.default_rng(source.getrandbits(32)).integers(-9, 10, (writer.rows, writer.columns)), np.int32) for each in arguments}
        given = [values[each].copy() for each in arguments]
        try:
            with np.errstate(over="ignore"):
                run(values)
        except OverflowError:
            continue
        gift = " {tf.aliasing_output = 0 : i32}"
        where = [places.of_boundary(writer.place_source) for _ in arguments + results]
        head = ", ".join(f"{each}: {writer.tensor}{gift if i == donated else where[i]}" for i, each in enumerate(arguments))
        types = ", ".join([writer.tensor] * len(results))
        placed_types = ", ".join(writer.tensor + each for each in where[len(arguments):])
        functions = [line for function in writer.functions for line in function]
        text = [*places.globals, *functions, f"func.func @main({head}) -> ({placed_types}) {{", *(f"  {line}" for line in lines), f"  return {', '.join(results)} : {types}", "}", ""]
        return "\n".join(text), given, [values[each] for each in results]
    raise RuntimeError(f"no program of seed {seed} ends soon")


def failure_of(seed, folder, flags):
    folder.mkdir(parents=True, exist_ok=True)
    text, arguments, wanted = make_program(seed)
    source, target = folder / "program.mlir", folder / "program.bvm"
    source.write_text(text)
    try:
        tools.run_tool("baton-compile", [source, "-o", target, *tools.FLAGS, *flags])
        given = tools.call(target, "main", arguments, wanted, folder)
    except tools.ToolFailed as error:
        return str(error)
    return "; ".join(f"result {i} {wrong}" for i, wrong in enumerate(map(tools.difference, wanted, given)) if wrong)


def text_of(seed):
    return make_program(seed)[0]


def main():
    parser = random_options.parser_of(__doc__)
    parser.add_argument("--sanitize", action="store_true", help="kernels check each access")
    options, seeds = random_options.parse(parser)
    flags = ["--sanitize"] if options.sanitize else []
    failed = sum(map(bool, random_options.run(options, seeds, "random_loops", failure_of, text_of, flags)))
    print(f"{options.count} programs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
