#!/usr/bin/env python3
"""Attacks compiled programs with sizes and indices: random chains of operations on tensors of open sizes, called with inputs that
fit and inputs that don't. A model in NumPy says which is which, and what comes out.

    attack_bounds.py bin-folder [programs] [seed] [--under=valgrind ...]

Run by hand, with --under='valgrind -q --show-mismatched-frees=no --error-exitcode=99' to see reads and writes that do no harm. A call must compute what
NumPy computes, or fail with INVALID_ARGUMENT or OUT_OF_RANGE where NumPy has nothing to say; all else is printed.
"""
import os
import random
import shlex
import subprocess
import sys
import tempfile

import numpy as np

CALLS = 12
BINARY = ("elementwise", "matmul", "concat", "put")


class Refused(Exception):
    pass


def need(holds):
    if not holds:
        raise Refused


class Writer:
    """One program: operations as text, and as functions of NumPy."""

    def __init__(self, rng):
        self.rng, self.lines, self.steps, self.count, self.scalars = rng, [], {}, 0, 0

    def name(self):
        self.count += 1
        return "%%v%d" % self.count

    def scalar(self):
        self.scalars += 1
        return self.scalars - 1

    def sizes(self, tensor):
        names = []
        for d in range(2):
            names.append(self.name())
            self.lines.append("%s = tensor.dim %s, %%c%d : tensor<?x?xf32>" % (names[-1], tensor, d))
        return names

    def elementwise(self, a, b):
        r, op = self.name(), self.rng.choice(["arith.addf", "arith.subf", "arith.maximumf"])
        self.lines.append("%s = %s %s, %s : tensor<?x?xf32>" % (r, op, a, b))
        compute = {"arith.addf": np.add, "arith.subf": np.subtract, "arith.maximumf": np.maximum}[op]

        def step(env):
            need(env[a].shape == env[b].shape)
            env[r] = compute(env[a], env[b])
        return r, step

    def matmul(self, a, b):
        (m, _), (_, n) = self.sizes(a), self.sizes(b)
        e, z, r = self.name(), self.name(), self.name()
        self.lines += ["%s = tensor.empty(%s, %s) : tensor<?x?xf32>" % (e, m, n),
                       "%s = linalg.fill ins(%%zero : f32) outs(%s : tensor<?x?xf32>) -> tensor<?x?xf32>" % (z, e),
                       "%s = linalg.matmul ins(%s, %s : tensor<?x?xf32>, tensor<?x?xf32>) outs(%s : tensor<?x?xf32>)"
                       " -> tensor<?x?xf32>" % (r, a, b, z)]

        def step(env):
            need(env[a].shape[1] == env[b].shape[0])
            env[r] = env[a] @ env[b]
        return r, step

    def concat(self, a, b):
        r, axis = self.name(), self.rng.randrange(2)
        self.lines.append("%s = tensor.concat dim(%d) %s, %s : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>" % (
            r, axis, a, b))

        def step(env):
            need(env[a].shape[1 - axis] == env[b].shape[1 - axis])
            env[r] = np.concatenate([env[a], env[b]], axis)
        return r, step

    def slice(self, a, _):
        r, names, stride = self.name(), [self.scalar() for _ in range(4)], self.rng.choice([1, 1, 2, 3])
        o0, o1, s0, s1 = names
        self.lines.append("%s = tensor.extract_slice %s[%%s%d, %%s%d] [%%s%d, %%s%d] [1, %d] : tensor<?x?xf32> to"
                          " tensor<?x?xf32>" % (r, a, o0, o1, s0, s1, stride))

        def step(env):
            for d, (o, s, t) in enumerate(((o0, s0, 1), (o1, s1, stride))):
                offset, size, whole = env[o], env[s], env[a].shape[d]
                need(0 <= size <= whole)
                if size or t == 1:
                    need(0 <= offset <= whole and (size == 0 or offset + (size - 1) * t < whole))
            if env[s0] == 0 or env[s1] == 0:
                env[r] = np.zeros((env[s0], env[s1]), np.float32)
                return
            env[r] = env[a][env[o0]:env[o0] + env[s0], env[o1]:env[o1] + max(env[s1] * stride - stride + 1, 0):stride]
            env[r] = env[r][:, :env[s1]]
        return r, step

    def put(self, a, b):
        (m, n), r, o0, o1 = self.sizes(b), self.name(), self.scalar(), self.scalar()
        self.lines.append("%s = tensor.insert_slice %s into %s[%%s%d, %%s%d] [%s, %s] [1, 1] : tensor<?x?xf32> into"
                          " tensor<?x?xf32>" % (r, b, a, o0, o1, m, n))

        def step(env):
            for d, o in enumerate((o0, o1)):
                need(0 <= env[o] and env[o] + env[b].shape[d] <= env[a].shape[d])
            env[r] = env[a].copy()
            env[r][env[o0]:env[o0] + env[b].shape[0], env[o1]:env[o1] + env[b].shape[1]] = env[b]
        return r, step

    def insert(self, a, _):
        r, i, j = self.name(), self.scalar(), self.scalar()
        self.lines.append("%s = tensor.insert %%zero into %s[%%s%d, %%s%d] : tensor<?x?xf32>" % (r, a, i, j))

        def step(env):
            need(0 <= env[i] < env[a].shape[0] and 0 <= env[j] < env[a].shape[1])
            env[r] = env[a].copy()
            env[r][env[i], env[j]] = 0
        return r, step

    def pad(self, a, _):
        r, low, high = self.name(), self.scalar(), self.scalar()
        self.lines.append("%s = tensor.pad %s low[%%s%d, 0] high[0, %%s%d] {\n  ^bb0(%%i: index, %%j: index):\n"
                          "  tensor.yield %%zero : f32\n} : tensor<?x?xf32> to tensor<?x?xf32>" % (r, a, low, high))

        def step(env):
            need(0 <= env[low] < 2**40 and 0 <= env[high] < 2**40)
            env[r] = np.pad(env[a], ((env[low], 0), (0, env[high])))
        return r, step

    def rows(self, a, _):
        """Rows that data choose: held inside."""
        n, r = self.name(), self.name()
        _, columns = self.sizes(a)
        self.lines.append("""%s = tensor.dim %%ids, %%c0 : tensor<?xi32>
  %s = tensor.generate %s, %s {
  ^bb0(%%i: index, %%j: index):
    %%k32 = tensor.extract %%ids[%%i] : tensor<?xi32>
    %%k = arith.index_cast %%k32 : i32 to index
    %%e = tensor.extract %s[%%k, %%j] : tensor<?x?xf32>
    tensor.yield %%e : f32
  } : tensor<?x?xf32>""" % (n, r, n, columns, a))

        def step(env):
            ids, source = env["ids"], env[a]
            if source.shape[0] == 0:
                need(len(ids) == 0 or source.shape[1] == 0)
                env[r] = np.zeros((len(ids), source.shape[1]), np.float32)
            else:
                env[r] = source[np.clip(ids.astype(np.int64), 0, source.shape[0] - 1)]
        return r, step

    def shifted(self, a, _):
        """A window into it, by index arithmetic in a body."""
        r, o, n = self.name(), self.scalar(), self.scalar()
        _, columns = self.sizes(a)
        self.lines.append("""%s = tensor.generate %%s%d, %s {
  ^bb0(%%i: index, %%j: index):
    %%k = arith.addi %%i, %%s%d : index
    %%e = tensor.extract %s[%%k, %%j] : tensor<?x?xf32>
    tensor.yield %%e : f32
  } : tensor<?x?xf32>""" % (r, n, columns, o, a))

        def step(env):
            source = env[a]
            need(0 <= env[n] < 2**31 and -2**31 <= env[o] < 2**31)  # Kernels get words of 32 bits.
            if env[n] and source.shape[1]:
                need(0 <= env[o] and env[o] + env[n] <= source.shape[0])
                env[r] = source[env[o]:env[o] + env[n]]
            else:
                env[r] = np.zeros((env[n], source.shape[1]), np.float32)
        return r, step

    def write(self):
        tensors = ["%a", "%b", "%c"]
        forms = [self.elementwise, self.matmul, self.concat, self.slice, self.put, self.insert, self.pad, self.rows,
                 self.shifted]
        for _ in range(self.rng.randrange(1, 4)):
            operands = self.rng.choice(tensors), self.rng.choice(tensors)
            result, step = self.rng.choice(forms)(*operands)
            tensors.append(result)
            self.steps[result] = (operands, step)
        types = ", ".join(["%%%s: tensor<?x?xf32>" % each for each in "abc"] + ["%ids: tensor<?xi32>"] +
                          ["%%s%d: index" % i for i in range(self.scalars)])
        head = ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index", "%zero = arith.constant 0.0 : f32"]
        return "func.func @f(%s) -> tensor<?x?xf32> {\n  %s\n  return %s : tensor<?x?xf32>\n}\n" % (
            types, "\n  ".join(head + self.lines), tensors[-1]), tensors[-1]


def model(writer, result, env):
    """What nobody uses isn't computed, and refuses nothing."""
    def compute(tensor):
        if tensor not in env:
            operands, step = writer.steps[tensor]
            uses = operands if step.__qualname__.split(".")[1] in BINARY else operands[:1]
            for operand in uses:
                compute(operand)
            step(env)
    try:
        with np.errstate(all="ignore"):
            compute(result)
        return env[result]
    except Refused:
        return None


def environment(rng, writer):
    square = rng.randrange(4) if rng.random() < 0.6 else None

    def size():
        return rng.choice([0, 1, 2, 3, 3, 4, 5]) if square is None else square
    env = {}
    for each in "abc":
        shape = (size(), size())
        env["%" + each] = np.array([rng.randrange(-4, 5) for _ in range(shape[0] * shape[1])], np.float32).reshape(shape)
    env["ids"] = np.array([rng.choice([0, 1, 2, 7, -1, 2**31 - 1, -2**31]) for _ in range(rng.randrange(4))], np.int32)
    for i in range(writer.scalars):
        env[i] = rng.choice([0, 0, 1, 1, 2, 3]) if rng.random() < 0.85 else rng.choice(
            [-1, 4, 7, 1000, 2**47, 2**62, 2**62 + 1, -2**63, 2**63 - 1])
    return env


def text_of(array, kind):
    return "x".join([str(size) for size in array.shape] + [kind]) + "=" + " ".join(str(x) for x in array.flatten())


def main():
    under = [flag[8:] for flag in sys.argv if flag.startswith("--under=")]
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    programs = int(words[1]) if len(words) > 1 else 40
    seed = int(words[2]) if len(words) > 2 else 1
    prefix, counts = shlex.split(under[0]) if under else [], {"computed": 0, "refused": 0, "wrong": 0}
    folder = tempfile.mkdtemp()
    for number in range(programs):
        rng = random.Random(seed * 100000 + number)
        writer = Writer(rng)
        text, result = writer.write()
        source, module = os.path.join(folder, "p.mlir"), os.path.join(folder, "p.bvm")
        with open(source, "w") as file:
            file.write(text)
        made = subprocess.run([words[0] + "/baton-compile", "--target-device=local", source, "-o", module],
                              stderr=subprocess.PIPE, text=True, timeout=300)
        if made.returncode != 0:
            print("program %d isn't compiled: %s\n%s" % (number, made.stderr, text))
            counts["wrong"] += 1
            continue
        for _ in range(CALLS):
            env = environment(rng, writer)
            inputs = [text_of(env["%" + each], "f32") for each in "abc"] + [text_of(env["ids"], "i32")] + [
                str(env[i]) for i in range(writer.scalars)]
            expected = model(writer, result, env)
            done = subprocess.run(prefix + [words[0] + "/baton-run-module", "--device=local-sync", "--module=" + module,
                                            "--function=f", "--output_max_element_count=1000000"] + ["--input=" + each for each in inputs],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
            refused = done.returncode == 1 and ("INVALID_ARGUMENT;" in done.stdout or "OUT_OF_RANGE;" in done.stdout)
            good = refused
            if expected is not None:
                line = done.stdout.strip().splitlines()[-1].replace("[", " ").replace("]", " ")
                head, _, numbers = line.partition("=")
                good = done.returncode == 0 and head == "%dx%dxf32" % expected.shape and [
                    float(x) for x in numbers.split()] == [float(x) for x in expected.flatten()]
            counts["wrong" if not good else "refused" if expected is None else "computed"] += 1
            if not good:
                print("program %d, %s should be %s: rc %d, %s\n%s" % (
                    number, inputs, "refused" if expected is None else expected.tolist(), done.returncode, done.stdout, text))
    print("%d programs: %d calls computed, %d refused, %d wrong" % (programs, *counts.values()))
    return counts["wrong"] > 0


if __name__ == "__main__":
    sys.exit(main())
