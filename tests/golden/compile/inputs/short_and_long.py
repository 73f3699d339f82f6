"""Reductions of very short rows, of windows, of very many elements to an extreme and its place, and of images to the gradient of a
kernel; a program with lines that say how it is run (tests/gpu/compiled.py)."""


def tensor(shape, kind):
    return f"tensor<{'x'.join(map(str, [*shape, kind]))}>"


def dimensions(*names):
    return f"({', '.join(names)})"


class Program:
    def __init__(self):
        self.text = ""

    def function(self, name, inputs, results, body):
        """Inputs are shape, type, and what numbers they are filled with."""
        arguments = ", ".join(f"%a{i}: {tensor(shape, kind)}" for i, (shape, kind, _) in enumerate(inputs))
        types = ", ".join(results)
        self.text += f"  func.func @{name}({arguments}) -> {f'({types})' if len(results) > 1 else types} {{\n{body}  }}\n"
        filled = " ".join(f"--input={'x'.join(map(str, shape))}={kind}{which}" for shape, kind, which in inputs)
        print(f"// CASE: {name} {filled}")


def constants(kind):
    zero = "0.0" if "f" in kind else "0"
    return f"    %zero = arith.constant {zero} : {kind}\n"


def begun(name, shape, kind, value):
    out = tensor(shape, kind)
    return f"    %{name}_e = tensor.empty() : {out}\n    %{name} = linalg.fill ins({value} : {kind}) outs(%{name}_e : {out}) -> {out}\n"


def sums_of_rows(program, rows, length, kind):
    add, out = ("arith.addf" if kind.startswith("f") else "arith.addi"), tensor([rows], kind)
    body = constants(kind) + begun("begin", [rows], kind, "%zero")
    body += f"    %r = linalg.reduce {{ {add} }} ins(%a0 : {tensor([rows, length], kind)}) outs(%begin : {out}) dimensions = [1]\n    return %r : {out}\n"
    program.function(f"sums_{rows}x{length}_{kind}", [([rows, length], kind, "")], [out], body)


def distances_of_rows(program, rows, length):
    """What is computed along each row of what was reduced along it."""
    matrix, column = tensor([rows, length], "f32"), tensor([rows], "f32")
    body = constants("f32") + begun("begin", [rows], "f32", "%zero") + f"""    %s = linalg.reduce {{ arith.addf }} ins(%a0 : {matrix}) outs(%begin : {column}) dimensions = [1]
    %e = tensor.empty() : {matrix}
    %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
        ins(%a0, %s : {matrix}, {column}) outs(%e : {matrix}) {{
    ^bb0(%x: f32, %y: f32, %o: f32):
      %d = arith.subf %x, %y : f32
      linalg.yield %d : f32
    }} -> {matrix}
    return %r : {matrix}
"""
    program.function(f"distances_{rows}x{length}", [([rows, length], "f32", "")], [matrix], body)


def pool(program, window, stride, kind="f32"):
    size = 17 * stride + window
    shape, result = [2, 5, size, size], [2, 5, 18, 18]
    body = f"    %low = arith.constant -1.0e4 : {kind}\n" + begun("begin", result, kind, "%low")
    body += f"""    %w = tensor.empty() : {tensor([window, window], kind)}
    %r = linalg.generic {{indexing_maps = [affine_map<(n, c, y, x, p, q) -> (n, c, y * {stride} + p, x * {stride} + q)>, affine_map<(n, c, y, x, p, q) -> (p, q)>,
        affine_map<(n, c, y, x, p, q) -> (n, c, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}}
        ins(%a0, %w : {tensor(shape, kind)}, {tensor([window, window], kind)}) outs(%begin : {tensor(result, kind)}) {{
    ^bb0(%x: {kind}, %y: {kind}, %o: {kind}):
      %m = arith.maximumf %o, %x : {kind}
      linalg.yield %m : {kind}
    }} -> {tensor(result, kind)}
    return %r : {tensor(result, kind)}
"""
    program.function(f"pool_{window}_by_{stride}_{kind}", [(shape, kind, "")], [tensor(result, kind)], body)


# Of so far (%v) and an element (%x) with the places %i and %p: what a body yields.
KEEPS = """      %k{nan} = arith.{compare} {order}, %v, %x : {kind}
{or_nan}      %eq = arith.{compare} {equal}, %v, %x : {kind}
      %before = arith.cmpi slt, %i, %p : i32
      %tie = arith.andi %eq, %before : i1
      %t = arith.ori %k, %tie : i1
      %value = arith.select %k, %v, %x : {kind}
      %place = arith.select %t, %i, %p : i32
"""
TAKES = """      %k = arith.{compare} {order}, %x, %v : {kind}
      %value = arith.select %k, %x, %v : {kind}
      %place = arith.select %k, %p, %i : i32
"""


def extreme(program, name, form, kind, order, shape, low, place_first=False):
    """The largest or smallest element of each row of the last dimension, and its place."""
    is_float = kind.startswith("f")
    compare = "cmpf" if is_float else "cmpi"
    rows = shape[:-1]
    values, places = tensor(rows, kind), tensor(rows, "i32")
    nan = "      %n = arith.cmpf une, %v, %v : " + kind + "\n      %k = arith.ori %k_ordered, %n : i1\n"
    body = f"    %low = arith.constant {low} : {kind}\n    %c0 = arith.constant 0 : i32\n" + begun("values", rows, kind, "%low") + begun("places", rows, "i32", "%c0")
    loops = [f"d{n}" for n in range(len(shape))]
    whole, each = (f"affine_map<{dimensions(*loops)} -> {dimensions(*some)}>" for some in (loops, loops[:-1]))
    kinds = ", ".join(['"parallel"'] * len(rows) + ['"reduction"'])
    first, second = (("%places", places), ("%values", values)) if place_first else (("%values", values), ("%places", places))
    arguments = f"%i: i32, %v: {kind}" if place_first else f"%v: {kind}, %i: i32"
    yields = f"%place, %value : i32, {kind}" if place_first else f"%value, %place : {kind}, i32"
    body += f"    %r:2 = linalg.generic {{indexing_maps = [{whole}, {each}, {each}], iterator_types = [{kinds}]}}\n"
    body += f"        ins(%a0 : {tensor(shape, kind)}) outs({first[0]}, {second[0]} : {first[1]}, {second[1]}) {{\n    ^bb0(%x: {kind}, {arguments}):\n"
    body += f"      %n0 = linalg.index {len(rows)} : index\n      %p = arith.index_cast %n0 : index to i32\n"
    body += form.format(compare=compare, order=order, kind=kind, equal="oeq" if is_float else "eq", nan="_ordered" if is_float else "",
                        or_nan=nan if is_float else "")
    body += f"      linalg.yield {yields}\n    }} -> ({first[1]}, {second[1]})\n    return %r#0, %r#1 : {first[1]}, {second[1]}\n"
    program.function(f"{name}_{'x'.join(map(str, shape))}_{kind}", [(shape, kind, "")], [first[1], second[1]], body)


def sum_of_products(program, name, kind, image, given, result, loops):
    """`loops`: the maps and the kinds of the loops, as linalg.generic says them."""
    body = constants(kind) + begun("begin", result, kind, "%zero")
    body += f"""    %r = linalg.generic {{{loops}}}
        ins(%a0, %a1 : {tensor(image, kind)}, {tensor(given, kind)}) outs(%begin : {tensor(result, kind)}) {{
    ^bb0(%x: {kind}, %y: {kind}, %o: {kind}):
      %m = arith.mulf %x, %y : {kind}
      %s = arith.addf %o, %m : {kind}
      linalg.yield %s : {kind}
    }} -> {tensor(result, kind)}
    return %r : {tensor(result, kind)}
"""
    program.function(name, [(image, kind, ":unit"), (given, kind, ":unit")], [tensor(result, kind)], body)


def gradient_of_kernel(program, kind, images, channels, made, size, window):
    image, given = [images, channels, size + window - 1, size + window - 1], [images, made, size, size]
    result = [made, channels, window, window]
    sum_of_products(program, f"gradient_{images}x{channels}x{made}x{size}x{window}_{kind}", kind, image, given, result,
                    """indexing_maps = [affine_map<(n, o, p, y, q, x, c) -> (n, c, p + y, q + x)>, affine_map<(n, o, p, y, q, x, c) -> (n, o, y, x)>,
        affine_map<(n, o, p, y, q, x, c) -> (o, c, p, q)>], iterator_types = ["reduction", "parallel", "parallel", "reduction", "parallel", "reduction", "parallel"]""")


def sums_beside_channels(program, kind, shape, order):
    """Over all but the channels of an image, with loops in another order than those of the image."""
    channels = shape[-1]
    loops = ["n", "y", "x", "c"]
    kinds = ", ".join('"parallel"' if loop == "c" else '"reduction"' for loop in order)
    body = constants(kind) + begun("begin", [channels], kind, "%zero")
    body += f"""    %r = linalg.generic {{indexing_maps = [affine_map<{dimensions(*order)} -> {dimensions(*loops)}>, affine_map<{dimensions(*order)} -> (c)>], iterator_types = [{kinds}]}}
        ins(%a0 : {tensor(shape, kind)}) outs(%begin : {tensor([channels], kind)}) {{
    ^bb0(%x: {kind}, %o: {kind}):
      %s = arith.addf %o, %x : {kind}
      linalg.yield %s : {kind}
    }} -> {tensor([channels], kind)}
    return %r : {tensor([channels], kind)}
"""
    program.function(f"channels_{order}_{channels}_{kind}", [(shape, kind, ":positive")], [tensor([channels], kind)], body)


def gradient_of_channels(program, kind, images, channels, size, window):
    """Of a kernel that each channel has for itself."""
    image, given, result = [images, size + window - 1, size + window - 1, channels], [images, size, size, channels], [window, window, channels]
    sum_of_products(program, f"depthwise_{images}x{channels}x{size}x{window}_{kind}", kind, image, given, result,
                    """indexing_maps = [affine_map<(c, n, p, y, q, x) -> (n, p + y, q + x, c)>, affine_map<(c, n, p, y, q, x) -> (n, y, x, c)>,
        affine_map<(c, n, p, y, q, x) -> (p, q, c)>], iterator_types = ["parallel", "reduction", "parallel", "reduction", "parallel", "reduction"]""")


def main():
    program = Program()
    for kind, orders in (("f32", ("nyxc", "ncyx")), ("f16", ("cnyx",)), ("bf16", ("cnyx",))):
        for order in orders:
            sums_beside_channels(program, kind, [11, 64, 64, 24], order)
        gradient_of_channels(program, kind, 8, 40, 28, 3)
    for length in (2, 3, 5, 8, 15, 16, 17):
        for rows in (7, 3000):
            sums_of_rows(program, rows, length, "f32")
        distances_of_rows(program, 3000, length)
    for kind in ("f16", "f64", "i32", "i8"):
        sums_of_rows(program, 501, 3, kind)
        sums_of_rows(program, 501, 12, kind)
    for window, stride in ((2, 2), (3, 2), (3, 1), (5, 5)):
        pool(program, window, stride)
    pool(program, 3, 2, "f16")
    for shape in ([100000], [3, 65536], [40, 300], [700, 5]):
        extreme(program, "largest", KEEPS, "f32", "ogt", shape, "0xFF800000")
        extreme(program, "smallest", KEEPS, "i32", "slt", shape, "2147483647")
        extreme(program, "larger", TAKES, "f32", "ogt", shape, "-3.0e38", place_first=True)
        extreme(program, "smaller", TAKES, "i8", "ult", shape, "-1")
    for kind in ("f32", "f16"):
        gradient_of_kernel(program, kind, 8, 20, 33, 14, 3)
        gradient_of_kernel(program, kind, 2, 32, 64, 7, 1)
        gradient_of_kernel(program, kind, 3, 16, 9, 28, 5)
    print(f"module {{\n{program.text}}}")


main()
