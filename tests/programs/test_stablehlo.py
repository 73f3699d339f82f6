"""StableHLO as other frameworks write it, in forms that JAX never gives, against NumPy."""
import numpy as np
import pytest

pytest.importorskip("jax", reason="JAX is not installed in this environment")

import tools  # noqa: E402


def numbers(*shape, kind=np.float32):
    """The same each time; integers where the kind is one, and both parts where it is complex."""
    source = np.random.default_rng(sum(shape) + 7)
    made = 4 * source.normal(size=shape)
    return (made + 1j * source.normal(size=shape)).astype(kind) if np.dtype(kind).kind == "c" else made.astype(kind)


def check(text, arguments, wanted, folder, tolerance=None):
    (folder / "program.mlir").write_text(tools.baton_jax().from_stablehlo(text))
    tools.compile_program(folder / "program.mlir", folder / "program.bvm")
    given = tools.call(folder / "program.bvm", "main", arguments, wanted, folder)
    for pair in zip(wanted, given):
        assert not (told := tools.difference(*pair, tolerance)), told


SORT = """func.func @main(%x: tensor<3x5xf32>, %y: tensor<2x4xcomplex<f32>>, %k: tensor<2x4xi32>) -> (tensor<3x5xf32>, tensor<2x4xcomplex<f32>>) {
  %0 = "stablehlo.sort"(%x) <{dimension = -1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %1:2 = "stablehlo.sort"(%k, %y) <{dimension = -2 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %p: tensor<complex<f32>>, %q: tensor<complex<f32>>):
    %c = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<2x4xi32>, tensor<2x4xcomplex<f32>>) -> (tensor<2x4xi32>, tensor<2x4xcomplex<f32>>)
  return %0, %1#1 : tensor<3x5xf32>, tensor<2x4xcomplex<f32>>
}"""


def test_dimensions_of_sorts_from_the_end(tmp_path):
    x, y = numbers(3, 5), numbers(2, 4, kind=np.complex64)
    keys = np.array([[1, 2, 3, 4], [2, 2, 1, 9]], np.int32)
    order = np.argsort(-keys, axis=0, kind="stable")
    check(SORT, [x, y, keys], [np.sort(x), np.take_along_axis(y, order, 0)], tmp_path)


def gather(table, indices, result, numbers):
    text = f'"stablehlo.gather"(%x, %i) <{{dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = array<i64: 1, 1>}}>'
    return f"func.func @main(%x: {table}, %i: {indices}) -> {result} {{\n  %0 = {text} : ({table}, {indices}) -> {result}\n  return %0 : {result}\n}}"


BATCHED = "collapsed_slice_dims = [0], operand_batching_dims = [1], start_index_map = [0]"
# Where the index stands among the dimensions of the indices, and which of these runs with the tensor's second.
PLACES = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]


@pytest.mark.parametrize("own, batch", PLACES)
def test_indices_that_run_with_the_table(own, batch, tmp_path):
    """Indices of 4x5, or 5x4, of which the 4 are those of the table."""
    table = numbers(3, 4)
    at = np.random.default_rng(3).integers(0, 3, (4, 5)).astype(np.int32)
    wanted = np.take_along_axis(table.T, at, 1)
    is_turned = batch > [i for i in range(3) if i not in (own, batch)][0]
    at, wanted = (at.T, wanted.T) if is_turned else (at, wanted)
    at = np.expand_dims(at, own)
    text = gather("tensor<3x4xf32>", "tensor<" + "".join(f"{size}x" for size in at.shape) + "i32>", "tensor<" + "".join(f"{size}x" for size in wanted.shape) + "f32>",
                  f"{BATCHED}, start_indices_batching_dims = [{batch}], index_vector_dim = {own}")
    check(text, [table, at], [wanted], tmp_path)


SCATTER = """func.func @main(%x: tensor<2xi32>, %i: tensor<1x3x0xi64>, %u: tensor<1x2x3xi32>, %y: tensor<1xf32>, %j: tensor<0x4xi32>, %v: tensor<4xf32>)
    -> (tensor<2xi32>, tensor<1xf32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<2xi32>, tensor<1x3x0xi64>, tensor<1x2x3xi32>) -> tensor<2xi32>
  %1 = "stablehlo.scatter"(%y, %j, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], index_vector_dim = 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.minimum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1xf32>, tensor<0x4xi32>, tensor<4xf32>) -> tensor<1xf32>
  return %0, %1 : tensor<2xi32>, tensor<1xf32>
}"""


def test_updates_of_a_whole_tensor(tmp_path):
    x, u, y, v = numbers(2, kind=np.int32), numbers(1, 2, 3, kind=np.int32), numbers(1), numbers(4)
    arguments = [x, np.zeros((1, 3, 0), np.int64), u, y, np.zeros((0, 4), np.int32), v]
    check(SCATTER, arguments, [x + u[0].sum(1, dtype=np.int32), np.minimum(y, v.min())], tmp_path)


CONVOLUTION = """func.func @main(%x: tensor<2x6x3xcomplex<f32>>, %k: tensor<2x3x4xcomplex<f32>>, %y: tensor<2x?x3xcomplex<f32>>)
    -> (tensor<2x7x4xcomplex<f32>>, tensor<2x?x4xcomplex<f32>>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x6x3xcomplex<f32>>, tensor<2x3x4xcomplex<f32>>) -> tensor<2x7x4xcomplex<f32>>
  %1 = stablehlo.convolution(%y, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 0]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x?x3xcomplex<f32>>, tensor<2x3x4xcomplex<f32>>) -> tensor<2x?x4xcomplex<f32>>
  return %0, %1 : tensor<2x7x4xcomplex<f32>>, tensor<2x?x4xcomplex<f32>>
}"""


def test_convolutions_of_complex_numbers(tmp_path):
    x, k = numbers(2, 6, 3, kind=np.complex64), numbers(2, 3, 4, kind=np.complex64)
    padded = np.pad(x, [(0, 0), (1, 1), (0, 0)])
    wanted = sum(padded[:, i:i + 7] @ k[i] for i in range(2))
    check(CONVOLUTION, [x, k, x], [wanted, wanted[:, :6]], tmp_path)


TUPLES = """func.func @main(%x: tensor<2xf32>, %t: tuple<tensor<2xf32>, tuple<tensor<i32>, tensor<2xf32>>>) -> tuple<tensor<2xf32>, tuple<tensor<i32>>, tensor<2xf32>> {
  %0 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>, tuple<tensor<i32>, tensor<2xf32>>>) -> tensor<2xf32>
  %1 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xf32>, tuple<tensor<i32>, tensor<2xf32>>>) -> tuple<tensor<i32>, tensor<2xf32>>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<i32>, tensor<2xf32>>) -> tensor<i32>
  %3 = func.call @sum(%x, %1) : (tensor<2xf32>, tuple<tensor<i32>, tensor<2xf32>>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %4 = stablehlo.get_tuple_element %3[1] : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  %5 = stablehlo.tuple %2 : tuple<tensor<i32>>
  %6 = stablehlo.tuple %4, %5, %0 : tuple<tensor<2xf32>, tuple<tensor<i32>>, tensor<2xf32>>
  return %6 : tuple<tensor<2xf32>, tuple<tensor<i32>>, tensor<2xf32>>
}
func.func private @sum(%x: tensor<2xf32>, %t: tuple<tensor<i32>, tensor<2xf32>>) -> tuple<tensor<2xf32>, tensor<2xf32>> {
  %0 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<i32>, tensor<2xf32>>) -> tensor<2xf32>
  %1 = stablehlo.add %x, %0 : tensor<2xf32>
  %2 = stablehlo.tuple %x, %1 : tuple<tensor<2xf32>, tensor<2xf32>>
  return %2 : tuple<tensor<2xf32>, tensor<2xf32>>
}"""


def test_tuples_are_their_parts(tmp_path):
    x, y, n, z = numbers(2), 2 * numbers(2), np.array(7, np.int32), 3 * numbers(2)
    check(TUPLES, [x, y, n, z], [x + z, n, y], tmp_path)


RANDOM = """func.func @main({parameters}) -> ({results}) {{
  %shape = stablehlo.constant dense<[40, 50]> : tensor<2xi64>
{body}  return {values} : {results}
}}"""
# Element type, distribution, bounds or mean and deviation, which are not known.
RANDOMS = [("f32", "UNIFORM", 1, 3), ("f32", "UNIFORM", 1, 3), ("f16", "UNIFORM", -1, 2), ("bf16", "UNIFORM", 0, 1), ("f64", "UNIFORM", -4, 4), ("f32", "NORMAL", 2, 3),
           ("f16", "NORMAL", 0, 1), ("f64", "NORMAL", -1, 2), ("i32", "UNIFORM", -3, 9), ("i8", "UNIFORM", -128, 127), ("ui8", "UNIFORM", 3, 250), ("i64", "UNIFORM", -2**40, 2**40)]


def test_random_numbers_of_no_generator(tmp_path):
    """In their bounds, spread as they should be, and others in the next operation."""
    names = {"f": "float", "b": "bfloat", "i": "int", "u": "uint"}
    kinds = [np.dtype(names[word[0]] + word.lstrip("fbui")) if word != "bf16" else tools.np_bfloat16() for word, *_ in RANDOMS]
    body, arguments = "", []
    for i, ((word, how, *numbers), kind) in enumerate(zip(RANDOMS, kinds)):
        body += (f"  %{i} = stablehlo.rng %a{i}, %b{i}, %shape, distribution = {how} : (tensor<{word}>, tensor<{word}>, tensor<2xi64>) -> tensor<40x50x{word}>\n")
        arguments += [np.array(each).astype(kind) for each in numbers]
    types = [f"tensor<40x50x{word}>" for word, *_ in RANDOMS]
    text = RANDOM.format(parameters=", ".join(f"%a{i}: tensor<{word}>, %b{i}: tensor<{word}>" for i, (word, *_) in enumerate(RANDOMS)), body=body,
                         results=", ".join(types), values=", ".join(f"%{i}" for i in range(len(types))))
    (tmp_path / "program.mlir").write_text(tools.baton_jax().from_stablehlo(text))
    tools.compile_program(tmp_path / "program.mlir", tmp_path / "program.bvm")
    given = tools.call(tmp_path / "program.bvm", "main", arguments, [np.zeros((40, 50), kind) for kind in kinds], tmp_path)
    assert (given[0] != given[1]).mean() > 0.9
    for (word, how, first, second), made in zip(RANDOMS, given):
        made = made.astype(np.float64)
        mean, deviation = (first, second) if how == "NORMAL" else ((first + second) / 2, (second - first) / 12 ** 0.5)
        assert how == "NORMAL" or made.min() >= first and made.max() < second, word
        assert abs(made.mean() - mean) < 0.1 * deviation + 0.5 * (word[0] in "iu") and 0.9 < made.std() / deviation < 1.1, word
