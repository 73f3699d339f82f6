"""Random numbers of every distribution: the same as JAX gives for the same key."""
import jax
import jax.numpy as jnp
from jax import lax

from .registry import boolean, f32, f64, i32, program, u32

key = u32(2, low=0, high=2 ** 31)


@program(key, i32(low=0, high=1000))
def keys_of_keys(key, n):
    key = jax.random.wrap_key_data(key)
    a, b = jax.random.split(key)
    many = jax.random.split(a, (2, 3))
    return jax.random.key_data(b), jax.random.key_data(many), jax.random.bits(jax.random.fold_in(key, n), (7,)), jax.random.bits(b, (3, 5), "uint8"), jax.random.bits(b, (9,), "uint16"), jax.vmap(jax.random.uniform)(many[0])


@program(key, tolerance=1e-4)
def floats_of_distributions(key):
    keys = jax.random.split(jax.random.wrap_key_data(key), 12)
    return (jax.random.uniform(keys[0], (5, 3), minval=-2, maxval=3), jax.random.normal(keys[1], (33,)), jax.random.truncated_normal(keys[2], -1, 2, (20,)), jax.random.gumbel(keys[3], (9,)),
            jax.random.exponential(keys[4], (9,)), jax.random.laplace(keys[5], (9,)), jax.random.logistic(keys[6], (9,)), jax.random.cauchy(keys[7], (9,)),
            jax.random.rayleigh(keys[8], 1.5, (9,)), jax.random.weibull_min(keys[9], 2.0, 1.5, (9,)), jax.random.pareto(keys[10], 3.0, (9,)), jax.random.maxwell(keys[11], (4,)))


@program(key, tolerance=1e-3)
def distributions_by_rejection(key):
    keys = jax.random.split(jax.random.wrap_key_data(key), 8)
    return (jax.random.gamma(keys[0], jnp.array([0.3, 1.0, 4.5]), (2, 3)), jax.random.beta(keys[1], 2.0, 3.0, (5,)), jax.random.dirichlet(keys[2], jnp.ones(4), (3,)),
            jax.random.t(keys[3], 3.0, (5,)), jax.random.chisquare(keys[4], 3.0, shape=(4,)), jax.random.loggamma(keys[5], 0.5, (4,)), jax.random.f(keys[6], 3.0, 4.0, shape=(3,)))


@program(key)
def counts_by_rejection(key):
    keys = jax.random.split(jax.random.wrap_key_data(key), 4)
    return (jax.random.poisson(keys[0], jnp.array([0.5, 3.0, 20.0]), (4, 3)), jax.random.binomial(keys[1], 10, 0.3, (6,)), jax.random.geometric(keys[2], 0.3, (6,)), jax.random.rademacher(keys[3], (7,)))


@program(key, f32(3, 6), f32(6, low=0.1, high=1))
def choices(key, logits, weights):
    keys = jax.random.split(jax.random.wrap_key_data(key), 8)
    return (jax.random.categorical(keys[0], logits), jax.random.categorical(keys[1], logits, axis=0, shape=(4, 6)), jax.random.choice(keys[2], 10, (4,), replace=False),
            jax.random.choice(keys[3], logits, (4,), p=weights / weights.sum(), axis=1), jax.random.choice(keys[4], 6, (3,), replace=False, p=weights / weights.sum()),
            jax.random.permutation(keys[5], 20), jax.random.permutation(keys[6], logits, axis=1, independent=True), jax.random.bernoulli(keys[7], 0.3, (20,)))


@program(key)
def integers_of_ranges(key):
    keys = jax.random.split(jax.random.wrap_key_data(key), 6)
    return (jax.random.randint(keys[0], (20,), -5, 17), jax.random.randint(keys[1], (5,), 0, 200, "uint8"), jax.random.randint(keys[2], (5,), -100, 100, "int8"),
            jax.random.randint(keys[3], (3,), jnp.array([0, 5, 9]), jnp.array([1, 6, 9])), jax.random.randint(keys[4], (4,), 0, 2 ** 31 - 1), jax.random.randint(keys[5], (6,), 0, 60000, "uint16"))


@program(key, x64=True, tolerance=1e-9)
def wide_random_numbers(key):
    keys = jax.random.split(jax.random.wrap_key_data(key), 5)
    return (jax.random.uniform(keys[0], (5,), jnp.float64), jax.random.normal(keys[1], (5,), jnp.float64), jax.random.randint(keys[2], (5,), -2 ** 40, 2 ** 40, "int64"), jax.random.bits(keys[3], (4,), "uint64"))


@program(key, tolerance=2e-2)
def narrow_random_numbers(key):
    keys = jax.random.split(jax.random.wrap_key_data(key), 4)
    return jax.random.uniform(keys[0], (9,), jnp.float16), jax.random.normal(keys[1], (9,), jnp.bfloat16), jax.random.normal(keys[2], (9,), jnp.float16), jax.random.normal(keys[3], (4,), jnp.complex64)


@program(key, f32(3), f32(3, 3), tolerance=1e-3)
def normals_of_many_dimensions(key, mean, root):
    keys = jax.random.split(jax.random.wrap_key_data(key), 3)
    cov = root @ root.T + jnp.eye(3)
    return jax.random.multivariate_normal(keys[0], mean, cov, (4,), method="cholesky"), jax.random.ball(keys[1], 3, shape=(4,))


@program(key, f32(2))
def metropolis(key, start):
    def log_density(x):
        return -0.5 * (x[0] ** 2 + (x[1] - x[0] ** 2) ** 2)

    def step(state, key):
        x, accepted = state
        one, two = jax.random.split(key)
        new = x + 0.5 * jax.random.normal(one, (2,))
        yes = jnp.log(jax.random.uniform(two)) < log_density(new) - log_density(x)
        return (jnp.where(yes, new, x), accepted + yes), x

    return lax.scan(step, (start, 0), jax.random.split(jax.random.wrap_key_data(key), 25))


@program(key, f32(3))
def hamiltonian_steps(key, start):
    def energy(x):
        return (jnp.cos(x) + 0.5 * x ** 2).sum()

    def leap(x, p):
        p = p - 0.05 * jax.grad(energy)(x)
        x, p = lax.fori_loop(0, 4, lambda _, s: (s[0] + 0.1 * s[1], s[1] - 0.1 * jax.grad(energy)(s[0] + 0.1 * s[1])), (x, p))
        return x + 0.1 * p, p - 0.05 * jax.grad(energy)(x + 0.1 * p)

    def step(x, key):
        one, two = jax.random.split(key)
        p = jax.random.normal(one, (3,))
        y, q = leap(x, p)
        ratio = energy(x) + 0.5 * p @ p - energy(y) - 0.5 * q @ q
        x = lax.cond(jnp.log(jax.random.uniform(two)) < ratio, lambda: y, lambda: x)
        return x, x

    return lax.scan(step, start, jax.random.split(jax.random.wrap_key_data(key), 6))


@program(key, f32(4, 6), f32(6, 6))
def dropout_in_a_scan(key, x, w):
    def layer(carry, _):
        x, key = carry
        key, sub = jax.random.split(key)
        keep = jax.random.bernoulli(sub, 0.8, x.shape)
        return (jnp.tanh(jnp.where(keep, x / 0.8, 0) @ w), key), keep.sum()

    (x, key), kept = lax.scan(layer, (x, jax.random.wrap_key_data(key)), None, length=4)
    return x, jax.random.key_data(key), kept


@program(key, f32(5, 12))
def sampled_tokens(key, logits):
    key = jax.random.wrap_key_data(key)
    logits = logits / 0.7
    kept, _ = lax.top_k(logits, 5)
    logits = jnp.where(logits < kept[:, -1:], -jnp.inf, logits)
    order = jnp.argsort(-logits, -1)
    ranked = jnp.take_along_axis(jax.nn.softmax(logits), order, -1)
    cut = jnp.cumsum(ranked, -1) - ranked > 0.9
    logits = jnp.where(jnp.take_along_axis(cut, jnp.argsort(order, -1), -1), -jnp.inf, logits)
    minimum = jnp.where(jax.nn.softmax(logits) < 0.05 * jax.nn.softmax(logits).max(-1, keepdims=True), -jnp.inf, logits)
    return jax.random.categorical(key, logits), jax.random.categorical(key, minimum), jax.vmap(lambda k, l: jax.random.categorical(k, l))(jax.random.split(key, 5), minimum)


@program(u32(4))
def bits_of_nothing(state):
    """By the generator that is one operation: some bits, and none, which leave its state as it was."""
    some, none = (lax.rng_bit_generator(state, shape) for shape in ((5, 3), (0, 3)))
    key = jax.random.wrap_key_data(state, impl="rbg")
    return some, none, jax.random.uniform(key, (2, 0)), jax.random.bits(key, (0,), jnp.uint8)
