"""Functions that say that they sort rows (compiler-lite/codegen/sort.hpp), and do so themselves by counting: in a tile, of several rows to a tile,
over several kernels; and rows of which blocks of threads sort none. A program with lines that say how it is run (tests/gpu/compiled.py)."""

SIZES = [(64, 256, "i32"), (3, 1024, "i64"), (2, 4096, "i64"), (3, 8192, "i32"), (1, 16384, "i64"), (12, 64, "i32"), (5, 2, "i32"), (7, 300, "i64")]


def main():
    for rows, length, kind in SIZES:
        matrix, places = f"tensor<{rows}x{length}x{kind}>", f"tensor<{rows}x{length}xi32>"
        name = f"sorted_{rows}x{length}_{kind}"
        maps = "affine_map<(r, i, j) -> (r, i)>, affine_map<(r, i, j) -> (r, j)>"
        print(f"""// CASE: {name} --input={rows}x{length}={kind}
func.func @{name}(%a: {matrix}) -> {matrix} {{
  %sorted = call @{name}_rows(%a) : ({matrix}) -> {matrix}
  return %sorted : {matrix}
}}
func.func private @{name}_rows(%a: {matrix}) -> {matrix} attributes {{baton.sorts_rows}} {{
  %none = arith.constant 0 : i32
  %nothing = arith.constant 0 : {kind}
  %empty = tensor.empty() : {places}
  %begin = linalg.fill ins(%none : i32) outs(%empty : {places}) -> {places}
  %place = linalg.generic {{indexing_maps = [{maps}, affine_map<(r, i, j) -> (r, i)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %a : {matrix}, {matrix}) outs(%begin : {places}) {{
  ^bb0(%mine: {kind}, %other: {kind}, %so_far: i32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %is_less = arith.cmpi slt, %other, %mine : {kind}
    %is_equal = arith.cmpi eq, %other, %mine : {kind}
    %is_before = arith.cmpi slt, %j, %i : index
    %stays = arith.andi %is_equal, %is_before : i1
    %counts = arith.ori %is_less, %stays : i1
    %one = arith.extui %counts : i1 to i32
    %sum = arith.addi %so_far, %one : i32
    linalg.yield %sum : i32
  }} -> {places}
  %memory = tensor.empty() : {matrix}
  %zeros = linalg.fill ins(%nothing : {kind}) outs(%memory : {matrix}) -> {matrix}
  %sorted = linalg.generic {{indexing_maps = [affine_map<(r, p, i) -> (r, i)>, affine_map<(r, p, i) -> (r, i)>, affine_map<(r, p, i) -> (r, p)>],
      iterator_types = ["parallel", "parallel", "reduction"]}} ins(%place, %a : {places}, {matrix}) outs(%zeros : {matrix}) {{
  ^bb0(%to: i32, %mine: {kind}, %so_far: {kind}):
    %p = linalg.index 1 : index
    %here = arith.index_cast %p : index to i32
    %is_here = arith.cmpi eq, %to, %here : i32
    %none_here = arith.constant 0 : {kind}
    %chosen = arith.select %is_here, %mine, %none_here : {kind}
    %sum = arith.addi %so_far, %chosen : {kind}
    linalg.yield %sum : {kind}
  }} -> {matrix}
  return %sorted : {matrix}
}}""")


main()
