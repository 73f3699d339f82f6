"""Attention whose mask is a condition on places: every form that one is written in, with numbers that leave rows out, that leave nothing out, that
leave all out, and that wrap; a program with lines that say how it is run (tests/gpu/compiled.py)."""

ROWS, KEYS, DEPTH, WIDTH, BATCHES = 200, 330, 64, 48, 2
# Rows that are few enough for another kernel, and the conditions that are tried with them.
FEW_ROWS, OF_FEW_ROWS = (4, 1), ("until", "later", "outside", "nothing", "after_prefix", "lengths", "some_and_until")
HEAD = """%i = linalg.index 1 : index
      %j = linalg.index 2 : index
      %i32 = arith.index_cast %i : index to i32
      %j32 = arith.index_cast %j : index to i32"""
CAUSAL = "%seen = arith.cmpi sle, %j32, %i32 : i32"
ONE, EACH_BATCH, EACH_ROW = "()", "(b)", "(i)"  # What a number beside the scores depends on.
# Name, what decides (`%seen`; `%n` is the number beside the scores), what that number depends on, the numbers that are tried.
CONDITIONS = [
    ("until", CAUSAL, None, [None]),
    ("from_row", "%seen = arith.cmpi sge, %i32, %j32 : i32", None, [None]),
    ("as_indices", "%seen = arith.cmpi uge, %i, %j : index", None, [None]),
    ("hidden", "%hidden = arith.cmpi sgt, %j32, %i32 : i32", None, [None]),
    ("later", "%seen = arith.cmpi sge, %j32, %i32 : i32", None, [None]),
    ("band", """%c = arith.constant 70 : i32
      %begin = arith.subi %i32, %c : i32
      %after = arith.cmpi sgt, %j32, %begin : i32
      %before = arith.cmpi sle, %j32, %i32 : i32
      %seen = arith.andi %before, %after : i1""", None, [None]),
    ("outside", """%c = arith.constant 70 : i32
      %distance = arith.subi %i32, %j32 : i32
      %near = arith.cmpi slt, %distance, %c : i32
      %before = arith.cmpi sge, %j32, %i32 : i32
      %seen = arith.xori %before, %near : i1""", None, [None]),
    ("either", """%c = arith.constant 16 : i32
      %first = arith.cmpi slt, %j32, %c : i32
      %before = arith.cmpi sle, %j32, %i32 : i32
      %seen = arith.ori %before, %first : i1""", None, [None]),
    ("one_place", "%seen = arith.cmpi eq, %j32, %i32 : i32", None, [None]),
    ("other_places", "%seen = arith.cmpi ne, %j32, %i32 : i32", None, [None]),
    ("nothing", """%c = arith.constant 0 : i32
      %seen = arith.cmpi slt, %j32, %c : i32""", None, [None]),
    ("after_prefix", """%end = arith.addi %i32, %n : i32
      %seen = arith.cmpi sle, %j32, %end : i32""", ONE, ["0", "77", "-40", "-1000", "2147483600"]),
    ("lengths", "%seen = arith.cmpi slt, %j32, %n : i32", EACH_BATCH, ["[64 65]", "[1 330]", "[0 9999]"]),
    ("lengths_too", """%known = arith.cmpi slt, %j32, %n : i32
      %before = arith.cmpi sle, %j32, %i32 : i32
      %seen = arith.andi %before, %known : i1""", EACH_BATCH, ["[130 1]"]),
    ("until_rows_place", "%seen = arith.cmpi sle, %j32, %n : i32", EACH_ROW, ["3"]),
    ("some_and_until", """%zero = arith.constant 0 : i32
      %known = arith.cmpi sgt, %n, %zero : i32
      %before = arith.cmpi sle, %j32, %i32 : i32
      %seen = arith.andi %before, %known : i1""", EACH_ROW, ["1", "0"]),
]
LEAST = {"f16": "0xFBFF", "bf16": "0xFF7F", "f32": "0xFF7FFFFF"}
INFINITY = {"f16": "0xFC00", "bf16": "0xFF80", "f32": "0xFF800000"}
NEAR = {"f16": "-5.0", "bf16": "-5.0", "f32": "-5.0"}  # Beside it the scores that count are not everything.
NOTHINGS = (("least", LEAST), ("infinity", INFINITY), ("near", NEAR))


def tensor(shape, kind):
    return f"tensor<{'x'.join(map(str, [*shape, kind]))}>"


def masked_type(kind, wide):
    return "f32" if wide else kind


def layer(mark, kind, wide, condition, hides, number, nothing, of_q, width=WIDTH):
    """One attention of `of_q`, which gives %r{mark}. `number`: where it depends on rows and keys, its tensor's type, its own."""
    of_scores = masked_type(kind, wide)
    scores, weights = tensor([BATCHES, ROWS, KEYS], of_scores), tensor([BATCHES, ROWS, KEYS], kind)
    q, k = tensor([BATCHES, ROWS, DEPTH], kind), tensor([BATCHES, KEYS, DEPTH], kind)
    v, result = tensor([BATCHES, KEYS, width], kind), tensor([BATCHES, ROWS, width], kind)
    whole = "affine_map<(b, i, j) -> (b, i, j)>"
    maps = [whole] + ([f"affine_map<(b, i, j) -> {number[0]}>"] if number else []) + [whole]
    ins, types = ["%s" + mark] + (["%numbers"] if number else []), [scores] + ([number[1]] if number else [])
    chosen = f"%none, %scaled : {of_scores}" if hides else f"%scaled, %none : {of_scores}"
    narrowed = f"""    %w{mark} = linalg.generic {{indexing_maps = [{whole}, {whole}], iterator_types = ["parallel", "parallel", "parallel"]}}
        ins(%u{mark} : {scores}) outs(%ew{mark} : {weights}) {{
    ^bb0(%x: f32, %o: {kind}):
      %y = arith.truncf %x : f32 to {kind}
      linalg.yield %y : {kind}
    }} -> {weights}
""" if wide else ""
    product = f"""    %s{mark} = linalg.generic {{indexing_maps = [affine_map<(b, i, j, e) -> (b, i, e)>, affine_map<(b, i, j, e) -> (b, j, e)>, affine_map<(b, i, j, e) -> (b, i, j)>],
        iterator_types = ["parallel", "parallel", "parallel", "reduction"]}} ins({of_q}, %k : {q}, {k}) outs(%fs{mark} : {scores}) {{
    ^bb0(%x: {kind}, %y: {kind}, %o: f32):
      %a = arith.extf %x : {kind} to f32
      %c = arith.extf %y : {kind} to f32
      %p = arith.mulf %a, %c : f32
      %sum = arith.addf %o, %p : f32
      linalg.yield %sum : f32
    }} -> {scores}
""" if wide else f"    %s{mark} = linalg.batch_matmul_transpose_b ins({of_q}, %k : {q}, {k}) outs(%fs{mark} : {scores}) -> {scores}\n"
    return f"""    %zs{mark} = arith.constant 0.0 : {of_scores}
    %es{mark} = tensor.empty() : {scores}
    %ew{mark} = tensor.empty() : {weights}
    %fs{mark} = linalg.fill ins(%zs{mark} : {of_scores}) outs(%es{mark} : {scores}) -> {scores}
{product}    %m{mark} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = ["parallel", "parallel", "parallel"]}}
        ins({', '.join(ins)} : {', '.join(types)}) outs(%es{mark} : {scores}) {{
    ^bb0(%x: {of_scores}, {f'%n: {number[2]}, ' if number else ''}%o: {of_scores}):
      {HEAD}
      {condition}
      %none = arith.constant {nothing[of_scores]} : {of_scores}
      %root = arith.constant 7.5 : {of_scores}
      %scaled = arith.divf %x, %root : {of_scores}
      %y = arith.select {'%hidden' if hides else '%seen'}, {chosen}
      linalg.yield %y : {of_scores}
    }} -> {scores}
    %{'u' if wide else 'w'}{mark} = linalg.softmax dimension(2) ins(%m{mark} : {scores}) outs(%es{mark} : {scores}) -> {scores}
{narrowed}    %zr{mark} = arith.constant 0.0 : {kind}
    %er{mark} = tensor.empty() : {result}
    %fr{mark} = linalg.fill ins(%zr{mark} : {kind}) outs(%er{mark} : {result}) -> {result}
    %r{mark} = linalg.batch_matmul ins(%w{mark}, %v : {weights}, {v}) outs(%fr{mark} : {result}) -> {result}
"""


def number_type(depends):
    shape = {ONE: [], EACH_BATCH: [BATCHES], EACH_ROW: [ROWS]}[depends]
    return tensor(shape, "i32")


def function(name, kind, wide, condition, depends, nothing):
    q, k, v, result = (tensor([BATCHES, *shape], kind) for shape in ((ROWS, DEPTH), (KEYS, DEPTH), (KEYS, WIDTH), (ROWS, WIDTH)))
    number = (depends, number_type(depends), "i32") if depends else None
    given = f"%q: {q}, %k: {k}, %v: {v}" + (f", %numbers: {number[1]}" if number else "")
    return f"""  func.func @{name}({given}) -> {result} {{
{layer('', kind, wide, condition, '%hidden' in condition, number, nothing, '%q')}    return %r : {result}
  }}
"""


def shared(name, kind):
    """Two layers with one mask, which is a tensor of its own."""
    q, k = tensor([BATCHES, ROWS, DEPTH], kind), tensor([BATCHES, KEYS, DEPTH], kind)
    mask = tensor([ROWS, KEYS], "i1")
    number = ("(i, j)", mask, "i1")
    layers = "".join(layer(mark, kind, False, "%seen = arith.andi %n, %n : i1", False, number, LEAST, of_q, DEPTH)
                     for mark, of_q in (("1", "%q"), ("2", "%r1")))
    return f"""  func.func @{name}(%q: {q}, %k: {k}, %v: {k}, %places: tensor<{ROWS}xi32>) -> {q} {{
    %em = tensor.empty() : {mask}
    %numbers = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
        ins(%places : tensor<{ROWS}xi32>) outs(%em : {mask}) {{
    ^bb0(%place: i32, %o: i1):
      %j = linalg.index 1 : index
      %j32 = arith.index_cast %j : index to i32
      %seen = arith.cmpi sle, %j32, %place : i32
      linalg.yield %seen : i1
    }} -> {mask}
{layers}    return %r2 : {q}
  }}
"""


def case(name, kind, depends, number):
    inputs = [f"{BATCHES}x{ROWS}x{DEPTH}={kind}:unit", f"{BATCHES}x{KEYS}x{DEPTH}={kind}:unit", f"{BATCHES}x{KEYS}x{WIDTH}={kind}:positive"]
    if depends == ONE:
        inputs.append(f"i32={number}")
    elif depends:
        inputs.append(f"{BATCHES if depends == EACH_BATCH else ROWS}xi32={number.replace(' ', ',')}")
    print("// CASE:", name, *["--input=" + each for each in inputs])


def few_rows(kinds):
    global ROWS
    text, number, all_rows = "", 0, ROWS
    for ROWS in FEW_ROWS:
        for title, condition, depends, values in CONDITIONS:
            if title not in OF_FEW_ROWS:
                continue
            for which, nothing in NOTHINGS if title == "lengths" else [NOTHINGS[number % len(NOTHINGS)]]:
                kind, wide = kinds[number % len(kinds)]
                number += 1
                name = f"{title}_of_{ROWS}_{which}_{kind}{'_wide' if wide else ''}"
                text += function(name, kind, wide, condition, depends, nothing)
                for value in values:
                    case(name, kind, depends, value)
    ROWS = all_rows
    return text


def main():
    text = ""
    kinds = [("f16", False), ("bf16", False), ("bf16", True), ("f32", False)]
    for number, (title, condition, depends, values) in enumerate(CONDITIONS):
        for which, nothing in NOTHINGS:
            kind, wide = kinds[(number + len(which)) % len(kinds)]
            name = f"{title}_{which}_{kind}{'_wide' if wide else ''}"
            text += function(name, kind, wide, condition, depends, nothing)
            for value in values:
                case(name, kind, depends, value)
    text += few_rows(kinds)
    text += shared("shared_f16", "f16")
    inputs = [f"{BATCHES}x{ROWS}x{DEPTH}=f16:unit", *[f"{BATCHES}x{KEYS}x{DEPTH}=f16:unit"] * 2, f"{ROWS}xi32=100"]
    print("// CASE: shared_f16", *["--input=" + each for each in inputs])
    print(text)


main()
