"""Fourier transforms on cores beside NumPy's in float64: all kinds, lengths that are whole blocks of vectors and not, ranks and batches."""
import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed in this environment")
from jax import lax  # noqa: E402

import tools  # noqa: E402

KINDS = ("FFT", "IFFT", "RFFT", "IRFFT")
BATCHES = ((), (3,), (11,), (2, 9))


def exact(kind, x, lengths):
    x = x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)
    axes = tuple(range(x.ndim - len(lengths), x.ndim))
    if kind == "IRFFT":
        return np.fft.irfftn(x, lengths, axes)
    return {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn}[kind](x, axes=axes)


def operand(source, kind, shape, real):
    if kind == "RFFT":
        return source.normal(size=shape).astype(real)
    if kind == "IRFFT":
        shape = (*shape[:-1], shape[-1] // 2 + 1)
    parts = source.normal(size=(2, *shape))
    return (parts[0] + 1j * parts[1]).astype(np.result_type(real, np.complex64))


def run(cases, arguments, folder):
    """Of cases (kind, batch, lengths), in one program. Every other one stands between operations on its numbers."""
    def all_of(*arguments):
        made = []
        for i, (x, (kind, _, lengths)) in enumerate(zip(arguments, cases)):
            made.append(2 * lax.fft(x - 0.5, lax.FftType[kind], lengths) if i % 2 else lax.fft(x, lax.FftType[kind], lengths))
        return made
    with jax.enable_x64(True):
        text = tools.baton_jax().lower(all_of, *arguments)
        made = [np.empty(each.shape, each.dtype) for each in jax.eval_shape(all_of, *arguments)]
    (folder / "program.mlir").write_text(text)
    tools.compile_program(folder / "program.mlir", folder / "program.bvm", "--cpu-levels=host")
    return tools.call(folder / "program.bvm", "main", arguments, made, folder)


def off(cases, real, folder):
    """A sentence for each result with an error above a few roundings for each stage."""
    source = np.random.default_rng(len(cases))
    arguments = [operand(source, kind, (*batch, *lengths), real) for kind, batch, lengths in cases]
    told, epsilon = [], np.finfo(real).eps
    for i, (case, x, given) in enumerate(zip(cases, arguments, run(cases, arguments, folder))):
        wanted = 2 * exact(case[0], x - 0.5, case[2]) if i % 2 else exact(case[0], x, case[2])
        usual = np.sqrt(np.mean(np.abs(wanted) ** 2)) if wanted.size else 1
        roundings = (np.abs(given - wanted) / (usual + np.abs(wanted))).max(initial=0) / epsilon
        if given.shape != wanted.shape or not roundings < 8 + 3 * np.log2(max(wanted.size, 2)):
            told.append(f"{case}: {roundings:.1f} roundings")
    return told


@pytest.mark.parametrize("real, begin, step", [("float32", 1, 2), ("float32", 2, 2), ("float64", 3, 5)])
def test_short_lines(real, begin, step, tmp_path):
    """Each length up to 70, by one of the kinds and in one of the batches."""
    cases = [(KINDS[(n + n // 4 + step) % 4], BATCHES[(n // 2 + step) % 4], (n,)) for n in range(begin, 71, step)]
    told = off(cases, np.dtype(real).type, tmp_path)
    assert not told, told


# Lines of eights and not, that a core has room for and not, of two kernels, with primes too large for stages.
LONG = (97, 100, 128, 194, 384, 1000, 1009, 1024, 1331, 2187, 4099, 6000, 15015, 16384, 24576, 32768, 1 << 17)


@pytest.mark.parametrize("kind", KINDS)
def test_long_lines(kind, tmp_path):
    at = KINDS.index(kind)
    cases = [(kind, (9,) if n < 3000 and i % 3 else (), (n,)) for i, n in enumerate(LONG) if (i + at + at // 2) % 2]
    told = off(cases, np.float32, tmp_path)
    assert not told, told


SHAPES = ((4, 6), (1, 8), (8, 1), (7, 9), (128, 3), (3, 128), (64, 64), (97, 8), (33, 34), (4099, 2), (2, 3, 4), (8, 9, 10), (1, 5, 1), (13, 1, 71))


@pytest.mark.parametrize("real", ["float32", "float64"])
def test_several_dimensions(real, tmp_path):
    first = 2 if real == "float64" else 0
    cases = [(KINDS[(i + first) % 4], BATCHES[(i // 2) % 3], shape) for i, shape in enumerate(SHAPES)]
    cases = cases[first // 2::first or 1]
    told = off([*cases, ("FFT", (0,), (4, 6)), ("RFFT", (3, 0), (8,))], np.dtype(real).type, tmp_path)
    assert not told, told


def test_numbers_that_are_none(tmp_path):
    """A line with NaN or infinity has no finite coefficient, and its neighbours have theirs."""
    source = np.random.default_rng(3)
    cases = [(KINDS[kind], (11,), (n,)) for n, kind in ((12, 0), (27, 1), (128, 2), (101, 0), (101, 2), (64, 3), (9, 3), (72, 1))]
    arguments = [operand(source, kind, (*batch, *lengths), np.float32) for kind, batch, lengths in cases]
    for x in arguments:
        x[2, 3], x[6, 1] = np.nan, np.inf
    for i, (case, x, given) in enumerate(zip(cases, arguments, run(cases, arguments, tmp_path))):
        whole = [line for line in range(11) if line not in (2, 6)]
        assert not np.isfinite(given[[2, 6]]).any(), case
        wanted = (2 if i % 2 else 1) * exact(case[0], x[whole] - (i % 2) / 2, case[2])
        assert np.abs(given[whole] - wanted).max() < 1e-5 * np.abs(wanted).max(), case


def test_imaginary_parts_of_real_coefficients(tmp_path):
    """What real numbers have no place for counts for nothing: the imaginary parts of the first coefficient, and of the one in the middle."""
    source = np.random.default_rng(4)
    cases = [("IRFFT", (9,), (n,)) for n in (4, 9, 24, 128, 97, 130, 40000)]
    arguments = [operand(source, kind, (*batch, *lengths), np.float32) for kind, batch, lengths in cases]
    plain = [x.copy() for x in arguments]
    for (_, _, (n,)), x, y in zip(cases, arguments, plain):
        for k in (0, n // 2) if n % 2 == 0 else (0,):
            x[:, k], y[:, k] = x[:, k].real + 1000j, y[:, k].real
    arguments, plain = ([each for i, each in enumerate(some) for _ in range(2)] for some in (arguments, plain))  # Each on both sides.
    doubled = [each for each in cases for _ in range(2)]
    for i, (case, x, given) in enumerate(zip(doubled, plain, run(doubled, arguments, tmp_path))):
        wanted = (2 if i % 2 else 1) * exact(case[0], x - (i % 2) / 2, case[2])
        assert np.abs(given - wanted).max() < 1e-5 * np.abs(wanted).max(), case
