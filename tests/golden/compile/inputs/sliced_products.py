"""Products that are read in slices, as a model's queries, keys and values are made by one: slices that are equal and such as aren't, of a dimension
or of its view, with and without something made of each element; a program with lines that say how it is run (tests/gpu/compiled.py)."""

ROWS, STEPS = 48, 40
# Name, type, columns, the view's sizes of the columns (none: no view), which of these is cut, offsets and sizes of the slices, whether a bias
# is added, whether slices lie as a whole when they are made.
CASES = [
    ("halves", "f16", 256, None, 0, [(0, 128), (128, 128)], True, True),
    ("thirds", "bf16", 384, None, 0, [(0, 128), (128, 128), (256, 128)], True, True),
    ("heads", "f16", 384, (6, 64), 0, [(0, 2), (2, 2), (4, 2)], True, True),
    ("three_by_heads", "f32", 384, (3, 2, 64), 0, [(0, 1), (1, 1), (2, 1)], False, True),
    ("first_and_last", "f16", 384, None, 0, [(0, 128), (256, 128)], False, True),
    ("twice_the_same", "f32", 192, None, 0, [(0, 64), (0, 64), (128, 64)], True, True),
    ("unequal", "f16", 384, None, 0, [(0, 256), (256, 128)], True, False),
    ("astride", "f16", 384, None, 0, [(0, 128), (64, 128)], False, False),
    ("within_heads", "f16", 384, (6, 64), 1, [(0, 32), (32, 32)], True, False),
    ("narrow", "f32", 96, None, 0, [(0, 32), (32, 32), (64, 32)], True, False),
]


def tensor(shape, kind):
    return f"tensor<{'x'.join(map(str, shape))}x{kind}>"


def function(name, kind, columns, view, cut, slices, bias):
    sums, made, viewed = tensor([ROWS, columns], "f32"), tensor([ROWS, columns], kind), [ROWS, *(view or [columns])]
    a, b, added = tensor([ROWS, STEPS], kind), tensor([STEPS, columns], kind), tensor([columns], kind)
    whole, row = "affine_map<(i, j) -> (i, j)>", "affine_map<(i, j) -> (j)>"
    narrow = "%n = arith.addf %x, %zero : f32" if kind == "f32" else f"%n = arith.truncf %x : f32 to {kind}"
    text = f"""    %zero = arith.constant 0.0 : f32
    %es = tensor.empty() : {sums}
    %fs = linalg.fill ins(%zero : f32) outs(%es : {sums}) -> {sums}
    %s = linalg.matmul ins(%a, %b : {a}, {b}) outs(%fs : {sums}) -> {sums}
    %em = tensor.empty() : {made}
    %m = linalg.generic {{indexing_maps = [{whole}, {row}, {whole}], iterator_types = ["parallel", "parallel"]}}
        ins(%s, %bias : {sums}, {added}) outs(%em : {made}) {{
    ^bb0(%x: f32, %y: {kind}, %o: {kind}):
      {narrow}
      %r = arith.addf %n, {'%y' if bias else '%n'} : {kind}
      linalg.yield %r : {kind}
    }} -> {made}
"""
    last = "%m"
    if view:
        groups = "[[0], [" + ", ".join(str(i + 1) for i in range(len(view))) + "]]"
        text += f"    %v = tensor.expand_shape %m {groups} output_shape {viewed} : {made} into {tensor(viewed, kind)}\n"
        last = "%v"
    results, types = [], []
    for number, (offset, size) in enumerate(slices):
        offsets, sizes = [0] * len(viewed), list(viewed)
        offsets[cut + 1], sizes[cut + 1] = offset, size
        kept = [each for each in sizes if each != 1]
        text += (f"    %r{number} = tensor.extract_slice {last}{offsets} {sizes} {[1] * len(sizes)} : {tensor(viewed, kind)} to {tensor(kept, kind)}\n")
        results.append(f"%r{number}")
        types.append(tensor(kept, kind))
    return f"""  func.func @{name}(%a: {a}, %b: {b}, %bias: {added}) -> ({', '.join(types)}) {{
{text}    return {', '.join(results)} : {', '.join(types)}
  }}
"""


def main():
    text = ""
    for name, kind, columns, view, cut, slices, bias, lies_whole in CASES:
        name = f"{name}_{'whole' if lies_whole else 'copied'}"
        text += function(name, kind, columns, view, cut, slices, bias)
        unit = ":unit" if kind != "f32" else ""
        print(f"// CASE: {name} --input={ROWS}x{STEPS}={kind}{unit} --input={STEPS}x{columns}={kind}{unit} --input={columns}={kind}{unit}")
    print(f"module {{\n{text}}}")


main()
