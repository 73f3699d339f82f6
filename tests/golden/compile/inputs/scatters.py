"""Scatters (compiler-lite/codegen/scatter.hpp) as linalg.generic: each operation, of 32 and 64 bits, over loops in several orders, with open
sizes, with rows that the body computes or reads by an index, and what is none; a program with lines that say how it is run
(tests/gpu/compiled.py)."""

JOINS = ["arith.addi", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui", "arith.andi", "arith.ori"]


def tensor(shape, kind):
    return kind if shape is None else f"tensor<{'x'.join(map(str, [*shape, kind]))}>"


def scatter(old, inputs, kind, loops, row, land, value, joined, attributes=""):
    """`loops` are letters, of which `inputs` are (value, shape, kind, letters) and `old` (value, shape, letters); lands go to the loop `row`."""
    names = ", ".join(loops)
    maps = ", ".join(f"affine_map<({names}) -> ({', '.join(letters)})>" for letters in [*(each[3] for each in inputs), old[2]])
    kinds = ", ".join('"parallel"' if each in old[2] else '"reduction"' for each in loops)
    given = ", ".join(each[0] for each in inputs) + " : " + ", ".join(tensor(each[1], each[2]) for each in inputs)
    arguments = ", ".join([*(f"%x{i}: {each[2]}" for i, each in enumerate(inputs)), f"%so_far: {kind}"])
    out = tensor(old[1], kind)
    return f"""    %made = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]{attributes}}} ins({given}) outs({old[0]} : {out}) {{
    ^bb0({arguments}):
      %row = linalg.index {loops.index(row)} : index
{land}
{value}
      %joined = {joined}
      %hit = arith.cmpi eq, %number, %land : {'index' if '%number = arith.addi' in land else 'i32'}
      %next = arith.select %hit, %joined, %so_far : {kind}
      linalg.yield %next : {kind}
    }} -> {out}
    return %made : {out}
"""


# Rows from data: what is negative, and what is behind the end, lands nowhere.
def lands(rows):
    return f"""      %number = arith.index_cast %row : index to i32
      %rows = arith.constant {rows + 3} : i32
      %land = arith.remsi %x0, %rows : i32"""


def function(name, arguments, result, body, open_sizes=False):
    shown = ", ".join(f"%a{i}: {tensor(shape and ['?' if open_sizes else size for size in shape], kind)}" for i, (shape, kind) in enumerate(arguments))
    filled = " ".join(f"--input={kind}=7" if shape is None else f"--input={'x'.join(map(str, shape))}={kind}" for shape, kind in arguments)
    print(f"// CASE: {name} {filled}\nfunc.func @{name}({shown}) -> {result} {{\n{body}}}")


def main():
    for kind in ("i32", "i64"):
        for join in JOINS:
            value = scatter(("%a2", [40, 5], "rc"), [("%a0", [900], "i32", "i"), ("%a1", [900, 5], kind, "ic")], kind, "rci", "r", lands(40), "",
                            f"{join} %so_far, %x1 : {kind}")
            function(f"{join[6:]}_{kind}", [([900], "i32"), ([900, 5], kind), ([40, 5], kind)], tensor([40, 5], kind), value)
    # Loops in other orders, several columns, several dimensions of updates.
    for loops in ("icr", "cri", "ric"):
        body = scatter(("%a2", [40, 5], "rc"), [("%a0", [900], "i32", "i"), ("%a1", [900, 5], "i32", "ic")], "i32", loops, "r", lands(40), "",
                       "arith.addi %x1, %so_far : i32")
        function(f"loops_{loops}", [([900], "i32"), ([900, 5], "i32"), ([40, 5], "i32")], tensor([40, 5], "i32"), body)
    body = scatter(("%a2", [3, 40, 5], "crd"), [("%a0", [9, 50], "i32", "ij"), ("%a1", [5, 9, 3, 50], "i32", "dicj")], "i32", "crdij", "r", lands(40), "",
                   "arith.maxsi %x1, %so_far : i32")
    function("several", [([9, 50], "i32"), ([5, 9, 3, 50], "i32"), ([3, 40, 5], "i32")], tensor([3, 40, 5], "i32"), body)
    # Each row of a matrix has updates of its own.
    body = scatter(("%a2", [7, 40], "br"), [("%a0", [7, 90], "i32", "bi"), ("%a1", [7, 90], "i32", "bi")], "i32", "bri", "r", lands(40), "",
                   "arith.addi %x1, %so_far : i32")
    function("batches", [([7, 90], "i32"), ([7, 90], "i32"), ([7, 40], "i32")], tensor([7, 40], "i32"), body)
    # How many updates fall into each row: nothing is read but where they land.
    body = scatter(("%a1", [40], "r"), [("%a0", [5000], "i32", "i")], "i32", "ri", "r", lands(40), "      %one = arith.constant 1 : i32", "arith.addi %so_far, %one : i32")
    function("histogram", [([5000], "i32"), ([40], "i32")], tensor([40], "i32"), body)
    # What is added is read by the row.
    value = f"""      %at = arith.index_cast %land : i32 to index
      %column = linalg.index 1 : index
      %scale = tensor.extract %a3[%at, %column] : {tensor([40, 5], "i32")}
      %scaled = arith.muli %scale, %x1 : i32"""
    body = scatter(("%a2", [40, 5], "rc"), [("%a0", [900], "i32", "i"), ("%a1", [900, 5], "i32", "ic")], "i32", "rci", "r", lands(40), value, "arith.addi %so_far, %scaled : i32")
    function("read_by_row", [([900], "i32"), ([900, 5], "i32"), ([40, 5], "i32"), ([40, 5], "i32")], tensor([40, 5], "i32"), body)
    # A number for all of them, which is no tensor.
    body = scatter(("%a2", [40], "r"), [("%a0", [900], "i32", "i"), ("%a1", None, "i32", "")], "i32", "ri", "r", lands(40), "", "arith.addi %so_far, %x1 : i32")
    function("number", [([900], "i32"), (None, "i32"), ([40], "i32")], tensor([40], "i32"), body)
    # Open sizes.
    sizes = ["?", "?"]
    body = scatter(("%a2", sizes, "rc"), [("%a0", ["?"], "i32", "i"), ("%a1", sizes, "i32", "ic")], "i32", "rci", "r", lands(40), "", "arith.addi %so_far, %x1 : i32")
    function("open", [([900], "i32"), ([900, 5], "i32"), ([43, 5], "i32")], tensor(sizes, "i32"), body, open_sizes=True)
    # Rows of which each has one update at most: any type, any operation, or none.
    own = """      %update = linalg.index 2 : index
      %factor = arith.constant 7 : index
      %end = arith.constant 45 : index
      %nothing = arith.constant 0 : index
      %moved = arith.muli %update, %factor : index
      %land = arith.remui %moved, %end : index
      %number = arith.addi %row, %nothing : index"""
    for kind, join in (("f32", "arith.addf"), ("f32", "arith.mulf"), ("f16", "arith.maximumf"), ("f64", "arith.addf"), ("i8", "arith.muli"), ("i16", "arith.xori"), ("bf16", "")):
        joined = f"{join} %so_far, %x0 : {kind}" if join else f"arith.select %true, %x0, %x0 : {kind}"
        value = "" if join else "      %true = arith.constant true"
        body = scatter(("%a1", [41, 5], "rc"), [("%a0", [44, 5], kind, "ic")], kind, "rci", "r", own, value, joined, ", baton.unique_rows")
        function(f"unique_{kind}_{join[6:] or 'set'}", [([44, 5], kind), ([41, 5], kind)], tensor([41, 5], kind), body)
    # No scatters: the sum depends on the order, the rows on what is there, or on the row that looks.
    body = scatter(("%a2", [40, 5], "rc"), [("%a0", [90], "i32", "i"), ("%a1", [90, 5], "f32", "ic")], "f32", "rci", "r", lands(40), "", "arith.addf %so_far, %x1 : f32")
    function("none_of_floats", [([90], "i32"), ([90, 5], "f32"), ([40, 5], "f32")], tensor([40, 5], "f32"), body)
    body = scatter(("%a1", [40], "r"), [("%a0", [90], "i32", "i")], "i32", "ri", "r", lands(40), "      %twice = arith.addi %so_far, %so_far : i32", "arith.addi %twice, %x0 : i32")
    function("none_twice", [([90], "i32"), ([40], "i32")], tensor([40], "i32"), body)
    body = scatter(("%a1", [40], "r"), [("%a0", [90], "i32", "i")], "i32", "ri", "r", lands(40), "      %mine = arith.addi %number, %x0 : i32", "arith.addi %so_far, %mine : i32")
    function("none_of_rows", [([90], "i32"), ([40], "i32")], tensor([40], "i32"), body)


main()
