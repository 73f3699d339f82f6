"""Sums of products over several loops that no single step in memory makes: convolutions of 1 to 3 dimensions, with strides, dilations and
numbers of channels that fit nothing, gradients of their kernels, steps and rows apart in memory; a program with lines that say how it is
run (tests/gpu/compiled.py).

    turns.py [more]     with `more`, cases that say nothing new of devices without tensor cores
"""
import sys

# Operands, sums; images, result's places, channels, results' channels, taps, stride, dilation; what goes over the sums, or into them.
CASES = [
    ("f32", "f32", 2, (40,), 16, 32, (3,), 1, 1, ""),
    ("f32", "f32", 1, (9, 70), 16, 33, (3, 3), 1, 1, "bias"),
    ("f32", "f32", 1, (12, 12), 5, 64, (3, 5), 2, 1, "bias"),
    ("f32", "f32", 1, (8, 8), 64, 130, (2, 2), 2, 1, "onto"),
    ("f32", "f32", 2, (4, 6, 33), 16, 32, (3, 3, 3), 1, 1, "bias"),
    ("f32", "f32", 1, (5, 7, 9), 3, 8, (2, 1, 3), 1, 2, ""),
    ("f64", "f64", 1, (6, 20), 12, 24, (3, 3), 1, 2, "bias"),
    ("i32", "i32", 1, (10, 10), 8, 40, (3, 3), 1, 1, "onto"),
    ("i8", "i32", 1, (16, 16), 32, 48, (3, 3), 1, 1, "bias"),
    ("f16", "f32", 1, (14, 14), 16, 64, (3, 3), 1, 1, "bias"),
    ("f16", "f16", 1, (14, 14), 24, 24, (3, 3), 1, 1, ""),
    ("bf16", "f32", 1, (7, 30), 8, 72, (3, 3), 1, 1, "onto"),
    # Rows of an image, and images, that tiles take together; channels that fill no pieces of 16 bytes.
    ("f16", "f16", 4, (7, 7), 32, 64, (3, 3), 1, 1, "bias"),
    ("f16", "f16", 16, (5, 3), 16, 64, (2, 3), 1, 2, "onto"),
    ("f16", "f16", 9, (6,), 12, 64, (3,), 1, 1, "bias"),
    ("f16", "f16", 2, (12, 12), 3, 64, (5, 5), 2, 1, "bias"),
    ("bf16", "f32", 2, (20,), 1, 64, (5,), 1, 1, "onto"),
    ("f32", "f32", 6, (3, 4, 5), 7, 40, (2, 2, 2), 1, 1, ""),
]
# The same, with `more`.
MORE = [
    ("f16", "f32", 3, (7, 7), 8, 72, (3, 3), 1, 1, ""),
    ("f16", "f16", 2, (14, 14), 16, 72, (3, 3), 2, 1, "bias"),
    ("f16", "f16", 8, (3, 4, 5), 8, 40, (2, 2, 2), 1, 1, "bias"),
    ("bf16", "f32", 2, (28, 28), 8, 64, (2, 2), 1, 1, ""),
    ("f16", "f32", 1, (70, 9), 12, 40, (3, 3), 1, 2, ""),
    ("f32", "f32", 4, (7, 7), 16, 64, (3, 3), 1, 1, "bias"),
    ("f64", "f64", 4, (6, 6), 8, 20, (3, 3), 1, 1, "onto"),
    ("i8", "i32", 4, (7, 7), 16, 48, (3, 3), 1, 1, ""),
]
# Of a kernel: operands, images, places, channels, the result's channels, taps.
GRADIENTS = [
    ("f32", 3, (14, 14), 16, 32, (3, 3)),
    ("f32", 2, (7, 56), 64, 128, (3, 3)),
    ("f32", 2, (5, 6, 9), 20, 33, (3, 1, 2)),
    ("f16", 2, (14, 14), 32, 64, (3, 3)),
    ("f32", 1, (56, 28), 32, 64, (3, 3)),
]
# Sums over two loops apart in memory: rows, columns, steps of each.
APART = [("f32", 70, 96, 6, 40), ("f32", 128, 256, 5, 64), ("f64", 33, 34, 7, 20), ("i32", 64, 64, 9, 130), ("f16", 65, 72, 4, 48)]
# Rows that lie in another order than their results: both sizes, columns, steps.
TURNED = [("f16", 6, 9, 72, 40), ("f32", 7, 6, 33, 20)]
MORE_TURNED = [("f16", 3, 50, 64, 64), ("bf16", 16, 12, 128, 24), ("i32", 5, 8, 40, 16)]


def tensor(shape, kind):
    return f"tensor<{'x'.join(map(str, shape))}x{kind}>"


def product(name, types, sizes, maps, kinds, begins, last, result):
    """A sum of products, begun with zeros or with what is given."""
    operand, sums = types
    a, b = (tensor(size, operand) for size in sizes)
    letter, zero = ("f", "0.0") if "f" in sums else ("i", "0")
    widen = "" if operand == sums else "".join(f"      %{x}w = arith.{'extf' if letter == 'f' else 'extsi'} %{x} : {operand} to {sums}\n" for x in "xy")
    x, y = ("%xw", "%yw") if widen else ("%x", "%y")
    parameters = f"%a: {a}, %b: {b}" + (f", %begin: {result}" if begins else "") + (f", %bias: {tensor(last, sums)}" if last else "")
    text = f"  func.func @{name}({parameters}) -> {result} {{\n    %e = tensor.empty() : {result}\n"
    if not begins:
        text += f"    %zero = arith.constant {zero} : {sums}\n    %begin = linalg.fill ins(%zero : {sums}) outs(%e : {result}) -> {result}\n"
    text += f"""    %p = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{', '.join(f'"{each}"' for each in kinds)}]}}
        ins(%a, %b : {a}, {b}) outs(%begin : {result}) {{
    ^bb0(%x: {operand}, %y: {operand}, %o: {sums}):
{widen}      %m = arith.mul{letter} {x}, {y} : {sums}
      %s = arith.add{letter} %o, %m : {sums}
      linalg.yield %s : {sums}
    }} -> {result}
"""
    if last:
        rank = result.count("x")
        loops = ", ".join(f"d{i}" for i in range(rank))
        whole = f"affine_map<({loops}) -> ({loops})>"
        text += f"""    %r = linalg.generic {{indexing_maps = [{whole}, affine_map<({loops}) -> (d{rank - 1})>, {whole}],
        iterator_types = [{', '.join(['"parallel"'] * rank)}]}} ins(%p, %bias : {result}, {tensor(last, sums)}) outs(%e : {result}) {{
    ^bb0(%x: {sums}, %y: {sums}, %o: {sums}):
      %t = arith.add{letter} %x, %y : {sums}
      linalg.yield %t : {sums}
    }} -> {result}
"""
    return text + f"    return %{'r' if last else 'p'} : {result}\n  }}\n"


def run_line(name, shapes):
    print(f"// CASE: {name} {' '.join('--input=' + 'x'.join(map(str, [*shape, ''])).rstrip('x') + '=' + kind for shape, kind in shapes)}")


def convolution(number, operand, sums, images, places, channels, made, taps, stride, dilation, does):
    count = len(places)
    name = f"convolution_{count}d_{operand}_{number}"
    p, t = [f"p{i}" for i in range(count)], [f"t{i}" for i in range(count)]
    loops = ", ".join(["n", *p, "m", *t, "c"])
    at = ", ".join(f"{x} * {stride} + {y} * {dilation}" for x, y in zip(p, t))
    maps = [f"affine_map<({loops}) -> (n, {at}, c)>", f"affine_map<({loops}) -> ({', '.join(t)}, c, m)>", f"affine_map<({loops}) -> (n, {', '.join(p)}, m)>"]
    kinds = ["parallel"] * (count + 2) + ["reduction"] * (count + 1)
    read = [(place - 1) * stride + (tap - 1) * dilation + 1 for place, tap in zip(places, taps)]
    sizes = [[images, *read, channels], [*taps, channels, made]]
    shapes = [(sizes[0], operand), (sizes[1], operand)]
    shapes += [([images, *places, made], sums)] * (does == "onto") + [([made], sums)] * (does == "bias")
    run_line(name, shapes)
    return product(name, (operand, sums), sizes, maps, kinds, does == "onto", [made] if does == "bias" else [], tensor([images, *places, made], sums))


def gradient(number, operand, images, places, channels, made, taps):
    count = len(places)
    name = f"kernel_gradient_{count}d_{operand}_{number}"
    p, t = [f"p{i}" for i in range(count)], [f"t{i}" for i in range(count)]
    loops = ", ".join([*t, "c", "m", "n", *p])
    at = ", ".join(f"{x} + {y}" for x, y in zip(p, t))
    maps = [f"affine_map<({loops}) -> (n, {at}, c)>", f"affine_map<({loops}) -> (n, {', '.join(p)}, m)>", f"affine_map<({loops}) -> ({', '.join(t)}, c, m)>"]
    kinds = ["parallel"] * (count + 2) + ["reduction"] * (count + 1)
    sizes = [[images, *[place + tap - 1 for place, tap in zip(places, taps)], channels], [images, *places, made]]
    run_line(name, [(size, operand) for size in sizes])
    return product(name, (operand, "f32"), sizes, maps, kinds, False, [], tensor([*taps, channels, made], "f32"))


def apart(number, kind, rows, columns, outer, inner):
    name = f"apart_{kind}_{number}"
    sums = "f32" if kind == "f16" else kind
    maps = ["affine_map<(i, j, s, k) -> (s, i, k)>", "affine_map<(i, j, s, k) -> (k, s, j)>", "affine_map<(i, j, s, k) -> (i, j)>"]
    sizes = [[outer, rows, inner], [inner, outer, columns]]
    run_line(name, [(size, kind) for size in sizes])
    return product(name, (kind, sums), sizes, maps, ["parallel", "parallel", "reduction", "reduction"], False, [], tensor([rows, columns], sums))


def turned(number, kind, outer, inner, columns, steps):
    name = f"turned_rows_{kind}_{number}"
    sums = "f32" if kind in ("f16", "bf16") else kind
    maps = ["affine_map<(i, j, m, k) -> (j, i, k)>", "affine_map<(i, j, m, k) -> (k, m)>", "affine_map<(i, j, m, k) -> (i, j, m)>"]
    sizes = [[inner, outer, steps], [steps, columns]]
    run_line(name, [(size, kind) for size in sizes] + [([columns], sums)])
    return product(name, (kind, sums), sizes, maps, ["parallel"] * 3 + ["reduction"], False, [columns], tensor([outer, inner, columns], sums))


def main():
    more = "more" in sys.argv[1:]
    text = "".join(convolution(number, *case) for number, case in enumerate(CASES + (MORE if more else [])))
    text += "".join(gradient(number, *case) for number, case in enumerate(GRADIENTS))
    text += "".join(apart(number, *case) for number, case in enumerate(APART))
    text += "".join(turned(number, *case) for number, case in enumerate(TURNED + (MORE_TURNED if more else [])))
    print(f"module {{\n{text}}}")


main()
