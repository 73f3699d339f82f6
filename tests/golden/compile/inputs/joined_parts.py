"""Tensors put together of computed ones: along each dimension, two to seventeen parts, slices, steps and other shapes of tensors, parts that others read, that are
read twice, that are empty, that know their place; what reads the whole; a program with lines that say how it is run (tests/gpu/compiled.py)."""

KINDS = {"f32": "f", "f16": "f", "bf16": "f", "i32": "i", "i8": "i"}


def tensor(shape, kind):
    return f"tensor<{'x'.join(map(str, (*shape, kind)))}>"


class Function:
    """A function while its text is written. A value is (name, shape, kind)."""

    def __init__(self, name, kind="f32"):
        self.name, self.kind, self.arguments, self.lines, self.count = name, kind, [], [], 0

    def new(self, shape, line, kind=None):
        self.count += 1
        value = (f"%v{self.count}", tuple(shape), kind or self.kind)
        self.lines.append(f"    {value[0]} = {line}")
        return value

    def argument(self, *shape):
        value = (f"%a{len(self.arguments)}", shape, self.kind)
        self.arguments.append(value)
        return value

    def slice(self, value, begin, shape, step=None):
        step = step or [1] * len(shape)
        return self.new(shape, f"tensor.extract_slice {value[0]}[{', '.join(map(str, begin))}] [{', '.join(map(str, shape))}] [{', '.join(map(str, step))}] : "
                        f"{tensor(*value[1:])} to {tensor(shape, self.kind)}")

    def compute(self, shape, inputs, lines, last, kind=None, sums=()):
        """Element by element, of inputs with the loops that each goes along; `lines` reads %x0, %x1 and the loops %i0, ..."""
        kind, loops = kind or self.kind, [f"d{i}" for i in range(len(shape))]
        result = [loop for i, loop in enumerate(loops) if i not in sums]
        out = [size for i, size in enumerate(shape) if i not in sums]
        maps = [f"affine_map<({', '.join(loops)}) -> ({', '.join(loops[i] for i in along)})>" for _, along in inputs]
        maps.append(f"affine_map<({', '.join(loops)}) -> ({', '.join(result)})>")
        kinds = ", ".join('"reduction"' if i in sums else '"parallel"' for i in range(len(shape)))
        into = self.new(out, f"tensor.empty() : {tensor(out, kind)}", kind)
        if sums:
            zero = self.new((), f"arith.constant {'0.0' if KINDS[kind] == 'f' else '0'} : {kind}")
            into = self.new(out, f"linalg.fill ins({zero[0]} : {kind}) outs({into[0]} : {tensor(out, kind)}) -> {tensor(out, kind)}", kind)
        reads = f" ins({', '.join(v[0] for v, _ in inputs)} : {', '.join(tensor(*v[1:]) for v, _ in inputs)})" if inputs else ""
        names = ", ".join([f"%x{i}: {v[2]}" for i, (v, _) in enumerate(inputs)] + [f"%o: {kind}"])
        body = "".join(f"      {line}\n" for line in lines)
        return self.new(out, f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}{reads} outs({into[0]} : {tensor(out, kind)}) {{\n"
                        f"    ^bb0({names}):\n{body}      linalg.yield {last} : {kind}\n    }} -> {tensor(out, kind)}", kind)

    def mixed(self, shape, *inputs):
        """x0 * x1 - x2 ..., of inputs that each go along all loops, or along those that are named."""
        number = KINDS[self.kind]
        pairs = [each if isinstance(each[1], list) else (each, list(range(len(shape)))) for each in inputs]
        lines, last = [], "%x0"
        for i in range(1, len(pairs)):
            lines.append(f"%y{i} = arith.{'mul' if i % 2 else 'sub'}{number} {last}, %x{i} : {self.kind}")
            last = f"%y{i}"
        lines.append(f"%z = arith.add{number} {last}, %x0 : {self.kind}")
        return self.compute(shape, pairs, lines, "%z")

    def placed(self, shape, value):
        """A value and its place."""
        lines = [f"%i{d} = linalg.index {d} : index" for d in range(len(shape))]
        lines += [f"%n{d} = arith.index_cast %i{d} : index to i32" for d in range(len(shape))]
        lines += [f"%f{d} = arith.sitofp %n{d} : i32 to f32" for d in range(len(shape))]
        last = "%x0"
        for d in range(len(shape)):
            lines.append(f"%s{d} = arith.{'subf' if d % 2 else 'addf'} {last}, %f{d} : f32")
            last = f"%s{d}"
        return self.compute(shape, [(value, list(range(len(shape))))], lines, last)

    def join(self, dimension, *parts):
        shape = list(parts[0][1])
        shape[dimension] = sum(part[1][dimension] for part in parts)
        types = ", ".join(tensor(*part[1:]) for part in parts)
        return self.new(shape, f"tensor.concat dim({dimension}) {', '.join(part[0] for part in parts)} : ({types}) -> {tensor(shape, self.kind)}")

    def reshape(self, value, shape, groups):
        longer = len(shape) > len(value[1])
        sizes = f" output_shape {list(shape)}" if longer else ""
        return self.new(shape, f"tensor.{'expand' if longer else 'collapse'}_shape {value[0]} {groups}{sizes} : {tensor(*value[1:])} into {tensor(shape, self.kind)}")

    def end(self, *results):
        inputs = " ".join(f"--input={'x'.join(map(str, shape))}={kind}:unit" for _, shape, kind in self.arguments)
        types = ", ".join(tensor(*each[1:]) for each in results)
        print(f"// CASE: {self.name} {inputs}")
        arguments = ", ".join(f"{each[0]}: {tensor(*each[1:])}" for each in self.arguments)
        return (f"  func.func @{self.name}({arguments}) -> ({types}) {{\n" + "\n".join(self.lines) +
                f"\n    return {', '.join(each[0] for each in results)} : {types}\n  }}\n")


def rotary(kind, narrow):
    f = Function(f"rotary_{kind}{'_narrow' if narrow else ''}", kind)
    x, c, s = f.argument(26, 128), f.argument(64), f.argument(64)
    a, b = f.slice(x, (0, 0), (26, 64)), f.slice(x, (0, 64), (26, 64))
    r = f.join(1, f.mixed((26, 64), a, (c, [1]), b, (s, [1])), f.mixed((26, 64), b, (c, [1]), a, (s, [1])))
    if narrow:
        r = f.compute((26, 128), [(r, [0, 1])], ["%y = arith.truncf %x0 : f32 to bf16"], "%y", "bf16")
    return f.end(r)


def along(dimension, kind):
    f = Function(f"along_{dimension}_{kind}", kind)
    shapes = [[5, 6, 7] for _ in range(3)]
    for i, each in enumerate(shapes):
        each[dimension] = (3, 1, 8)[i]
    parts = [f.mixed(shape, f.argument(*shape), (f.argument(shape[2], shape[0]), [2, 0]), (f.argument(shape[1]), [1])) for shape in shapes]
    return f.end(f.join(dimension, *parts))


def many(count):
    f = Function(f"many_{count}")
    x = f.argument(count, 33)
    parts = [f.mixed((1, 33), f.slice(x, (i, 0), (1, 33)), f.slice(x, ((i * 7 + 3) % count, 0), (1, 33))) for i in range(count)]
    return f.end(f.join(0, *parts))


def others():
    text = ""
    f = Function("places")
    text += f.end(f.join(1, f.placed((9, 4), f.argument(9, 4)), f.placed((9, 11), f.argument(9, 11))))
    f = Function("twice")
    part = f.mixed((8, 5), f.argument(8, 5), f.argument(8, 5))
    text += f.end(f.join(0, part, part))
    f = Function("read_by_another")
    part, other = f.mixed((8, 5), f.argument(8, 5), f.argument(8, 5)), f.mixed((8, 5), f.argument(8, 5))
    text += f.end(f.join(1, part, other), part)
    f = Function("of_nothing")
    text += f.end(f.join(0, f.mixed((0, 5), f.argument(0, 5)), f.mixed((3, 5), f.argument(3, 5)), f.mixed((0, 5), f.argument(0, 5))))
    f = Function("stacked")
    x, y = f.argument(6, 10), f.argument(10)
    parts = [f.reshape(f.mixed((6, 10), x, (y, [1])), (6, 1, 10), "[[0, 1], [2]]"), f.reshape(f.mixed((6, 10), x), (6, 1, 10), "[[0, 1], [2]]")]
    text += f.end(f.join(1, *parts))
    f = Function("without_a_dimension")
    x = f.argument(4, 1, 9)
    parts = [f.reshape(f.mixed((4, 1, 9), x), (4, 9), "[[0, 1], [2]]"), f.reshape(f.mixed((4, 1, 9), x, (x, [0, 1, 2])), (4, 9), "[[0, 1], [2]]")]
    text += f.end(f.join(1, *parts))
    f = Function("stepped")
    x = f.argument(9, 20)
    parts = [f.slice(x, (1, 1), (4, 10), (2, 2)), f.mixed((4, 10), f.slice(x, (0, 0), (4, 10), (2, 2)), f.slice(x, (5, 3), (4, 10)))]
    text += f.end(f.join(0, *parts))
    f = Function("of_wholes")
    x, y = f.argument(6, 4), f.argument(6, 3)
    text += f.end(f.join(1, f.mixed((6, 10), f.join(1, f.mixed((6, 4), x), f.mixed((6, 3), y), f.mixed((6, 3), y, y)), f.argument(6, 10)), f.mixed((6, 4), x, x)))
    for name, shape, along_loops, sums in (("repeated", (5, 7, 12), [1, 2], ()), ("turned", (12, 7), [1, 0], ()), ("added_up", (7, 12), [0, 1], (1,))):
        f = Function(name)
        whole = f.join(1, f.mixed((7, 8), f.argument(7, 8), f.argument(7, 8)), f.mixed((7, 4), f.argument(7, 4)))
        lines = ["%y = arith.addf %x0, %o : f32"] if sums else ["%y = arith.mulf %x0, %x0 : f32"]
        text += f.end(f.compute(shape, [(whole, along_loops)], lines, "%y", sums=sums))
    return text


def main():
    text = rotary("f32", False) + rotary("f32", True) + rotary("f16", False) + others()
    for kind in ("f32", "f16", "i32", "i8"):
        for dimension in range(3):
            text += along(dimension, kind)
    for count in (5, 16, 17):
        text += many(count)
    print(f"module {{\n{text}}}")


main()
