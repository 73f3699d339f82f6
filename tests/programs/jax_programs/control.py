"""Control flow: loops, conditions, nesting, what is carried through them."""
import jax
import jax.numpy as jnp
from jax import lax

from .registry import boolean, f32, i32, program


@program(f32(5))
def while_until_small(x):
    return lax.while_loop(lambda s: jnp.sum(s[0] ** 2) > 0.01, lambda s: (s[0] * 0.7, s[1] + 1), (x, 0))


@program(i32(low=1, high=100))
def collatz(n):
    def step(s):
        n, count = s
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), count + 1

    return lax.while_loop(lambda s: s[0] != 1, step, (n, 0))


@program(f32(4, 4), i32(low=2, high=7))
def fori_with_a_bound_that_comes(x, n):
    return lax.fori_loop(0, n, lambda i, y: y @ x * 0.3 + i, x)


@program(f32(6), i32(low=0, high=2))
def cond(x, which):
    return lax.cond(which > 0, lambda y: (jnp.sin(y), y.sum()), lambda y: (y * y, y.max()), x)


@program(f32(3, 4), i32(low=0, high=9))
def switch(x, which):
    return lax.switch(which % 4, [jnp.sin, lambda y: y + 1, lambda y: y.T.reshape(3, 4), lambda y: -y], x)


@program(f32(8))
def nested_loops(x):
    def outer(i, x):
        return lax.fori_loop(0, 3, lambda j, y: y * 0.5 + i * 1.0 + j, x)

    return lax.fori_loop(0, 4, outer, x)


@program(f32(9, 3), boolean(9))
def scan_with_a_condition(xs, flags):
    def step(total, each):
        x, flag = each
        total = lax.cond(flag, lambda t: t + x, lambda t: t * 0.5, total)
        return total, total.max()

    return lax.scan(step, jnp.zeros(3), (xs, flags))


@program(f32(4, 6))
def loop_with_updates_in_place(x):
    def step(i, y):
        return y.at[:, i].set(y[:, i] + y[:, i - 1])

    return lax.fori_loop(1, 6, step, x)


@program(f32(12))
def scan_of_integers(x):
    def step(state, each):
        count, seen = state
        return (count + (each > 0).astype(jnp.int32), seen | (each > 1)), count

    return lax.scan(step, (jnp.int32(0), jnp.bool_(False)), x)


@program(f32(5, 5))
def power_iteration(a):
    a = a @ a.T + jnp.eye(5)

    def step(v, _):
        w = a @ v
        return w / jnp.linalg.norm(w), v @ w

    return lax.scan(step, jnp.ones(5) / jnp.sqrt(5.0), None, length=8)


@program(f32(10, 10))
def heat_equation(u):
    def step(_, u):
        inner = u[1:-1, 1:-1] + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        return jnp.pad(inner, 1)

    return lax.fori_loop(0, 5, step, u)


@program(f32(7, 3), f32(7, 3), f32(7, low=0.1, high=1))
def n_body(positions, velocities, masses):
    def step(state, _):
        p, v = state
        d = p[None] - p[:, None]
        force = (d * masses[None, :, None] * lax.rsqrt((d**2).sum(-1) + 0.1)[..., None] ** 3).sum(1)
        v = v + 0.01 * force
        return (p + 0.01 * v, v), (v**2).sum()

    return lax.scan(step, (positions, velocities), None, length=4)


@program(f32(6, 4), f32(4))
def vmap_of_while(xs, limit):
    def count(x):
        return lax.while_loop(lambda s: (s[0] < limit.sum() + 3).all() & (s[1] < 20), lambda s: (s[0] + 0.5, s[1] + 1), (x, 0))

    return jax.vmap(count)(xs)


@program(f32(3), f32(3), i32(low=0, high=3))
def condition_picks_scalars(a, b, k):
    return lax.cond(a.sum() > b.sum(), lambda: a[k], lambda: b[k] * 2), lax.optimization_barrier(a) + 1


@program(f32(40), f32())
def map_in_batches(xs, y):
    return lax.map(lambda x: jnp.sin(x) * y, xs, batch_size=8)


@program(f32(16))
def bisect_roots(targets):
    def step(_, bounds):
        low, high = bounds
        middle = (low + high) / 2
        above = middle**3 + middle > targets
        return jnp.where(above, low, middle), jnp.where(above, middle, high)

    return lax.fori_loop(0, 20, step, (jnp.full(16, -5.0), jnp.full(16, 5.0)))
