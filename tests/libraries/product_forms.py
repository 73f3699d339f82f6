#!/usr/bin/env python3
"""Forms of products that libraries take, as programs: for tests beside this file, and for tests/gpu (product_forms.py make)."""
import dataclasses
import itertools
import sys


@dataclasses.dataclass
class Form:
    name: str
    sizes: dict  # Of each loop.
    a: str  # Loops of each dimension: m, n, k and others.
    b: str
    c: str
    kind: str = "f32"
    bias: bool = False
    relu: bool = False
    open: str = ""  # Loops whose size the program doesn't know.
    taken: bool = True

    def shape(self, loops):
        return [self.sizes[loop] for loop in loops]

    def type(self, loops):
        return "tensor<" + "".join(f"{'?' if loop in self.open else self.sizes[loop]}x" for loop in loops) + self.kind + ">"

    def map(self, loops, order):
        return f"affine_map<({', '.join(order)}) -> ({', '.join(loops)})>"

    def command(self):
        return "gemm" + ("_bias" if self.bias else "") + ("_relu" if self.relu else "")

    def write(self):
        order = list(dict.fromkeys(self.c + self.a + self.b))
        kinds = ", ".join('"parallel"' if loop in self.c else '"reduction"' for loop in order)
        a, b, c, column = self.type(self.a), self.type(self.b), self.type(self.c), self.type(self.c[-1])
        sizes, lines = [], []
        for loop in self.c:
            if loop in self.open:
                side, at = ("%a", self.a.index(loop)) if loop in self.a else ("%b", self.b.index(loop))
                lines += [f"  %at_{loop} = arith.constant {at} : index",
                          f"  %size_{loop} = tensor.dim {side}, %at_{loop} : {a if side == '%a' else b}"]
                sizes.append(f"%size_{loop}")
        bias = f", %x: {column}" if self.bias else ""
        text = [f"func.func @{self.name}(%a: {a}, %b: {b}{bias}) -> {c} {{", *lines,
                f"  %e = tensor.empty({', '.join(sizes)}) : {c}", f"  %zero = arith.constant 0.0 : {self.kind}",
                f"  %f = linalg.fill ins(%zero : {self.kind}) outs(%e : {c}) -> {c}",
                f"  %p = linalg.generic {{indexing_maps = [{self.map(self.a, order)}, {self.map(self.b, order)}, {self.map(self.c, order)}],"
                f" iterator_types = [{kinds}]}} ins(%a, %b : {a}, {b}) outs(%f : {c}) {{",
                f"  ^bb0(%u: {self.kind}, %v: {self.kind}, %s: {self.kind}):",
                f"    %0 = arith.mulf %u, %v : {self.kind}", f"    %1 = arith.addf %s, %0 : {self.kind}",
                f"    linalg.yield %1 : {self.kind}", f"  }} -> {c}"]
        if not self.bias and not self.relu:
            return "\n".join([*text, f"  return %p : {c}", "}"])
        here = list(self.c)
        maps = [self.map(here, here)] + ([self.map([here[-1]], here)] if self.bias else []) + [self.map(here, here)]
        ins = f"ins(%p{', %x' if self.bias else ''} : {c}{', ' + column if self.bias else ''})"
        elements = f"%u: {self.kind}, " + (f"%v: {self.kind}, " if self.bias else "") + f"%o: {self.kind}"
        parallel = ", ".join(['"parallel"'] * len(here))
        text += [f"  %r = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{parallel}]}} {ins} outs(%e : {c}) {{",
                 f"  ^bb0({elements}):"]
        value = "%u"
        if self.bias:
            text.append(f"    %0 = arith.addf %u, %v : {self.kind}")
            value = "%0"
        if self.relu:
            text.append(f"    %1 = arith.maximumf {value}, %zero : {self.kind}")
            value = "%1"
        return "\n".join([*text, f"    linalg.yield {value} : {self.kind}", f"  }} -> {c}", f"  return %r : {c}", "}"])


def forms():
    plain = dict(m=48, n=56, k=64)
    for kind, a, b in itertools.product(("f32", "f64"), ("mk", "km"), ("kn", "nk")):
        yield Form(f"{kind}_{a}_{b}", plain, a, b, "mn", kind)
        yield Form(f"batch_{kind}_{a}_{b}", dict(m=33, n=40, k=72, p=5), "p" + a, "p" + b, "pmn", kind)
    for bias, relu in ((True, False), (False, True), (True, True)):
        yield Form(f"ends_{bias}_{relu}".lower(), plain, "mk", "kn", "mn", bias=bias, relu=relu)
        yield Form(f"batch_ends_{bias}_{relu}".lower(), dict(m=64, n=40, k=72, p=3), "pmk", "pkn", "pmn", bias=bias, relu=relu)
        yield Form(f"wide_ends_{bias}_{relu}".lower(), plain, "mk", "nk", "mn", "f64", bias=bias, relu=relu)
    heads = dict(p=2, h=4, m=40, n=48, k=32)
    yield Form("heads_apart", heads, "pmhk", "pnhk", "phmn")
    yield Form("heads_together", heads, "phmk", "phkn", "pmhn")
    yield Form("shared_weights", dict(p=3, m=40, n=56, k=64), "pmk", "kn", "pmn")
    yield Form("turned_result", plain, "mk", "kn", "nm")
    yield Form("two_steps", dict(m=40, n=48, j=8, k=16), "mjk", "jkn", "mn")
    yield Form("rows_of_two", dict(m=8, r=9, n=48, k=64), "mrk", "kn", "mrn")
    yield Form("columns_of_two", dict(m=48, n=8, s=9, k=64), "mk", "kns", "mns")
    yield Form("odd", dict(m=61, n=67, k=71), "mk", "kn", "mn")
    yield Form("open_rows", plain, "mk", "kn", "mn", open="m")
    yield Form("open_batch", dict(p=3, m=40, n=48, k=64), "pmk", "pnk", "pmn", open="p")
    yield Form("open_all", plain, "mk", "nk", "mn", open="mnk", bias=True, relu=True)
    yield Form("open_heads", heads, "pmhk", "pnhk", "phmn", open="pm")
    yield Form("small", dict(m=4, n=4, k=4), "mk", "kn", "mn", taken=False)
    yield Form("steps_apart", dict(m=40, n=48, j=8, k=16), "mjk", "kjn", "mn", taken=False)


def halves():
    """For GPUs: the same in halves, whose sums are f32."""
    plain = dict(m=256, n=192, k=128)
    for kind in ("f16", "bf16"):
        for a, b in itertools.product(("mk", "km"), ("kn", "nk")):
            yield Form(f"{kind}_{a}_{b}", plain, a, b, "mn", kind)
        yield Form(f"{kind}_batch", dict(p=4, m=128, n=64, k=96), "pmk", "pnk", "pmn", kind)
        yield Form(f"{kind}_heads", dict(p=2, h=4, m=64, n=64, k=64), "pmhk", "pnhk", "phmn", kind)
        yield Form(f"{kind}_ends", plain, "mk", "kn", "mn", kind, bias=True, relu=True)


def large():
    for kind in ("f32", "f64"):
        for a, b in itertools.product(("mk", "km"), ("kn", "nk")):
            yield Form(f"large_{kind}_{a}_{b}", dict(m=200, n=136, k=120), a, b, "mn", kind)
    for bias, relu in ((True, False), (False, True), (True, True)):
        yield Form(f"large_ends_{bias}_{relu}".lower(), dict(m=200, n=136, k=120), "mk", "kn", "mn", bias=bias, relu=relu)
    yield Form("large_heads", dict(p=2, h=3, m=72, n=80, k=64), "pmhk", "pnhk", "phmn")
    yield Form("large_open", dict(m=200, n=136, k=120), "mk", "nk", "mn", open="m", bias=True)


def make():
    """A program with a CASE for each form, as tests/gpu/compiled.py reads them."""
    for form in [*forms(), *large(), *halves()]:
        shapes = [form.shape(form.a), form.shape(form.b)] + ([form.shape(form.c[-1])] if form.bias else [])
        inputs = " ".join(f"--input={'x'.join(map(str, shape))}={form.kind}:unit" for shape in shapes)
        print(f"// CASE: {form.name} {inputs}")
        print(form.write())


if __name__ == "__main__":
    if sys.argv[1:] != ["make"]:
        sys.exit(__doc__)
    make()
