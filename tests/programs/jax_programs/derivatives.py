"""Steps of optimizers, and derivatives of every kind and order."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .registry import f32, f64, i32, program


def tree(*leaves):
    return {"w": leaves[0], "b": leaves[1]}


@program(f32(8, 6), f32(6), f32(8, 6), f32(6), f32(8, 6, low=0, high=1), f32(6, low=0, high=1), i32(low=0, high=5))
def adam_of_a_tree(w, b, gw, gb, vw, vb, step):
    parameters, gradients, second = tree(w, b), tree(gw, gb), tree(vw, vb)
    rate = jnp.where(step < 3, step / 3, 0.5 * (1 + jnp.cos(jnp.pi * (step - 3) / 10))) * 1e-2
    norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(gradients)))
    gradients = jax.tree.map(lambda g: jnp.where(norm < 1, g, g / norm), gradients)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g ** 2, second, gradients)
    amsgrad = jax.tree.map(jnp.maximum, second, tree(vw, vb))
    return jax.tree.map(lambda p, g, v: p - rate * g / (jnp.sqrt(v) + 1e-8), parameters, gradients, amsgrad), second, norm


@program(f32(6, 5), f32(6, 5), f32(6, 6), f32(5, 5), tolerance=1e-3)
def shampoo_by_newton(w, g, left, right):
    left, right = left @ left.T / 6 + g @ g.T, right @ right.T / 5 + g.T @ g

    def inverse_root(a):
        n = a.shape[0]
        a = a + 0.1 * jnp.eye(n)
        scale = jnp.trace(a)

        def step(_, state):
            y, z = state
            t = (3 * jnp.eye(n) - z @ y) / 2
            return y @ t, t @ z

        _, z = lax.fori_loop(0, 12, step, (a / scale, jnp.eye(n)))
        return z / jnp.sqrt(scale)

    return w - 0.1 * inverse_root(left) @ g @ inverse_root(right), left, right


@program(f32(16, 8), f32(16, 8), tolerance=1e-4)
def muon_step(w, g):
    x = g / (jnp.linalg.norm(g) + 1e-7)
    x = x.T
    for a, b, c in ((3.4445, -4.775, 2.0315),) * 5:
        s = x @ x.T
        x = a * x + (b * s + c * s @ s) @ x
    return w - 0.02 * x.T * max(1, 16 / 8) ** 0.5


@program(f32(12, 10), f32(12, 10), f32(12, low=0, high=1), f32(10, low=0, high=1), i32(low=1, high=9))
def adafactor_with_clipping(w, g, rows, columns, step):
    decay = 1 - step.astype(jnp.float32) ** -0.8
    square = g ** 2 + 1e-30
    rows = decay * rows + (1 - decay) * square.mean(1)
    columns = decay * columns + (1 - decay) * square.mean(0)
    update = g * lax.rsqrt((rows / rows.mean())[:, None] * columns[None])
    update = update / jnp.maximum(1.0, jnp.sqrt(jnp.mean(update ** 2)))
    return w - update * jnp.maximum(1e-3, jnp.sqrt(jnp.mean(w ** 2))), rows, columns


@program(f32(5), f32(4, 5), f32(4, 5))
def lbfgs_two_loops(g, s, y):
    rho = 1 / jnp.einsum("ij,ij->i", s, y)

    def down(q, one):
        s, y, r = one
        a = r * jnp.vdot(s, q)
        return q - a * y, a

    q, alphas = lax.scan(down, g, (s, y, rho), reverse=True)
    q = q * jnp.vdot(s[-1], y[-1]) / jnp.vdot(y[-1], y[-1])

    def up(q, one):
        s, y, r, a = one
        return q + s * (a - r * jnp.vdot(y, q)), None

    return lax.scan(up, q, (s, y, rho, alphas))[0]


@program(f32(2, low=-1, high=1))
def descent_with_backtracking(x):
    def f(x):
        return (1 - x[0]) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2

    def step(x, _):
        g = jax.grad(f)(x)
        t = lax.while_loop(lambda t: (f(x - t * g) > f(x) - 0.3 * t * g @ g) & (t > 1e-6), lambda t: t * 0.5, 1.0)
        return x - t * g, f(x)

    return lax.scan(step, x, None, length=8)


@program(f64(5, 4), f64(4, low=0.5, high=2), x64=True)
def derivatives_of_all_orders(a, x):
    def f(x):
        return jnp.sum(jnp.tanh(a @ x) ** 2) + jnp.prod(x) + jnp.sum(x[:-1] ** x[1:])

    def third(x):
        return jax.jvp(lambda x: jax.jvp(jax.grad(f), (x,), (x,))[1], (x,), (jnp.ones(4),))

    return jax.hessian(f)(x), jax.jacrev(jax.jacfwd(f))(x), third(x), jax.jacfwd(jax.grad(lambda x: f(x) ** 2))(x), jax.linearize(f, x)[1](x)


@program(f32(6, low=0.1, high=0.9), f32(6, low=1.5, high=4), f32(6))
def gradients_of_special_functions(p, q, x):
    functions = (jnp.arcsin, jnp.arccos, jnp.arctanh, jax.scipy.special.logit, jax.scipy.special.erfinv, jax.scipy.special.ndtri, jnp.log1p, jnp.cbrt, jnp.exp2,
                 jax.scipy.special.entr, jax.nn.gelu, jnp.sinc)
    bigger = (jnp.arccosh, jax.scipy.special.gammaln, jax.scipy.special.digamma, jnp.log10, lax.lgamma, jax.scipy.special.i0e, jax.scipy.special.i1e)
    any_sign = (jnp.arcsinh, jax.nn.softplus, jax.nn.elu, jax.nn.selu, jax.nn.mish, jax.nn.celu, jax.nn.log_sigmoid, jax.nn.silu, jnp.abs, jax.scipy.special.erfc,
                jax.scipy.special.log_ndtr, jax.nn.relu6, jax.nn.hard_tanh, jnp.sign, jax.nn.soft_sign, jax.nn.squareplus)
    return [[jax.vmap(jax.grad(f))(v) for f in several] for several, v in ((functions, p), (bigger, q), (any_sign, x))]


@program(f32(4, 5), f32(4, 5, low=0.5, high=2), i32(4, low=0, high=5))
def gradients_of_gathers_and_orders(x, y, at):
    def loss(x, y):
        top = lax.top_k(x, 3)[0].prod(-1).sum()
        ordered = jnp.sort(x * y, -1) @ jnp.arange(5.0)
        taken = jnp.take_along_axis(x, at[:, None], 1).sum() + x[:, at].prod() + jnp.take(y, at, axis=1, mode="clip").sum()
        running = jnp.cumsum(x, 1)[:, 3].sum() + jnp.cumprod(y, 0)[2].sum() + lax.cummax(x, 1).sum() + lax.cumlogsumexp(x, 0).sum()
        return jnp.sin(top + taken + running) + ordered.sum() + jnp.median(x) + jnp.quantile(y, 0.3) + x.max() * y.min() + jnp.ptp(x, 0).sum()

    return jax.value_and_grad(loss, (0, 1))(x, y)


@program(f32(6, 4), f32(4, 4))
def gradients_through_loops(x, w):
    def by_fori(w):
        return lax.fori_loop(0, 5, lambda i, y: jnp.tanh(y @ w) + i / 5, x).sum()

    def by_scan(w):
        def step(c, each):
            c = jnp.where(each.sum() > 0, c @ w, c * 0.5)
            return c, c[0, 1]

        c, ys = lax.scan(step, jnp.ones((4, 4)), x)
        return c.sum() + (ys ** 2).sum()

    def by_cond(w):
        return sum(lax.cond(x[i].sum() > 0, lambda w: jnp.sin(w).sum(), lambda w: (w * x[i]).prod(), w) for i in range(2))

    def by_switch(w):
        return lax.switch(jnp.argmax(x[0]), [lambda w: w.sum(), lambda w: (w ** 2).sum(), jnp.linalg.norm, lambda w: jnp.max(w)], w)

    def by_map(w):
        return lax.map(lambda row: jnp.cos(row @ w).sum(), x, batch_size=4).sum()

    return [jax.grad(f)(w) for f in (by_fori, by_scan, by_cond, by_switch, by_map)], jax.jvp(by_scan, (w,), (w,)), jax.jvp(lambda w: lax.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, s[1] @ w), (0, x))[1], (w,), (w,))


@functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
def scaled(x, factor):
    return x * factor


scaled.defvjp(lambda x, factor: (x * factor, x.shape), lambda factor, shape, g: (g * factor * 2 + jnp.zeros(shape),))


@jax.custom_jvp
def log1pexp(x):
    return jnp.log(1 + jnp.exp(x))


log1pexp.defjvp(lambda primals, tangents: (log1pexp(*primals), (1 - 1 / (1 + jnp.exp(primals[0]))) * tangents[0]))


@program(f32(5), f32(5, 5))
def custom_rules(x, w):
    def straight(x):
        return x + lax.stop_gradient(jnp.round(x) - x)

    def block(x):
        return jnp.sin(log1pexp(w @ x)) * straight(x)

    named = jax.checkpoint(block, policy=jax.checkpoint_policies.dots_saveable)
    return (jax.grad(lambda x: (scaled(x, 3.0) ** 2).sum())(x), jax.jacfwd(log1pexp)(x), jax.jacrev(block)(x), jax.grad(lambda x: named(named(x)).sum())(x),
            jax.hessian(lambda x: log1pexp(x).sum())(x), jax.vjp(block, x)[1](x))


@program(f32(7, 5), f32(5, 3), f32(3), i32(7, low=0, high=3))
def gradients_of_each_sample(x, w, b, y):
    def loss(parameters, x, y):
        logits = x @ parameters["w"] + parameters["b"]
        return jax.nn.logsumexp(logits) - logits[y]

    each = jax.vmap(jax.grad(loss), (None, 0, 0))(tree(w, b), x, y)
    norms = jnp.sqrt(sum((g.reshape(7, -1) ** 2).sum(1) for g in jax.tree.leaves(each)))
    clipped = jax.tree.map(lambda g: jnp.einsum("n...,n->...", g, jnp.minimum(1, 1 / norms)), each)
    fisher = jnp.einsum("nij,nkl->ijkl", each["w"], each["w"]) / 7
    return clipped, norms, fisher, jax.vmap(jax.hessian(lambda b, x, y: loss(tree(w, b), x, y)), (None, 0, 0))(b, x, y)


@program(f32(4, 3), f32(3, 2), f32(4, 3), i32(6, low=0, high=4))
def maml_step(x, w, y, tasks):
    def loss(w, x):
        return jnp.mean((jnp.tanh(x @ w) - x[:, :2]) ** 2)

    def adapted(w, task):
        one = lax.dynamic_slice_in_dim(x, task % 3, 2)
        for _ in range(2):
            w = w - 0.1 * jax.grad(loss)(w, one)
        return loss(w, y)

    return jax.value_and_grad(lambda w: jax.vmap(adapted, (None, 0))(w, tasks).mean())(w)


@program(f32(5, 6), f32(6, 4), f32(4), i32(5, low=0, high=4), f32(low=0.5, high=1))
def losses_of_many_kinds(x, w, b, labels, smooth):
    def total(w, b):
        logits = x @ w + b
        log = jax.nn.log_softmax(logits)
        hot = jax.nn.one_hot(labels, 4) * (1 - 0.1) + 0.1 / 4
        p = jnp.exp(log)
        focal = -jnp.take_along_axis((1 - p) ** 2 * log, labels[:, None], 1).mean()
        hinge = jnp.maximum(0, 1 + logits - jnp.take_along_axis(logits, labels[:, None], 1)).mean()
        huber = jnp.where(jnp.abs(logits) < smooth, 0.5 * logits ** 2, smooth * (jnp.abs(logits) - 0.5 * smooth)).mean()
        kl = jnp.sum(jax.scipy.special.rel_entr(p, jnp.full_like(p, 0.25)))
        cosine = 1 - jnp.vdot(logits[0], logits[1]) / jnp.sqrt((logits[:2] ** 2).sum(1).prod())
        poisson = (jnp.exp(logits) - labels[:, None] * logits).mean()
        return -(hot * log).sum(1).mean() + focal + hinge + huber + kl + cosine + poisson + jnp.logaddexp(logits, 0).mean()

    return jax.value_and_grad(total, (0, 1))(w, b)


@program(f32(2, 7, 8, 3), f32(3, 2, 3, 4), tolerance=2e-4)
def hessians_of_a_convolution(x, w):
    def loss(w):
        y = lax.conv_general_dilated(x, w, (2, 1), [(1, 0), (0, 1)], dimension_numbers=("NHWC", "HWIO", "NHWC"))
        y = lax.reduce_window(jnp.tanh(y), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 2, 1), "VALID")
        return (y ** 2).mean()

    return jax.value_and_grad(loss)(w), jax.jvp(jax.grad(loss), (w,), (jnp.ones_like(w),))[1], jax.vmap(lambda v: jax.jvp(loss, (w,), (v,))[1])(jnp.stack([w, jnp.cos(w)]))


@program(f32(6, 6), f32(6), f32(6, 2), tolerance=1e-3)
def gradients_of_linear_algebra(a, b, c):
    safe = a @ a.T + 6 * jnp.eye(6)
    return (jax.grad(lambda a: jnp.linalg.slogdet(a)[1])(safe), jax.grad(lambda a: jnp.linalg.inv(a)[0, 1])(safe), jax.grad(lambda a: (jnp.linalg.solve(a, b) ** 2).sum())(safe),
            jax.grad(lambda a: jnp.linalg.cholesky(a).sum())(safe), jax.grad(lambda a: jnp.linalg.det(a))(safe / 6), jax.jacfwd(lambda c: jax.scipy.linalg.solve_triangular(safe, c, lower=True) ** 2)(c),
            jax.grad(lambda a: jnp.linalg.matrix_power(a, 3).sum())(a), jax.grad(lambda a: jax.scipy.linalg.expm(a / 6).sum())(a))


@program(f32(3, 4), f32(4, 4), i32(3, low=0, high=4))
def maps_of_maps(x, w, at):
    pick = jax.vmap(lambda row, i: lax.dynamic_index_in_dim(row, i, keepdims=False))
    put = jax.vmap(lambda row, i: row.at[i].add(7.0))
    many = jax.vmap(jax.vmap(lambda a, b: jnp.dot(a, b), (None, 1)), (0, None))
    out = jax.vmap(lambda a: a * 2, in_axes=1, out_axes=1)(x)
    loops = jax.vmap(lambda row, n: lax.fori_loop(0, n, lambda i, r: r * 1.5 + i, row))(x, at)
    choice = jax.vmap(lambda row, i: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh, lambda v: v * v], row))(x, at)
    scanned = jax.vmap(lambda row: lax.scan(lambda c, v: (c + v, c * v), 0.0, row))(x)
    sorted_rows = jax.vmap(lambda row, i: jnp.sort(row)[i])(x, at)
    solved = jax.vmap(lambda row: jnp.linalg.solve(w @ w.T + 4 * jnp.eye(4), row))(x)
    named = jax.vmap(lambda row: row - lax.pmean(row, "batch"), axis_name="batch")(x)
    return pick(x, at), put(x, at), many(x, w), out, loops, choice, scanned, sorted_rows, solved, named, jnp.vectorize(jnp.outer, signature="(a),(b)->(a,b)")(x, x)


@program(f32(40, 3), f32(40))
def whole_training_by_scan(x, y):
    def loss(p, x, y):
        return jnp.mean((jnp.tanh(x @ p["a"]) @ p["b"] - y) ** 2)

    parameters = {"a": jnp.ones((3, 4)) * jnp.linspace(-0.5, 0.5, 4), "b": jnp.full(4, 0.1)}
    zero = jax.tree.map(jnp.zeros_like, parameters)

    def step(state, t):
        p, m, v = state
        at = (t * 8) % 40
        l, g = jax.value_and_grad(loss)(p, lax.dynamic_slice_in_dim(x, at, 8), lax.dynamic_slice_in_dim(y, at, 8))
        m, v = (jax.tree.map(lambda o, n: d * o + (1 - d) * n, old, new) for d, old, new in ((0.9, m, g), (0.99, v, jax.tree.map(jnp.square, g))))
        p = jax.tree.map(lambda p, m, v: p - 0.05 * m / (1 - 0.9 ** (t + 1.0)) / (jnp.sqrt(v / (1 - 0.99 ** (t + 1.0))) + 1e-8), p, m, v)
        return (p, m, v), l

    return lax.scan(step, (parameters, zero, zero), jnp.arange(12))
