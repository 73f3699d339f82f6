"""Gradients, optimizers, whole training steps."""
import jax
import jax.numpy as jnp
from jax import lax

from .models import conv, layer_norm
from .registry import f32, i32, program


def loss_of(w0, w1, x, y):
    return jnp.mean((jnp.tanh(x @ w0) @ w1 - y) ** 2)


@program(f32(6, 8), f32(8, 3), f32(5, 6), f32(5, 3), donate=(0, 1))
def sgd_step(w0, w1, x, y):
    loss, (g0, g1) = jax.value_and_grad(loss_of, (0, 1))(w0, w1, x, y)
    return loss, w0 - 0.1 * g0, w1 - 0.1 * g1


@program(f32(7, 9), f32(7, 9), f32(7, 9), f32(7, 9, low=0, high=1), i32(low=1, high=9))
def adam_step(w, gradient, first, second, step):
    first = 0.9 * first + 0.1 * gradient
    second = 0.999 * second + 0.001 * gradient**2
    a = first / (1 - 0.9**step)
    b = second / (1 - 0.999**step)
    return w - 1e-3 * a / (jnp.sqrt(b) + 1e-8), first, second, step + 1


@program(f32(33), f32(33), f32(33))
def momentum_with_clipping(w, gradient, velocity):
    norm = jnp.sqrt(jnp.sum(gradient**2))
    velocity = 0.9 * velocity + gradient * jnp.minimum(1.0, 1.0 / norm)
    return w - 0.01 * (0.9 * velocity + gradient), velocity


@program(f32(5, 4), f32(5, 4), f32(5, 4, low=0, high=1), f32(5, 4, low=0, high=1))
def adagrad_and_rmsprop(w, gradient, total, mean):
    total = total + gradient**2
    mean = 0.9 * mean + 0.1 * gradient**2
    return w - 0.1 * gradient * lax.rsqrt(total + 1e-7) - 0.01 * gradient / (jnp.sqrt(mean) + 1e-6), total, mean


@program(f32(12, 16), f32(12, 16), f32(12), f32(16))
def adafactor_step(w, gradient, rows, columns):
    square = gradient**2 + 1e-30
    rows = 0.9 * rows + 0.1 * square.mean(1)
    columns = 0.9 * columns + 0.1 * square.mean(0)
    scale = jnp.abs(rows)[:, None] * jnp.abs(columns)[None] / jnp.abs(rows).mean()
    update = gradient * lax.rsqrt(scale + 1e-3)
    return w - 0.01 * update / jnp.maximum(1.0, jnp.sqrt(jnp.mean(update**2))), rows, columns


@program(f32(2, 9, 8, 3), f32(3, 2, 3, 5), f32(2, 7, 6, 4))
def strided_conv_gradients(x, w, y):
    """Gradients of strided convolutions: zeros stand between the elements of one factor."""
    def loss(x, w, y):
        small = lax.conv_general_dilated(x, w, (3, 2), ((1, 2), (0, 1)), dimension_numbers=("NHWC", "HWIO", "NHWC"))
        pieces = lax.conv_general_dilated(y, y[:, :2, :3] * 0.5, (2, 1), "VALID", rhs_dilation=(1, 2),
                                          dimension_numbers=("NHWC", "OHWI", "NHWC"))
        return (small**2).sum() + (pieces**3).sum()

    return jax.grad(loss, (0, 1, 2))(x, w, y)


@program(f32(2, 8, 8, 3), f32(3, 3, 3, 4), f32(64, 5), i32(2, low=0, high=5))
def cnn_gradient(x, w, head, labels):
    def loss(w, head):
        y = jax.nn.relu(conv(x, w))
        y = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").reshape(2, -1)
        return -jnp.take_along_axis(jax.nn.log_softmax(y @ head), labels[:, None], 1).mean()

    return jax.value_and_grad(loss, (0, 1))(w, head)


@program(f32(6, 16), f32(16, 48), f32(16), f32(16))
def attention_gradient(x, qkv, scale, shift):
    def loss(x, qkv, scale, shift):
        q, k, v = jnp.split(layer_norm(x, scale, shift) @ qkv, 3, -1)
        return (jax.nn.softmax(q @ k.T / 4.0) @ v).sum()

    return jax.grad(loss, (0, 1, 2, 3))(x, qkv, scale, shift)


@program(f32(5, 3, 4), f32(4, 6), f32(6, 6))
def gradient_through_a_scan(xs, w, u):
    def loss(w, u):
        def step(h, x):
            h = jnp.tanh(x @ w + h @ u)
            return h, jnp.sum(h**2)

        return lax.scan(step, jnp.zeros((3, 6)), xs)[1].sum()

    return jax.value_and_grad(loss, (0, 1))(w, u)


@program(i32(9, low=0, high=12), f32(12, 5), f32(9, 5))
def embedding_gradient(tokens, table, target):
    return jax.grad(lambda t: jnp.sum((t[tokens] - target) ** 2))(table)


@program(f32(10), f32(10))
def hessian_vector_product(x, v):
    def energy(x):
        return jnp.sum(jnp.sin(x) * x[::-1]) + jnp.prod(jnp.cos(x) + 1.5)

    return jax.jvp(jax.grad(energy), (x,), (v,))[1]


@program(f32(4))
def jacobian(x):
    return jax.jacfwd(lambda x: jnp.stack([x[0] * x[1], jnp.sin(x[2]), jnp.exp(x[3]) * x[0]]))(x)


@program(f32(5, 3), f32(3))
def vmap_of_a_gradient(xs, w):
    return jax.vmap(jax.grad(lambda x: jnp.tanh(x @ w) ** 2))(xs)


@program(f32(8, 6), f32(8))
def newton_of_logistic_regression(x, y):
    def step(w, _):
        p = jax.nn.sigmoid(x @ w)
        return w - 0.1 * x.T @ (p - (y > 0)), -jnp.mean(jnp.where(y > 0, jnp.log(p + 1e-6), jnp.log1p(1e-6 - p)))

    return lax.scan(step, jnp.zeros(6), None, length=5)


@program(f32(4, 16), f32(16, 16), f32(16, 16))
def remat_gradient(x, a, b):
    @jax.checkpoint
    def block(x, w):
        return jnp.tanh(x @ w)

    return jax.grad(lambda x: block(block(x, a), b).sum())(x)


@program(f32(6, 7), f32(6, 7))
def losses(a, b):
    huber = jnp.where(jnp.abs(a - b) < 1, 0.5 * (a - b) ** 2, jnp.abs(a - b) - 0.5).mean()
    hinge = jnp.maximum(0, 1 - a * jnp.sign(b)).sum(0)
    divergence = jnp.sum(jax.nn.softmax(a) * (jax.nn.log_softmax(a) - jax.nn.log_softmax(b)), -1)
    return huber, hinge, divergence, jax.scipy.special.logsumexp(a, axis=0)
