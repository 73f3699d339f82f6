"""Element types, random numbers, special functions, complex."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .registry import bf16, boolean, c64, c128, f16, f32, f64, i8, i16, i32, i64, program, u8, u16, u32, u64


@program(u32(low=0, high=1000))
def random_uniform(seed):
    return jax.random.uniform(jax.random.key(seed), (4, 10))


@program(u32(2, low=0, high=1 << 31))
def random_normal(key):
    a, b = jax.random.split(key)
    return jax.random.normal(a, (33,)), jax.random.bernoulli(b, 0.3, (20,))


@program(u32(2, low=0, high=1 << 31))
def random_permutation(key):
    return jax.random.permutation(key, 17)


@program(u32(2, low=0, high=1 << 31), f32(3, 6))
def random_categorical(key, logits):
    return jax.random.categorical(key, logits), jax.random.randint(key, (9,), -5, 12), jax.random.bits(key, (5,))


@program(u32(2, low=0, high=1 << 31), f32(5, 8))
def dropout(key, x):
    return jnp.where(jax.random.bernoulli(key, 0.8, x.shape), x / 0.8, 0)


@program(i8(20), i8(20, low=1, high=50), i16(20), i16(20, low=1, high=9))
def small_integers(a, b, c, d):
    return a + b, a * b, a // b, a % b, c - d, c // d, c << 3, a >> 1, jnp.abs(a), -c


@program(u8(20), u8(20, low=1, high=200), u16(20, low=0, high=65535), u32(20, low=0, high=1 << 32))
def unsigned_integers(a, b, c, d):
    return a + b, a // b, a % b, a > b, c >> 3, c.astype(jnp.float32), d // 7, d.astype(jnp.float32), jnp.maximum(a, b), d.astype(jnp.uint8)


@program(i64(20, low=-(1 << 40), high=1 << 40), i64(20, low=1, high=1 << 20), u64(20, low=0, high=1 << 62), x64=True)
def wide_integers(a, b, c):
    return a * b, a // b, a % b, c // 13, c >> 7, c.astype(jnp.float64), a.astype(jnp.int32), lax.population_count(c), lax.clz(a)


@program(f64(4, 9), f64(9, 3), x64=True)
def doubles(x, w):
    return jnp.exp(x @ w), jnp.sin(x).sum(), jnp.cumsum(x, 1), jnp.log1p(x**2), jnp.tanh(x), x.astype(jnp.float32)


@program(f16(8, 16), f16(16, 4))
def halves(x, w):
    return x @ w, jax.nn.softmax(x), x.astype(jnp.float32).sum(1), jnp.tanh(x)


@program(bf16(8, 16), bf16(16, 4), bf16(16))
def brain_floats(x, w, scale):
    return x @ w, jax.nn.gelu(x * scale), x.mean(0)


@program(u32(12, low=0, high=1 << 32), i32(12))
def bits(a, b):
    return lax.population_count(a), lax.clz(a), ~b, a ^ (a >> 16), lax.bitcast_convert_type(b & 0x3FFFFFFF, jnp.float32), jnp.left_shift(a, 5)


@program(f32(30))
def to_bits_and_back(x):
    bits = lax.bitcast_convert_type(x, jnp.int32)
    return lax.bitcast_convert_type(bits & 0x7FFFFFFF, jnp.float32), bits >> 23


@program(f32(40), f32(40, low=0.1, high=4))
def special_functions(x, y):
    erf, erfinv = jax.scipy.special.erf(x), jax.scipy.special.erfinv(jnp.tanh(x))
    return erf, erfinv, lax.lgamma(y), lax.digamma(y), jnp.sinh(x), jnp.arctan2(x, y), jnp.cbrt(x), jnp.expm1(x), jnp.log2(y)


@program(f32(33), f32(33, low=0.2, high=3))
def rounding(x, y):
    return jnp.floor(x), jnp.ceil(x), jnp.round(x * 2) / 2, jnp.trunc(x), x % y, lax.rem(x, y), jnp.sign(x), jnp.nextafter(x, y), x**3, y**x


@program(f32(25), boolean(25), boolean(25))
def logic(x, a, b):
    return a & b, a | ~b, a ^ b, jnp.isnan(jnp.log(x)), jnp.isfinite(1 / x), a.sum(), b.any(), a.all(), jnp.where(a, x, -x)


@program(c64(5, 4), c64(5, 4))
def complex_arithmetic(a, b):
    return a * b, a / b, jnp.abs(a), jnp.exp(a), jnp.conj(a) + b, a.real - b.imag


@program(c64(4, 5), c64(5, 3))
def complex_product(a, b):
    return a @ b


@program(f32(6), f32(6))
def complex_inside(x, y):
    z = lax.complex(x, y)
    return jnp.real(z * z), jnp.abs(jnp.exp(1j * x)), jnp.angle(z)


@program(c128(4, 5), c128(5, 3), c128(3, 0), x64=True)
def complex_of_doubles(a, b, none):
    """As arguments and results they are what they are, of any size; between them and c64 the parts are rounded."""
    return a, a @ b, jnp.abs(a), a.astype(jnp.complex64) * 2, a.sum(), none * 2, jnp.fft.fft(b, axis=0), jnp.sort(a, 1), lax.fori_loop(0, 3, lambda i, x: x * 0.5j, a)


@program(c64(24))
def complex_functions(z):
    near = 1e-4 * z
    either_way = [jnp.sqrt, jnp.sin, jnp.cos, jnp.tan, jnp.sinh, jnp.cosh, jnp.tanh, jnp.expm1, jnp.log1p, jnp.sign, jnp.arcsin, jnp.arccosh]
    return [f(x) for f in either_way for x in (z, near)], z**0.5, z**-2, z ** (1 + 2j), lax.rsqrt(z), lax.logistic(z), jnp.log10(z)


EDGES = [0.0, 1.0, -2.5, np.inf, -np.inf, np.nan]


@program(np.array([[complex(x, y) for y in EDGES] for x in EDGES], np.complex64).ravel())
def complex_edges(z):
    """Parts that are infinite or no number, each one looked at; and what is large, but not beyond the largest."""
    either_way = [jnp.exp, jnp.expm1, jnp.log, jnp.log1p, jnp.tan, jnp.tanh, jnp.sinh, jnp.cosh, lax.logistic, jnp.abs, jnp.isfinite]
    large = jnp.array([2e38 + 3e38j, -3e38 + 1j, 3e38j], jnp.complex64)
    sure = z[jnp.array([0, 1, 2, 3, 6, 7, 8, 9, 12, 13, 14, 18, 19, 21])]
    made = [f(z) for f in either_way] + [z[:, None] / z[None], sure[:, None] ** z[None]]
    steep = jnp.array([100 + 1e-30j, 89 + 1.5j, 91 - 1.57j, 88.7 + 3j, 120 + 1e-20j], jnp.complex64)  # e^x is beyond the largest, the parts are not.
    made += [f(steep) for f in (jnp.exp, jnp.expm1, jnp.sinh, jnp.cosh)] + [jnp.sinh(-steep), jnp.cosh(-steep)]
    made += [f(x) for f in (jnp.sqrt, lax.rsqrt) for x in (sure, large)] + [jnp.log(large), jnp.abs(large / 2), lax.clamp(z[8], sure, z[13])]
    return [(jnp.real(each), jnp.imag(each)) for each in made]


@program(c64(3, 5, 5), c64(3, 5, 2))
def complex_factorizations(a, b):
    positive = a @ jnp.conj(a).mT + jnp.eye(5)
    triangles = [lax.linalg.triangular_solve(a / 3 + 2 * jnp.eye(5), b if left else b.mT, left_side=left, lower=low, transpose_a=turned, conjugate_a=turned)
                 for left, low, turned in ((True, True, False), (True, False, True), (False, True, True), (False, False, False))]
    factors = [jnp.linalg.cholesky(positive), jnp.linalg.cholesky(positive, upper=True), jnp.linalg.cholesky(positive - 4 * jnp.eye(5))]
    return factors, lax.linalg.lu(a[:, :4]), jnp.linalg.solve(a + 3 * jnp.eye(5), b), jnp.linalg.slogdet(a), triangles


@program(f32(2, 6, 4), f32(4, 6), c64(5, 5), f32(0, 3), np.diag(np.arange(3, dtype=np.float32)))
def orthogonal_matrices(tall, wide, square, none, on_axes):
    """Signs as LAPACK chooses them; columns that are on their axis are left there."""
    def learned(x):
        return jnp.linalg.qr(x)[1].real.sum()

    return [jnp.linalg.qr(x, mode=mode) for x, mode in ((tall, "reduced"), (wide, "complete"), (square, "complete"), (none, "reduced"), (on_axes, "raw"))], jax.grad(learned)(square)


@program(f16(2, 4, 4), f16(2, 4, 3), bf16(4, 4), bf16(4, 3))
def triangles_of_small_floats(a, b, c, d):
    return lax.linalg.triangular_solve(a / 4 + jnp.eye(4, dtype=a.dtype), b, left_side=True), jax.scipy.linalg.solve_triangular(c / 4 + jnp.eye(4, dtype=c.dtype), d)


@program(c64(3, 0), c64(0, 4))
def complex_numbers_that_are_none(a, b):
    moved = [a + a, a @ b, jnp.abs(a), a.sum(1), b.sum(0), jnp.sort(a, 0), jnp.concatenate([a, a]), jnp.cumsum(b, 0), a.at[:].add(1)]
    return moved, [f(x) for f in (jnp.fft.fft, jnp.fft.ifft2, jnp.fft.fftn) for x in (a, b)], jnp.fft.irfft2(b), jnp.fft.rfft2(b.real)


@program(c64(4, 4), i32(low=0, high=2))
def complex_control(a, k):
    power = lax.fori_loop(0, 3, lambda i, s: s @ a * 0.3, a)
    last, all_of_them = lax.scan(lambda s, x: (s * x, s + x), jnp.ones(4, jnp.complex64), a)
    return power, last, all_of_them, lax.cond(k > 0, lambda x: x * 2j, lambda x: x + 1, a), jnp.prod(a, 0), jnp.cumsum(a, 1)


@program(c64(6, 4), i32(5, low=0, high=6), c64(5, 4))
def complex_places(a, where, b):
    return a.at[where].add(b), a.at[2].set(1j), a[where], jnp.sort(a, 0), jnp.where(a.real > 0, a, 0), a == jnp.roll(a, 1)


@program(c64(6, 4), i32(5, low=0, high=6), c64(5, 4))
def complex_updates(a, where, b):
    return a.at[where].multiply(b), a.at[where].divide(b), a.at[2:4].multiply(1j), a.at[where].apply(jnp.conj)


@program(f32(5, 8), f32(8, 3), bf16(1, 5, 2, 4), tolerance=1e-2)
def products_by_algorithm(a, b, x):
    # The algorithms that XLA has on a CPU, and attention of halves, which asks for one.
    exact = [lax.dot(a, b, precision=lax.DotAlgorithmPreset[each], preferred_element_type=jnp.float32)
             for each in ("BF16_BF16_F32", "BF16_BF16_F32_X3", "F32_F32_F32", "F16_F16_F16")]
    return *exact, jax.nn.dot_product_attention(x, x, x)


@program(f32(16), c64(3, 12), f32(6, 10))
def fourier(x, z, y):
    return jnp.abs(jnp.fft.rfft(x)), jnp.fft.fft(z), jnp.fft.ifft(z, axis=0), jnp.fft.irfft(jnp.fft.rfft(x)), jnp.abs(jnp.fft.fft2(y))


@program(f32(5, 5))
def cholesky(a):
    return jnp.linalg.cholesky(a @ a.T + 5 * jnp.eye(5))


@program(f32(3, 3), f32(3, 3, 3))
def no_cholesky(a, batch):
    """NaN everywhere in a matrix that has none, and in no other one of its batch."""
    mixed = jnp.stack([batch[0] @ batch[0].T + jnp.eye(3), batch[1] + batch[1].T - 9 * jnp.eye(3), jnp.diag(jnp.array([1.0, 0.0, 2.0])), jnp.full((3, 3), jnp.nan)])
    return jnp.linalg.cholesky(a + a.T - 5 * jnp.eye(3)), jnp.linalg.cholesky(mixed), jnp.linalg.cholesky(mixed, upper=True)


@program(f32(4, 4), f32(3, 5, 5))
def inverses(a, batch):
    return jnp.linalg.inv(a + 4 * jnp.eye(4)), jnp.linalg.slogdet(batch), jax.scipy.linalg.expm(a * 0.2)


@program(f32(4, 4), f32(4))
def solve(a, b):
    return jnp.linalg.solve(a + 4 * jnp.eye(4), b), jnp.linalg.det(a)


@program(f16(67), bf16(67), i16(67), u16(67), f32(9), u32(9), f64(5), i64(5), tolerance=0, x64=True)
def bits_of_other_types(*values):
    """Between all types of a width, floats of two kinds as well."""
    return [lax.bitcast_convert_type(a, b.dtype) for a in values for b in values if a.dtype.itemsize == b.dtype.itemsize]


EIGHT_BITS = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3b11fnuz")


@program(f32(40), u8(64, low=0, high=255), tolerance=0)
def storage_of_eight_bits(x, codes):
    def through(kind, *sources):
        # Tiny numbers, normal ones, those beyond the largest, and what stands for none.
        wide = jnp.concatenate([x, x * 1e-3, x * 300, x * 1e5, jnp.array([0.0, -0.0, jnp.inf, -jnp.inf, jnp.nan])])
        small = [wide.astype(source).astype(kind) for source in sources]
        every = jnp.concatenate([codes, jnp.arange(256, dtype=jnp.uint8)])
        return [each.astype(jnp.float32) for each in small], lax.bitcast_convert_type(every, kind).astype(jnp.float16)

    first, *others = (getattr(jnp, kind) for kind in EIGHT_BITS)
    return through(first, jnp.float32, jnp.float16, jnp.bfloat16), [through(kind, jnp.float32) for kind in others]


@program(f32(9, 12), f32(9, 12))
def computing_with_eight_bits(x, y):
    a, b = x.astype(jnp.float8_e4m3fn), y.astype(jnp.float8_e4m3fn)
    padded = jnp.pad(jnp.concatenate([a, b[::-1]]), 2, constant_values=1)
    return lax.dot(a, b.T, preferred_element_type=jnp.float32), a > b, jnp.where(a > b, a, b).astype(jnp.float32), padded.astype(jnp.float32), (a * b).astype(jnp.float32)


@program(f64(500), tolerance=0, x64=True)
def eight_bits_of_doubles(x):
    return [(x * size).astype(jnp.float8_e4m3fn).astype(jnp.float64) for size in (1, 1e-3, 100)]


@program(f32(9))
def quantized(x):
    scale = jnp.abs(x).max() / 127
    q = jnp.clip(jnp.round(x / scale), -128, 127).astype(jnp.int8)
    return q, q.astype(jnp.float32) * scale


@program(i8(6, 16), i8(16, 5))
def product_of_bytes(a, b):
    return lax.dot(a, b, preferred_element_type=jnp.int32)


@program(f32(3, 40, 5), f16(50, 6), i32(4, 70), f32(3000))
def running_numbers(x, half, whole, line):
    """Sums, products and extremes of all elements before each, or behind it."""
    runs = (lax.cumsum, lax.cumprod, lax.cummax, lax.cummin)
    return ([run(x, axis=axis, reverse=back) for run in runs for axis in (0, 1, 2) for back in (False, True)],
            [run(jnp.abs(half) * 0.1, axis=0) for run in runs], [run(whole, axis=1, reverse=True) for run in runs], [run(line) for run in runs],
            jax.grad(lambda x: (jnp.cumsum(x, axis=1) ** 2).sum())(x), lax.cumlogsumexp(x, axis=1), lax.cummax(line.at[1500].set(jnp.nan)))
