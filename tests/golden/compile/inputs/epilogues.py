"""Products with an operation behind them that goes over their sums element by element, in every form in which the two can stand: a
program with lines that say how it is run (tests/gpu/compiled.py)."""

# Operands, sums, results; rows, columns and steps, tiles that are whole and that are not; what the operation does.
CASES = [
    ("f32", "f32", ["f32"], (128, 192, 64), "bias residual"),
    ("f32", "f32", ["f32"], (65, 71, 33), "bias tanh"),
    ("f32", "f32", ["f16"], (70, 64, 40), "scale turned"),
    ("f32", "f32", ["f32", "i1"], (66, 130, 48), "places"),
    ("f32", "f32", ["f32"], (130, 66, 48), "batch bias turned"),
    ("f16", "f32", ["f16"], (128, 256, 64), "bias tanh"),
    ("f16", "f32", ["f16", "f32"], (129, 138, 72), "residual bias"),
    ("f16", "f32", ["f16"], (1024, 4096, 64), "few bias"),
    ("f16", "f16", ["f16"], (130, 64, 40), "bias scale"),
    ("bf16", "f32", ["bf16"], (256, 128, 128), "scale turned"),
    ("bf16", "f32", ["f32"], (67, 131, 65), "batch bias residual"),
    ("bf16", "f32", ["bf16", "i1"], (192, 264, 64), "places"),
    ("i8", "i32", ["i8"], (130, 68, 96), "bias"),
    ("i32", "i32", ["i32"], (64, 64, 64), "residual turned"),
    ("f64", "f64", ["f64"], (65, 72, 40), "bias residual"),
    ("f32", "f32", ["i1"], (64, 64, 128), "places"),
    ("f16", "f32", ["i1", "f32"], (128, 66, 64), "places"),
    ("f32", "f32", ["f32"], (128, 128, 48), "pow"),
    ("f16", "f32", ["f32"], (128, 130, 64), "bias tanh"),
    ("bf16", "bf16", ["bf16"], (72, 128, 64), "residual bias"),
]


def tensor(shape, kind):
    return f"tensor<{'x'.join(map(str, shape))}x{kind}>"


def function(name, operand, sums, results, sizes, does):
    does = does.split()
    rows, columns, steps = sizes
    batch = [3] if "batch" in does else []
    place = ["b"] * len(batch) + ["i", "j"]
    turned = batch + [columns, rows] if "turned" in does else batch + [rows, columns]
    whole, made = f"({', '.join(place)})", f"({', '.join(place[:-2] + (['j', 'i'] if 'turned' in does else ['i', 'j']))})"
    letter = "i" if sums[0] == "i" else "f"
    types = {"a": tensor(batch + [rows, steps], operand), "b": tensor(batch + [steps, columns], operand)}
    product, maps, names, body, last = tensor(batch + [rows, columns], sums), [whole], ["%x: " + sums], "", "%x"
    for each in does:
        if each in ("bias", "scale", "residual"):
            shape = {"bias": [columns], "scale": [rows], "residual": batch + [rows, columns]}[each]
            types[each] = tensor(shape, sums)
            maps.append({"bias": "(j)", "scale": "(i)", "residual": whole}[each])
            names.append(f"%{each[0]}0: {sums}")
            body += f"      %{each[0]}1 = arith.{'mul' if each == 'scale' else 'add'}{letter} {last}, %{each[0]}0 : {sums}\n"
            last = f"%{each[0]}1"
        elif each == "tanh":
            body += f"      %t1 = math.tanh {last} : {sums}\n"
            last = "%t1"
        elif each == "pow":
            body += f"      %w1 = math.absf {last} : {sums}\n      %w2 = math.powf %w1, %w1 : {sums}\n      %w3 = math.tanh %w2 : {sums}\n"
            last = "%w3"
        elif each == "places":
            body += f"""      %row = linalg.index {len(place) - 2} : index
      %column = linalg.index {len(place) - 1} : index
      %is_left = arith.cmpi ule, %column, %row : index
      %p1 = arith.select %is_left, {last}, %zero : {sums}
"""
            last = "%p1"
    empties, outs, yields = "", [], []
    for number, kind in enumerate(results):
        empties += f"    %e{number} = tensor.empty() : {tensor(turned, kind)}\n"
        outs.append((f"%e{number}", tensor(turned, kind)))
        names.append(f"%out{number}: {kind}")
        maps.append(made)
        if kind == "i1":
            yields.append(("%is_left", kind))
        elif kind == sums:
            yields.append((last, kind))
        else:
            body += f"      %y{number} = arith.trunc{letter} {last} : {sums} to {kind}\n"
            yields.append((f"%y{number}", kind))
    inputs = ", ".join(f"%{each}: {kind}" for each, kind in types.items())
    given = ", ".join(["%p"] + [f"%{each}" for each in types if each not in "ab"])
    given_types = ", ".join([product] + [kind for each, kind in types.items() if each not in "ab"])
    made_types = ", ".join(kind for _, kind in outs)
    affine = ", ".join(f"affine_map<{whole} -> {each}>" for each in maps)
    returned, returned_types, result = "%r", made_types, "%r"
    if len(results) > 1:
        returned, result, made_list = ", ".join(f"%r#{i}" for i in range(len(results))), f"%r:{len(results)}", f"({made_types})"
    else:
        made_list = made_types
    cut = ""
    if "few" in does:  # Of a large tile's result.
        cut = f"    %some = tensor.extract_slice %r[0, 0] [30, 512] [34, 8] : {made_types} to {tensor([30, 512], results[0])}\n"
        returned, returned_types = "%some", tensor([30, 512], results[0])
    return f"""  func.func @{name}({inputs}) -> {f'({returned_types})' if len(results) > 1 else returned_types} {{
    %zero = arith.constant {'0' if letter == 'i' else '0.0'} : {sums}
    %none = tensor.empty() : {product}
    %start = linalg.fill ins(%zero : {sums}) outs(%none : {product}) -> {product}
    %p = linalg.{'batch_' if batch else ''}matmul ins(%a, %b : {types['a']}, {types['b']}) outs(%start : {product}) -> {product}
{empties}    {result} = linalg.generic {{indexing_maps = [{affine}], iterator_types = [{', '.join(['"parallel"'] * len(place))}]}}
        ins({given} : {given_types}) outs({', '.join(each for each, _ in outs)} : {made_types}) {{
    ^bb0({', '.join(names)}):
{body}      linalg.yield {', '.join(each for each, _ in yields)} : {', '.join(kind for _, kind in yields)}
    }} -> {made_list}
{cut}    return {returned} : {returned_types}
  }}
"""


def main():
    text = ""
    for number, (operand, sums, results, sizes, does) in enumerate(CASES):
        name = f"{'_'.join([operand, sums, *results])}_{'_'.join(does.split())}_{number}"
        text += function(name, operand, sums, results, sizes, does)
        signature = text[text.rindex("func.func"):].splitlines()[0]
        inputs = signature[signature.index("("):signature.index("->")].split("tensor<")[1:]
        kinds = [each[:each.index(">")] for each in inputs]
        words = [f"--input={kind[:kind.rindex('x')]}={kind[kind.rindex('x') + 1:]}{'' if 'xi' in kind else ':unit'}" for kind in kinds]
        print(f"// CASE: {name} {' '.join(words)}")
    print(f"module {{\n{text}}}")


main()
