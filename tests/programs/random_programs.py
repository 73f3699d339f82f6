#!/usr/bin/env python3
"""Random programs on tensors, compiled and run, against NumPy.

    random_programs.py --count=500                  from a new seed, which is printed
    random_programs.py --seed=17 --count=1          that program again
    random_programs.py --seed=17 --count=1 --keep=folder   and its text, and that of the smallest program that fails like it

Several programs are one function of one module, so that starting tools is paid once; when such a module fails, its programs are
tried one by one, and one that fails is made smaller: nodes become arguments that hold what they computed, results are dropped.
"""
import concurrent.futures
import dataclasses
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import random_options
import tools
from random_choices import Chooser
from random_nodes import FLOATS, INTEGERS, Rejected, Tensor
from random_places import OnePlace, Places, chooser_of

NUMPY = {**{kind: np.dtype(made) for kind, made in INTEGERS.items()}, "f16": np.dtype("float16"), "f32": np.dtype("float32"),
         "f64": np.dtype("float64"), "bf16": tools.np_bfloat16()}


@dataclasses.dataclass
class Program:
    """Arguments come first; a node's operands are (node, result). `wanted` are the results that it returns."""

    seed: int
    nodes: list = dataclasses.field(default_factory=list)  # A Tensor (an argument), or a node.
    tensors: list = dataclasses.field(default_factory=list)  # For each the list of its results.
    wanted: list = dataclasses.field(default_factory=list)

    def tensor(self, place):
        return self.tensors[place[0]][place[1]]

    def add(self, node):
        made = [node] if isinstance(node, Tensor) else node.results([self.tensor(each) for each in node.operands])
        self.nodes.append(node)
        self.tensors.append(made)
        return [(len(self.nodes) - 1, i) for i in range(len(made))]

    def alive(self):
        """Numbers of the nodes that results need."""
        found, open_still = set(), [place[0] for place in self.wanted]
        while open_still:
            number = open_still.pop()
            if number not in found:
                found.add(number)
                if not isinstance(self.nodes[number], Tensor):
                    open_still += [place[0] for place in self.nodes[number].operands]
        return sorted(found)

    def arguments(self):
        return [i for i in self.alive() if isinstance(self.nodes[i], Tensor)]

    def lines(self, prefix, places, source):
        names, lines = {}, []
        for i in self.alive():
            node = self.nodes[i]
            if not isinstance(node, Tensor):
                types = [self.tensor(each).type for each in node.operands]
                lines += places.of_lines(source, node.write(f"%{prefix}{i}", [names[each] for each in node.operands], types, self.tensors[i]))
            for j, tensor in enumerate(self.tensors[i]):
                name = f"%{prefix}{i}" + (f"#{j}" if len(self.tensors[i]) > 1 else "")
                names[i, j], moves = places.moved(source, name, tensor.type)
                lines += moves
        return lines, [names[each] for each in self.wanted]


def make_program(seed):
    """Nodes are chosen until there are enough; the last ones and some others are results."""
    source = random.Random(seed)
    program = Program(seed)
    chooser = Chooser(source, program)
    target = source.randint(2, 7)
    for _ in range(40):
        if chooser.count == target:
            break
        try:
            chooser.step()
        except Rejected:
            continue
    made = [(i, j) for i, node in enumerate(program.nodes) if not isinstance(node, Tensor) for j in range(len(program.tensors[i]))]
    program.wanted = sorted(set(made[-1:]) | set(source.sample(made, min(len(made), source.randint(1, 3)))))
    return program


def module_of(programs):
    devices = tools.DEVICE.split(",")
    places = Places(devices) if len(devices) > 1 else OnePlace()
    arguments, lines, results, types, placed_types = [], [], [], [], []
    for number, program in enumerate(programs):
        prefix, source = f"p{number}n", chooser_of(program.seed)
        arguments += [f"%{prefix}{i}: {program.tensors[i][0].type}{places.of_boundary(source)}" for i in program.arguments()]
        body, names = program.lines(prefix, places, source)
        lines += [f"    // seed {program.seed}"] + body
        results += names
        types += [program.tensor(each).type for each in program.wanted]
        placed_types += [program.tensor(each).type + places.of_boundary(source) for each in program.wanted]
    head = f"  func.func @main({', '.join(arguments)}) -> ({', '.join(placed_types)}) {{"
    return "\n".join([*places.globals, head, *lines, f"    return {', '.join(results)} : {', '.join(types)}", "  }", ""])


def stored(tensor):
    return tensor.value.astype(NUMPY[tensor.kind])


def problems_of(programs, folder):
    """For each program a sentence about its wrong results; ToolFailed when the module does not compile or run."""
    folder.mkdir(parents=True, exist_ok=True)
    source, target = folder / "program.mlir", folder / "program.bvm"
    source.write_text(module_of(programs))
    tools.compile_program(source, target)
    arguments = [stored(program.tensors[i][0]) for program in programs for i in program.arguments()]
    wanted = [program.tensor(each) for program in programs for each in program.wanted]
    given = iter(tools.call(target, "main", arguments, [stored(each) for each in wanted], folder))
    return ["; ".join(filter(None, (wrong(place, program.tensor(place), next(given)) for place in program.wanted))) for program in programs]


def wrong(place, wanted, given):
    if given.shape != wanted.shape:
        return f"node {place[0]} has the shape {given.shape}, wanted is {wanted.shape}"
    if wanted.kind not in FLOATS:
        off = np.argwhere(wanted.value != given)
    else:
        with np.errstate(invalid="ignore"):
            off = np.argwhere(~(np.abs(given.astype(float) - wanted.value) <= 2 * wanted.error))
    if not len(off):
        return ""
    at = tuple(int(i) for i in off[0])
    bound = "" if wanted.kind not in FLOATS else f" +- {wanted.error[at]:.3g}"
    return f"node {place[0]} result {place[1]} {list(at)} is {given[at]}, wanted is {wanted.value[at]}{bound}; {len(off)} of {wanted.value.size}"


def failure_of(program, folder):
    try:
        return problems_of([program], folder)[0]
    except tools.ToolFailed as error:
        return str(error)


def smaller(program, folder):
    """The smallest program that still fails, found by trying."""

    def kind_of_failure(text):
        return text.split(":")[0] if text.startswith("baton-") else "wrong" if text else ""

    kind = kind_of_failure(failure_of(program, folder))
    changed = True
    while changed:
        changed = False
        for candidate in candidates(program):
            if kind_of_failure(failure_of(candidate, folder)) == kind:
                program, changed = candidate, True
                break
    return program


def candidates(program):
    if len(program.wanted) > 1:
        for each in program.wanted:
            yield dataclasses.replace(program, wanted=[other for other in program.wanted if other != each])
    for place in reversed(program.alive()):
        node = program.nodes[place]
        if not isinstance(node, Tensor) and all(each[0] != place for each in program.wanted) and len(program.tensors[place]) == 1:
            held = exact(program.tensors[place][0])
            yield rebuilt(program, place, held)


def exact(tensor):
    """What a node computed as an argument: rounded to its type."""
    if tensor.kind not in FLOATS:
        return tensor
    return Tensor(tensor.kind, stored(tensor).astype(float), np.zeros(tensor.shape))


def rebuilt(program, place, tensor):
    made = Program(program.seed)
    made.wanted = program.wanted
    alive = set(program.alive())
    for i, node in enumerate(program.nodes):
        if i == place or i not in alive:
            made.nodes.append(tensor if i == place else program.tensors[i][0])
            made.tensors.append([made.nodes[-1]])
        else:
            made.add(node)
    return made


def check_group(seeds, folder):
    """Failures of the programs of these seeds, as (program, text)."""
    programs = [make_program(seed) for seed in seeds]
    try:
        texts = problems_of(programs, folder)
    except tools.ToolFailed as error:
        texts = [failure_of(program, folder) for program in programs]
        if not any(texts):  # Alone each of them works.
            return [(programs, str(error))]
    return [(program, text) for program, text in zip(programs, texts) if text]


def report(program, text, keep, scratch):
    if isinstance(program, list):
        print(f"FAILED seeds {', '.join(str(each.seed) for each in program)}, together only: {text}")
        return
    print(f"FAILED seed {program.seed}: {text[:700]}")
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{program.seed}.mlir").write_text(module_of([program]))
        least = smaller(program, scratch)
        (keep / f"{program.seed}.smallest.mlir").write_text(module_of([least]))
        print(f"  smallest program: {keep / f'{program.seed}.smallest.mlir'}")


def main():
    parser = random_options.parser_of(__doc__)
    parser.add_argument("--group", type=int, default=10, help="programs of one module")
    options, seeds = random_options.parse(parser)
    groups = [list(seeds[at:at + options.group]) for at in range(0, options.count, options.group)]
    begin, failed = time.monotonic(), 0
    scratch = Path(tempfile.mkdtemp(prefix="random_programs."))
    try:
        with concurrent.futures.ProcessPoolExecutor(options.workers) as pool:
            for failures in pool.map(check_group, groups, [scratch / str(i) for i in range(len(groups))]):
                for program, text in failures:
                    failed += 1
                    report(program, text, options.keep, scratch / "smaller")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"{options.count} programs, {failed} failed, {time.monotonic() - begin:.1f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
