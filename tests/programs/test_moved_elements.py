"""Elements that are found by tables which are known before a program runs, on cores and on blocks of threads, against JAX: images that are
scaled, patches, borders that repeat or reflect, rolls. Numbers that are none are where JAX has them."""
import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed in this environment")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

import tools  # noqa: E402


@pytest.fixture(params=["cores", "blocks"])
def place(request, monkeypatch):
    if request.param == "blocks":
        tools.on_blocks(monkeypatch)


def agree(function, arguments, folder, looks_up=True):
    with jax.enable_x64(True):
        text = tools.baton_jax().lower(function, *arguments)
        wanted = [np.asarray(each) for each in jax.tree.leaves(jax.jit(function)(*arguments))]
    # What JAX writes as products is none: else this would test the products of everybody.
    assert not looks_up or "tensor.extract" in text and not any(name in text for name in ("arith.mulf %in, %in_", "linalg.conv", "linalg.matmul"))
    (folder / "program.mlir").write_text(text)
    tools.compile_program(folder / "program.mlir", folder / "program.bvm")
    given = tools.call(folder / "program.bvm", "main", arguments, wanted, folder)
    for i, pair in enumerate(zip(wanted, given)):
        assert not (said := tools.difference(*pair)), f"result {i} {said}"


def image(seed, shape, kind="float32", is_special=False):
    source = np.random.default_rng(seed)
    numbers = source.normal(size=shape)
    if is_special:
        places = source.random(shape) < 2 / numbers.size
        numbers = np.where(places, source.choice([np.nan, np.inf, -np.inf], shape), numbers)
    return numbers.astype(tools.np_bfloat16() if kind == "bfloat16" else kind)


# Of an image, to this; what is new is chosen so that a part of a row, or of a column, has no element that counts.
SCALED = [((1, 16, 24, 3), (1, 32, 48, 3)), ((2, 40, 31, 5), (2, 23, 77, 5)), ((3, 30, 33), (3, 61, 33)), ((64, 70), (32, 19)), ((1, 1, 90, 40), (1, 1, 8, 160)),
          ((37, 16), (37, 17))]


@pytest.mark.parametrize("number", range(len(SCALED)))
def test_scaled(number, place, tmp_path):
    given, wanted = SCALED[number]
    how = ["linear", "cubic", "lanczos3"][number % 3]
    kind = ["float32", "float64", "float16", "bfloat16"][number % 4]
    agree(lambda x: jax.image.resize(x, wanted, how, antialias=number % 3 != 1), [image(number, given, kind)], tmp_path, looks_up=False)


@pytest.mark.parametrize("seed", range(2))
def test_scaled_with_numbers_that_are_none(seed, place, tmp_path):
    agree(lambda x: jax.image.resize(x, (80, 50), "bilinear"), [image(seed, (33, 40), "float32", True)], tmp_path)


def test_gradients_of_scaled(place, tmp_path):
    x, g = image(1, (2, 24, 20, 3)), image(2, (2, 48, 40, 3))
    agree(lambda x, g: jax.vjp(lambda x: jax.image.resize(x, g.shape, "bilinear"), x)[1](g), [x, g], tmp_path)
    agree(lambda x: jax.image.scale_and_translate(x, (48, 30), (0, 1), jnp.array([1.2, 0.8]), jnp.array([0.3, -4.0]), "linear"), [image(3, (40, 40))], tmp_path)


def test_matrices_that_are_almost_empty(place, tmp_path):
    source = np.random.default_rng(5)
    chosen = np.zeros((3, 7, 60), np.float32)
    for i, j in np.ndindex(3, 7):
        chosen[i, j, source.choice(60, source.integers(0, 4), False)] = source.normal()
    order = np.eye(50, dtype=np.float64)[source.permutation(50)]
    full = source.normal(size=(8, 9)).astype(np.float32)
    x, y, z = image(1, (4, 60, 5)), image(2, (50, 6), "float64"), image(3, (9, 3))
    agree(lambda x, y, z: (jnp.einsum("ijk,akb->aijb", chosen, x), jnp.einsum("akb,ijk->bija", x, chosen), order @ y, y.T @ order), [x, y, z], tmp_path)
    agree(lambda x, y, z: (full @ z, (jnp.eye(9)[:, :2].T @ z).sum()), [x, y, z], tmp_path, looks_up=False)


PATCHES = [
    ((2, 3, 13, 17), (3, 3), (1, 1), "SAME", {}),
    ((1, 2, 12, 11), (2, 4), (2, 3), "VALID", {}),
    ((2, 9, 10, 4), (3, 2), (1, 2), ((2, 1), (0, 3)), {"rhs_dilation": (2, 1), "dimension_numbers": ("NHWC", "HWIO", "NHWC")}),
    ((3, 4, 20), (5,), (3,), "SAME", {}),
    ((1, 2, 6, 7, 8), (2, 2, 2), (1, 2, 1), ((1, -1), (0, 0), (-1, 2)), {}),
]


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
@pytest.mark.parametrize("number", range(len(PATCHES)))
def test_patches(number, kind, place, tmp_path):
    shape, window, strides, padding, more = PATCHES[number]
    agree(lambda x: lax.conv_general_dilated_patches(x, window, strides, padding, **more), [image(number, shape, kind, kind == "float32")], tmp_path)


def test_convolutions_that_choose(place, tmp_path):
    kernel = np.zeros((6, 2, 3, 3), np.float32)  # Two groups of two features, three new ones each, of which one is empty.
    for new, at in enumerate([(0, 1, 2), (1, 0, 0), (1, 2, 2), (0, 0, 1), (0, 1, 1)]):
        kernel[new][at] = [1.0, -2.0, 0.5][new % 3]
    agree(lambda x: lax.conv_general_dilated(x, jnp.asarray(kernel), (2, 1), "SAME", feature_group_count=2), [image(8, (2, 4, 9, 8), is_special=True)], tmp_path)


@pytest.mark.parametrize("mode, kind", [("reflect", "float32"), ("symmetric", "int8"), ("wrap", "bool"), ("edge", "complex64"), ("reflect", "complex64"), ("edge", "float32")])
def test_borders(mode, kind, place, tmp_path):
    x = image(3, (3, 11, 14), "float64") * 20
    x = (x + 1j * x[::-1]).astype(kind) if kind == "complex64" else (x > 0) if kind == "bool" else x.astype(kind)
    agree(lambda x: (jnp.pad(x, ((0, 0), (2, 3), (4, 1)), mode), jnp.pad(x, ((1, 1), (9, 12), (30, 0)), mode), jnp.pad(x[:1], ((2, 3), (1, 0), (0, 0)), mode)), [x], tmp_path)


def test_rolls_and_what_shares_them(place, tmp_path):
    x = image(4, (6, 7, 8))

    def function(x):
        rolled = jnp.roll(x, (2, -3, 5), (0, 1, 2))
        twice = jnp.concatenate([x, x[:, ::-1]], 1)
        both = jnp.concatenate([twice, twice[::-1, ::2].repeat(2, 1)], 0)
        other = jnp.concatenate([jnp.concatenate([x, x + 1], 0), jnp.concatenate([x, x], 0)], 1)
        return rolled, rolled[1:, ::2] * 2, both, twice.sum(1), other, jnp.tile(x, (2, 3, 1)), jnp.concatenate([x[:0], rolled, x], 0)

    agree(function, [x], tmp_path, looks_up=False)


@pytest.mark.parametrize("number", range(3))
def test_gradients_of_maxima(number, place, tmp_path):
    shape, window, strides, padding = [((2, 9, 8, 3), (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), ((3, 20), (1, 3), (1, 4), "SAME"), ((2, 7, 9), (2, 3, 1), (2, 3, 2), ((0, 1), (1, 1), (0, 0)))][number]
    x = image(number, shape)

    def pooled(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, window, strides, padding)

    agree(lambda x: jax.grad(lambda x: (pooled(x) ** 2).sum())(x), [x], tmp_path, looks_up=False)
