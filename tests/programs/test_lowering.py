"""What baton.jax.lower gives, without compiling: the forms that the compiler counts on."""
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed in this environment")
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402

import tools  # noqa: E402

baton_jax = tools.baton_jax()
X = np.ones((4, 6), np.float32)


def lowered(function, *arguments, **options):
    return baton_jax.lower(function, *arguments, **options)


def test_a_counter_stays_on_the_host():
    text = lowered(lambda x: lax.fori_loop(0, 5, lambda i, y: y * 2 + i, x), X)
    (loop,) = (line for line in text.splitlines() if "scf.while" in line)
    assert "tensor<i32>" not in loop and loop.split("->")[1].count("i32") == 2
    assert "tensor.extract" not in text  # Nothing is read back.


def test_a_condition_that_kernels_compute_is_loaded_once_a_step():
    text = lowered(lambda x: lax.while_loop(lambda y: y.sum() > 1, lambda y: y * 0.5, x), X)
    assert text.count("tensor.extract") == 1


def test_arguments_that_nothing_reads_are_taken():
    (head,) = (line for line in lowered(lambda x, y: x + 1, X, X[:2]).splitlines() if "func.func public @main" in line)
    assert head.count("%arg") == 2 and "tensor<2x6xf32>" in head


def test_donated_arguments_are_tied():
    text = lowered(lambda x, y: (x + y, y.sum()), X, X, donate_argnums=(0,))
    head = next(line for line in text.splitlines() if "func.func" in line)
    assert "iree.abi.consume" in head and "iree.abi.tied = 0 : i64" in head


def test_unsigned_types_stay_at_the_boundary():
    text = lowered(lambda x: x + 1, np.ones(4, np.uint8))
    head = next(line for line in text.splitlines() if "func.func" in line)
    assert head.count("iree.abi.encoding = tensor<4xui8>") == 2 and "unrealized" not in text


def test_equal_unknown_sizes_are_checked():
    text = lowered(lambda x, y: x @ y.T, X, X, sizes=("b, 6", "c, 6"))
    assert "tensor<?x6xf32>" in text
    text = lowered(lambda x, y: x + y, X, X, sizes=("b, 6", "b, 6"))
    assert "cf.assert" in text and "Found inconsistency" in text


def test_a_call_is_a_command():
    def scaled(x):
        made = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.ffi.ffi_call("blas.scale", made)(x, factor=np.float32(2.5), times=np.int64(3))

    text = lowered(lambda x: scaled(x) + 1, X)
    assert "func.func private @blas.scale(tensor<4x6xf32>, f32, i64) -> tensor<4x6xf32> attributes {iree.abi.streamable}" in text
    assert "call @blas.scale(" in text


def test_a_call_in_place_ties_its_result():
    def written(x):
        made = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.ffi.ffi_call("blas.clear", made, input_output_aliases={0: 0})(x)

    assert "(tensor<4x6xf32> {iree.abi.tied = 0 : i64})" in lowered(written, X)


def test_portable_artifacts_are_read():
    exported = jax.export.export(jax.jit(lambda x: jnp.sort(x, axis=1)))(X)
    assert "func.func public @main" in baton_jax.from_stablehlo(exported.mlir_module_serialized)


SCAN = """func.func @main(%x: tensor<2x3xi32>, %first: tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>) {
  %0:2 = chlo.scan(%x) inits(%first) dimension=1 attributes {is_reverse = IS_REVERSE} {
  ^bb0(%each: tensor<2xi32>, %sum: tensor<2xi32>):
    %1 = stablehlo.add %each, %sum : tensor<2xi32>
    stablehlo.return %1, %1 : tensor<2xi32>, tensor<2xi32>
  } : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2x3xi32>, tensor<2xi32>
}
"""


@pytest.mark.parametrize("is_reverse, wanted", [("false", [[11, 13, 16], [24, 29, 35]]), ("true", [[16, 15, 13], [35, 31, 26]])])
def test_scans_begin_where_they_say(is_reverse, wanted, tmp_path):
    source, program = tmp_path / "scan.mlir", tmp_path / "scan.bvm"
    source.write_text(baton_jax.from_stablehlo(SCAN.replace("IS_REVERSE", is_reverse)))
    tools.compile_program(source, program)
    given = tools.call(program, "main", [np.array([[1, 2, 3], [4, 5, 6]], np.int32), np.array([10, 20], np.int32)],
                       [np.zeros((2, 3), np.int32), np.zeros(2, np.int32)], tmp_path)
    assert given[0].tolist() == wanted and given[1].tolist() == [16, 35]


ONE_BRANCH = """func.func @main(%turns: tensor<i32>, %first: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %last:2 = stablehlo.while(%i = %zero, %x = %first) : tensor<i32>, tensor<4xf32> cond {
    %goes_on = stablehlo.compare LT, %i, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %goes_on : tensor<i1>
  } do {
    %next:2 = "stablehlo.case"(%i) ({
      %sum = stablehlo.add %x, %x : tensor<4xf32>
      %more = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %more, %sum : tensor<i32>, tensor<4xf32>
    }) : (tensor<i32>) -> (tensor<i32>, tensor<4xf32>)
    stablehlo.return %next#0, %next#1 : tensor<i32>, tensor<4xf32>
  }
  %same = "stablehlo.case"(%turns) ({
    stablehlo.return %last#0 : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return %last#1, %same : tensor<4xf32>, tensor<i32>
}
"""


def test_a_branch_without_another_is_taken(tmp_path):
    source, program = tmp_path / "branch.mlir", tmp_path / "branch.bvm"
    source.write_text(baton_jax.from_stablehlo(ONE_BRANCH))
    tools.compile_program(source, program)
    given = tools.call(program, "main", [np.array(3, np.int32), np.arange(4, dtype=np.float32)],
                       [np.zeros(4, np.float32), np.array(0, np.int32)], tmp_path)
    assert given[0].tolist() == [0, 8, 16, 24] and given[1].tolist() == 3


@pytest.mark.parametrize("function, sentence", [
    (lambda x: jax.ffi.ffi_call("nobody", jax.ShapeDtypeStruct(x.shape, x.dtype))(x), "custom_call @nobody is not lowered: only commands are"),
    (lambda x: x.astype(jnp.float8_e8m0fnu).astype(jnp.float32), "tensors of f8E8M0FNU are not lowered: of floats below 16 bits there are"),
    (lambda x: jax._src.lax.linalg.geqp3(x, jnp.ones(x.shape[-1], np.int32))[0], "QR whose pivots are partly given is not lowered: with zeros"),
    (lambda x: jax.ffi.ffi_call("a.b", jax.ShapeDtypeStruct(x.shape, np.complex64))(x), "of complex numbers is not lowered"),
])
def test_what_is_refused_is_named(function, sentence):
    with pytest.raises(baton_jax.NotLowered, match=sentence):
        lowered(function, X)


def test_stablehlo_in_each_form_that_people_have(tmp_path):
    staged = jax.jit(lambda x: x + 1)
    text, exported = staged.lower(X).as_text(), jax.export.export(staged)(X)
    wanted = baton_jax.from_stablehlo(text)
    for source in (text.encode(), bytearray(text, "utf-8"), exported, exported.mlir_module_serialized, staged.lower(X)):
        made = baton_jax.from_stablehlo(source)
        assert made.count("arith.addf") == wanted.count("arith.addf") == 1
    file = tmp_path / "model.mlir"
    file.write_text(text)
    for source, error, said in ((None, TypeError, "and not a NoneType"), (X, TypeError, "and not a ndarray"), (str(file), ValueError, "path of a file"),
                                (b"ML\xefRxyz", ValueError, "does not read this"), ("module {", ValueError, "does not read this"), (b"\x00\xff", ValueError, "StableHLO")):
        with pytest.raises(error, match=said):
            baton_jax.from_stablehlo(source)


def test_words_in_place_of_lists():
    with pytest.raises(ValueError, match="no library lapak; there are"):
        lowered(lambda x: x, X, libraries="lapak")
    assert lowered(lambda x: x, X, libraries="lapack", name="") == lowered(lambda x: x, X)
    with pytest.raises(TypeError, match="a NoneType"):
        baton_jax.compile(None, "nothing.bvm", tool="/bin/cat")
