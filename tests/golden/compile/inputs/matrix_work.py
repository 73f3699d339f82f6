"""Functions that say that they turn lines or factor matrices (compiler-lite/codegen/matrix_work.hpp): such as one block does, such as several do
in panels, and such as none takes. What stands in them is what nobody runs here."""


def tensor(shape, kind):
    return f"tensor<{'x'.join(map(str, [*shape, kind]))}>"


def function(name, attribute, operands, results):
    arguments = [f"%a{i}" for i in range(len(operands))]
    taken = ", ".join(f"{a}: {kind}" for a, kind in zip(arguments, operands))
    kinds = ", ".join(results)
    print(f"""func.func @{name}({taken}) -> ({kinds}) {{
  %made:{len(results)} = call @{name}_of_all({", ".join(arguments)}) : ({", ".join(operands)}) -> ({kinds})
  return {", ".join(f"%made#{i}" for i in range(len(results)))} : {kinds}
}}
func.func private @{name}_of_all({taken}) -> ({kinds}) attributes {{{attribute}}} {{""")
    for i, kind in enumerate(results):
        zero = "0" if kind.endswith("i32>") else "0.0"
        print(f"  %r{i} = arith.constant dense<{zero}> : {kind}")
    print(f"  return {', '.join(f'%r{i}' for i in range(len(results)))} : {kinds}\n}}")


def lines(name, shape, compared, kind="f32"):
    function(name, f"baton.rotates = {compared} : i64", [tensor(shape, kind)], [tensor(shape, kind)])


def factors(name, what, shape, others, kind="f32"):
    """`others`: what stands beside the matrices in operands or results."""
    matrices, (matrix_count, rows, columns) = tensor(shape, kind), shape
    least = min(rows, columns)
    operands, results = [matrices], [matrices]
    if what == "lu":
        results.append(tensor((matrix_count, others or least), "i32"))
    elif what == "qr":
        results.append(tensor((matrix_count, others or least), kind))
    elif what == "reflections":
        operands.append(tensor((matrix_count, others or least), kind))
    elif what == "permutation":
        results = [tensor((matrix_count, rows, others), kind)]
    elif what.startswith("solve"):
        operands.append(tensor((matrix_count, rows, others or 1), kind))
        results = [operands[1]]
    function(name, f'baton.factors = "{what}"', operands, results)


def main():
    lines("lines_of_one_block", (3, 17, 34), 17)
    lines("lines_of_several", (1, 100, 200), 100)
    lines("lines_of_halves", (1, 8, 8), 8, "f16")
    lines("lines_too_long", (1, 2, 20000), 8)
    lines("one_line", (1, 1, 8), 8)
    lines("lines_compared_beyond_their_end", (1, 4, 8), 9)
    factors("lu_of_one_block", "lu", (2, 20, 30), None)
    factors("lu_in_panels", "lu", (1, 200, 150), None, "f64")
    factors("lu_with_too_few_pivots", "lu", (1, 20, 20), 19)
    factors("qr_of_one_block", "qr", (2, 30, 20), None)
    factors("qr_in_panels", "qr", (1, 200, 40), None, "f64")
    factors("reflections", "reflections", (1, 40, 40), 33)
    factors("reflections_beyond_the_columns", "reflections", (1, 40, 40), 41)
    factors("cholesky_of_one_block", "cholesky", (2, 40, 20), None)
    factors("cholesky_in_panels", "cholesky", (1, 150, 150), None)
    factors("cholesky_of_a_wide_one", "cholesky", (1, 20, 30), None)
    factors("cholesky_of_few_columns_of_many_rows", "cholesky", (1, 2000, 64), None)
    factors("solve", "solve_upper_unit", (2, 30, 30), 5)
    factors("solve_of_many_rows", "solve_lower", (1, 400, 400), 5)
    factors("permutation", "permutation", (3, 1, 20), 30, "i32")
    factors("permutation_of_fewer_rows", "permutation", (3, 1, 20), 10, "i32")
    factors("nothing_known", "svd", (1, 20, 20), None)


main()
