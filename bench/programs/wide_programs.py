"""Programs of many kinds, none of them from an issue, in JAX and in PyTorch: what wide.py measures.

A program is a class with two functions of the same tensors. JAX and PyTorch need not be on the same machine.
"""

# ruff: noqa: E702, E731
import math

try:
    import jax
    import jax.numpy as jnp
    from jax import lax
except ImportError:
    jax = None
try:
    import torch
    from torch.nn import functional
except ImportError:
    torch = None

HALF = "float16"
PROGRAMS = {}


def normal(*shape, kind="float32"):
    return "normal", shape, kind, 0


def uniform(*shape, kind="float32"):
    return "uniform", shape, kind, 0


def integers(end, *shape):
    return "integers", shape, "int32", end


def program(*inputs, tolerance=2e-3, in_graph=True):
    """Of these inputs; the answer is near PyTorch's in f64, by this much of its largest element. `in_graph`: whether PyTorch can capture it."""

    def kept(made):
        made.inputs, made.tolerance, made.in_graph = inputs, tolerance, in_graph
        PROGRAMS[made.__name__] = made
        return made

    return kept


@program(normal(4096, 4096))
class cumsum_rows:
    def in_jax(x):
        return jnp.cumsum(x, 1)

    def in_torch(x):
        return torch.cumsum(x, 1)


@program(normal(1 << 24))
class cumsum_long:
    def in_jax(x):
        return jnp.cumsum(x)

    def in_torch(x):
        return torch.cumsum(x, 0)


@program(normal(1 << 24))
class sum_long:
    def in_jax(x):
        return jnp.sum(x)

    def in_torch(x):
        return x.sum()


@program(normal(4096, 4096))
class sum_columns:
    def in_jax(x):
        return jnp.sum(x, 0)

    def in_torch(x):
        return x.sum(0)


@program(normal(4096, 4096))
class argmax_rows:
    def in_jax(x):
        return jnp.argmax(x, 1)

    def in_torch(x):
        return x.argmax(1).int()


@program(normal(1 << 24))
class argmax_long:
    def in_jax(x):
        return jnp.argmax(x)

    def in_torch(x):
        return x.argmax().int()


@program(normal(4096, 4096))
class var_columns:
    def in_jax(x):
        return jnp.var(x, 0)

    def in_torch(x):
        return x.var(0, unbiased=False)


@program(normal(2048, 32000), integers(32000, 2048))
class cross_entropy:
    def in_jax(x, l):
        return -jnp.take_along_axis(jax.nn.log_softmax(x, -1), l[:, None], 1).mean()

    def in_torch(x, l):
        return functional.cross_entropy(x, l.long())


@program(normal(2048, 32000), integers(32000, 2048))
class cross_entropy_grad:
    def in_jax(x, l):
        return jax.grad(lambda x: -jnp.take_along_axis(jax.nn.log_softmax(x, -1), l[:, None], 1).mean())(x)

    def in_torch(x, l):
        p = torch.softmax(x, -1)
        p = p - functional.one_hot(l.long(), x.shape[1]).to(p.dtype)
        return p / x.shape[0]


@program(normal(32000, 512), integers(32000, 8192))
class embedding:
    def in_jax(w, l):
        return w[l]

    def in_torch(w, l):
        return functional.embedding(l, w)


@program(normal(8192, 512), integers(32000, 8192))
class embedding_grad:
    def in_jax(g, l):
        return jnp.zeros((32000, 512), g.dtype).at[l].add(g)

    def in_torch(g, l):
        return torch.zeros(32000, 512, device=g.device, dtype=g.dtype).index_add(0, l, g)


@program(normal(64, 32000))
class top_k:
    def in_jax(x):
        return lax.top_k(x, 32)[0]

    def in_torch(x):
        return torch.topk(x, 32)[0]


@program(normal(1 << 20))
class sort_long:
    def in_jax(x):
        return jnp.sort(x)

    def in_torch(x):
        return torch.sort(x)[0]


@program(normal(4096, 1024))
class sort_rows:
    def in_jax(x):
        return jnp.sort(x, 1)

    def in_torch(x):
        return torch.sort(x, 1)[0]


@program(normal(4096, 4096))
class transpose:
    def in_jax(x):
        return x.T

    def in_torch(x):
        return x.t().contiguous()


@program(normal(8, 1024, 16, 64, kind=HALF))
class transpose_heads:
    def in_jax(x):
        return x.transpose(0, 2, 1, 3)

    def in_torch(x):
        return x.transpose(1, 2).contiguous()


@program(normal(16, 256, 56, 56), normal(256, 1, 3, 3))
class depthwise_nchw:
    def in_jax(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", feature_group_count=256)

    def in_torch(x, w):
        return functional.conv2d(x, w, padding=1, groups=256)


@program(normal(16, 56, 56, 256), normal(3, 3, 1, 256))
class depthwise_nhwc:
    def in_jax(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=256)

    def in_torch(x, w):
        return functional.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), padding=1, groups=256).permute(0, 2, 3, 1)


@program(normal(16, 256, 28, 28, kind=HALF), normal(512, 256, 1, 1, kind=HALF))
class conv1x1_half:
    def in_jax(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "SAME")

    def in_torch(x, w):
        return functional.conv2d(x, w)


@program(normal(16, 3, 224, 224, kind=HALF), normal(64, 3, 7, 7, kind=HALF))
class conv7x7_stride2_half:
    def in_jax(x, w):
        return lax.conv_general_dilated(x, w, (2, 2), [(3, 3), (3, 3)])

    def in_torch(x, w):
        return functional.conv2d(x, w, padding=3, stride=2)


@program(normal(16, 128, 28, 28, kind=HALF), normal(256, 128, 3, 3, kind=HALF))
class conv3x3_stride2_half:
    def in_jax(x, w):
        return lax.conv_general_dilated(x, w, (2, 2), [(1, 1), (1, 1)])

    def in_torch(x, w):
        return functional.conv2d(x, w, padding=1, stride=2)


@program(normal(8, 64, 56, 56), normal(128, 64, 3, 3))
class conv_input_grad:
    def in_jax(x, w):
        y, b = jax.vjp(lambda x: lax.conv_general_dilated(x, w, (1, 1), "SAME"), x)
        return b(jnp.ones_like(y) + x.mean() * 0)[0]

    def in_torch(x, w):
        return torch.nn.grad.conv2d_input(x.shape, w, torch.ones(8, 128, 56, 56, device=x.device, dtype=x.dtype), padding=1)


@program(normal(8, 64, 56, 56), normal(8, 128, 56, 56))
class conv_weight_grad:
    def in_jax(x, g):
        w = jnp.zeros((128, 64, 3, 3), x.dtype)
        y, b = jax.vjp(lambda w: lax.conv_general_dilated(x, w, (1, 1), "SAME"), w)
        return b(g)[0]

    def in_torch(x, g):
        return torch.nn.grad.conv2d_weight(x, (128, 64, 3, 3), g, padding=1)


@program(normal(8, 64, 28, 28), normal(64, 32, 4, 4))
class conv_transpose:
    def in_jax(x, w):
        return lax.conv_general_dilated(x, jnp.flip(w, (2, 3)).transpose(1, 0, 2, 3), (1, 1), [(2, 2), (2, 2)], lhs_dilation=(2, 2))

    def in_torch(x, w):
        return functional.conv_transpose2d(x, w, stride=2, padding=1)


@program(normal(16, 64, 112, 112))
class max_pool:
    def in_jax(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), [(0, 0), (0, 0), (1, 1), (1, 1)])

    def in_torch(x):
        return functional.max_pool2d(x, 3, 2, 1)


@program(normal(16, 64, 56, 56))
class max_pool_grad:
    def in_jax(x):
        return jax.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID").sum())(x)

    def in_torch(x):
        y, i = functional.max_pool2d(x, 2, 2, return_indices=True)
        return functional.max_unpool2d(torch.ones_like(y), i, 2, 2)


@program(normal(16, 256, 28, 28), normal(256), normal(256))
class batchnorm_train:
    def in_jax(x, s, b):
        m = x.mean((0, 2, 3), keepdims=True)
        v = x.var((0, 2, 3), keepdims=True)
        return (x - m) * lax.rsqrt(v + 1e-5) * s[:, None, None] + b[:, None, None]

    def in_torch(x, s, b):
        return functional.batch_norm(x, None, None, s, b, True)


@program(normal(16, 256, 32, 32), normal(256), normal(256))
class groupnorm:
    def in_jax(x, s, b):
        y = x.reshape(16, 32, -1)
        m = y.mean(-1, keepdims=True)
        v = y.var(-1, keepdims=True)
        return ((y - m) * lax.rsqrt(v + 1e-5)).reshape(x.shape) * s[:, None, None] + b[:, None, None]

    def in_torch(x, s, b):
        return functional.group_norm(x, 32, s, b)


@program(normal(64, 32, 256), normal(256, 2048), normal(512, 2048), normal(2048))
class lstm:
    def in_jax(x, wi, wh, b):
        wi = wi * 0.05
        wh = wh * 0.05

        def step(c, x):
            h, cc = c
            g = x @ wi + h @ wh + b
            i, f, o, z = jnp.split(g, 4, -1)
            cc = jax.nn.sigmoid(f) * cc + jax.nn.sigmoid(i) * jnp.tanh(z)
            h = jax.nn.sigmoid(o) * jnp.tanh(cc)
            return (h, cc), h

        z = jnp.zeros((32, 512), x.dtype)
        return lax.scan(step, (z, z), x)[1]

    def in_torch(x, wi, wh, b):
        wi = wi * 0.05
        wh = wh * 0.05
        xs = x @ wi + b
        h = c = torch.zeros(32, 512, device=x.device, dtype=x.dtype)
        r = []
        for k in range(64):
            i, f, o, z = torch.addmm(xs[k], h, wh).chunk(4, -1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(z)
            h = torch.sigmoid(o) * torch.tanh(c)
            r.append(h)
        return torch.stack(r)


@program(normal(4, 1024, 16, 64, kind=HALF), normal(1024, 32, kind=HALF), normal(1024, 32, kind=HALF))
class rope:
    def in_jax(x, c, s):
        a, b = x[..., :32], x[..., 32:]
        c = c[:, None]
        s = s[:, None]
        return jnp.concatenate([a * c - b * s, b * c + a * s], -1)

    def in_torch(x, c, s):
        a, b = x[..., :32], x[..., 32:]
        c = c[:, None]
        s = s[:, None]
        return torch.cat([a * c - b * s, b * c + a * s], -1)


@program(normal(4096, 2048, kind=HALF), normal(2048, kind=HALF))
class rmsnorm_half:
    def in_jax(x, w):
        y = x.astype(jnp.float32)
        y = y * lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-6)
        return y.astype(x.dtype) * w

    def in_torch(x, w):
        y = x.float()
        y = y * torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-6)
        return y.to(x.dtype) * w


@program(normal(2048, 1024, kind=HALF), normal(1024, 2816, kind=HALF), normal(1024, 2816, kind=HALF), normal(2816, 1024, kind=HALF))
class swiglu_half:
    def in_jax(x, a, b, c):
        a = a * 0.03
        b = b * 0.03
        c = c * 0.03
        return (jax.nn.silu(x @ a) * (x @ b)) @ c

    def in_torch(x, a, b, c):
        a = a * 0.03
        b = b * 0.03
        c = c * 0.03
        return (functional.silu(x @ a) * (x @ b)) @ c


@program(normal(2, 1024, 16, 64, kind=HALF), normal(2, 1024, 4, 64, kind=HALF), normal(2, 1024, 4, 64, kind=HALF))
class gqa_causal_half:
    def in_jax(q, k, v):
        return jax.nn.dot_product_attention(q, k, v, is_causal=True)

    def in_torch(q, k, v):
        return functional.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True, enable_gqa=True
        ).transpose(1, 2)


@program(normal(2, 1024, 16, 64, kind=HALF), normal(2, 1024, 16, 64, kind=HALF), normal(2, 1024, 16, 64, kind=HALF))
class attention_half:
    def in_jax(q, k, v):
        return jax.nn.dot_product_attention(q, k, v)

    def in_torch(q, k, v):
        return functional.scaled_dot_product_attention(*[z.transpose(1, 2) for z in (q, k, v)]).transpose(1, 2)


@program(normal(1, 2048, 32, 128, kind=HALF), normal(1, 2048, 32, 128, kind=HALF), normal(1, 2048, 32, 128, kind=HALF))
class attention_long_causal_half:
    def in_jax(q, k, v):
        return jax.nn.dot_product_attention(q, k, v, is_causal=True)

    def in_torch(q, k, v):
        return functional.scaled_dot_product_attention(*[z.transpose(1, 2) for z in (q, k, v)], is_causal=True).transpose(1, 2)


@program(normal(2, 1024, 1024, kind=HALF), normal(1024, 3072, kind=HALF), normal(1024, 1024, kind=HALF))
class attention_block_half:
    def in_jax(x, w, o):
        q, k, v = (z.reshape(2, 1024, 16, 64).transpose(0, 2, 1, 3) for z in jnp.split(x @ (w * 0.03), 3, -1))
        scores = jnp.where(jnp.tril(jnp.ones((1024, 1024), bool)), q @ k.swapaxes(-1, -2) / 8, jnp.finfo(x.dtype).min)
        return (jax.nn.softmax(scores, -1) @ v).transpose(0, 2, 1, 3).reshape(2, 1024, 1024) @ (o * 0.03)

    def in_torch(x, w, o):
        q, k, v = (z.reshape(2, 1024, 16, 64).transpose(1, 2) for z in (x @ (w * 0.03)).split(1024, -1))
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(2, 1024, 1024) @ (o * 0.03)


@program(normal(4096, 1024, kind=HALF), normal(1024, 4096, kind=HALF), normal(4096, kind=HALF), normal(4096, 1024, kind=HALF))
class mlp_gelu_half:
    def in_jax(x, a, bias, b):
        return jax.nn.gelu(x @ (a * 0.03) + bias) @ (b * 0.03)

    def in_torch(x, a, bias, b):
        return functional.gelu(functional.linear(x, (a * 0.03).t(), bias), approximate="tanh") @ (b * 0.03)


@program(normal(2, 512, 8, 64), normal(2, 512, 8, 64), normal(2, 512, 8, 64))
class attention_grad:
    def in_jax(q, k, v):
        return jax.grad(lambda q: jax.nn.dot_product_attention(q, k, v, is_causal=True).sum())(q)

    def in_torch(q, k, v):
        q, k, v = [z.transpose(1, 2) for z in (q, k, v)]
        s = q @ k.transpose(-1, -2) / 8
        m = torch.ones(512, 512, dtype=torch.bool, device=q.device).tril()
        p = torch.softmax(s.masked_fill(~m, -1e30), -1)
        dp = torch.ones_like(v) @ v.transpose(-1, -2)
        ds = p * (dp - (dp * p).sum(-1, keepdim=True))
        return (ds @ k / 8).transpose(1, 2)


@program(normal(4096, 1024), normal(1024), normal(4096, 1024))
class layernorm_grad:
    def in_jax(x, s, g):
        def f(x, s):
            m = x.mean(-1, keepdims=True)
            v = x.var(-1, keepdims=True)
            return (x - m) * lax.rsqrt(v + 1e-5) * s

        dx, ds = jax.vjp(f, x, s)[1](g)
        return dx + ds

    def in_torch(x, s, g):
        y, m, r = torch.ops.aten.native_layer_norm(x, (1024,), s, None, 1e-5)
        dx, ds, _ = torch.ops.aten.native_layer_norm_backward(g, x, (1024,), m, r, s, None, [True, True, False])
        return dx + ds


@program(normal(4096, 4096), normal(4096, 4096), normal(4096, 4096), uniform(4096, 4096))
class adam:
    def in_jax(p, g, m, v):
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        return p - 1e-3 * (m / 0.1) / (jnp.sqrt(v / 0.001) + 1e-8) + m * 0 + v * 0

    def in_torch(p, g, m, v):
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        return p - 1e-3 * (m / 0.1) / (torch.sqrt(v / 0.001) + 1e-8) + m * 0 + v * 0


@program(normal(2048, 1024))
class rfft_rows:
    def in_jax(x):
        return jnp.abs(jnp.fft.rfft(x))

    def in_torch(x):
        return torch.fft.rfft(x).abs()


@program(normal(512, 512))
class fft2:
    def in_jax(x):
        return jnp.abs(jnp.fft.fft2(x))

    def in_torch(x):
        return torch.fft.fft2(x).abs()


@program(normal(64, 4096))
class fft_convolution:
    def in_jax(x):
        return jnp.fft.irfft(jnp.fft.rfft(x) * jnp.fft.rfft(x[::-1]), n=4096)

    def in_torch(x):
        return torch.fft.irfft(torch.fft.rfft(x) * torch.fft.rfft(x.flip(0)), n=4096)


@program(normal(16, 96, 96, 96))
class fft3:
    def in_jax(x):
        return jnp.abs(jnp.fft.fftn(x, axes=(1, 2, 3)))

    def in_torch(x):
        return torch.fft.fftn(x, dim=(1, 2, 3)).abs()


@program(normal(1 << 20))
class fft_long:
    def in_jax(x):
        return jnp.abs(jnp.fft.fft(x))

    def in_torch(x):
        return torch.fft.fft(x).abs()


@program(normal(8, 160000))
class spectrogram:
    def in_jax(x):
        frames = x[:, jnp.arange(998)[:, None] * 160 + jnp.arange(400)[None]] * jnp.hanning(400)
        return jnp.abs(jnp.fft.rfft(frames, n=400)) ** 2

    def in_torch(x):
        frames = x.unfold(1, 400, 160)[:, :998] * torch.hann_window(400, periodic=False, dtype=x.dtype, device=x.device)
        return torch.fft.rfft(frames, n=400).abs() ** 2


@program(integers(256, 1 << 24))
class bincount:
    def in_jax(x):
        return jnp.zeros(256, jnp.int32).at[x].add(1)

    def in_torch(x):
        return torch.zeros(256, dtype=torch.int32, device=x.device).index_add(0, x, torch.ones_like(x))


@program(normal(8192, 8192 // 2), normal(4096))
class matvec:
    def in_jax(a, x):
        return a @ x

    def in_torch(a, x):
        return a @ x


@program(normal(8192, 4096), normal(8192))
class vecmat:
    def in_jax(a, x):
        return x @ a

    def in_torch(a, x):
        return x @ a


@program(normal(4096, 64), normal(4096, 64))
class distances:
    def in_jax(a, b):
        return jnp.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))

    def in_torch(a, b):
        return torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist")


@program(normal(1 << 20, 16), integers(1 << 16, 1 << 20))
class segment_sum:
    def in_jax(x, s):
        return jax.ops.segment_sum(x, s, 1 << 16)

    def in_torch(x, s):
        return torch.zeros(1 << 16, 16, device=x.device, dtype=x.dtype).index_add(0, s, x)


@program(normal(2048, 2048))
class stencil_100:
    def in_jax(x):
        def f(_, x):
            return x.at[1:-1, 1:-1].set(0.25 * (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2]))

        return lax.fori_loop(0, 100, f, x)

    def in_torch(x):
        x = x.clone()
        for _ in range(100):
            x[1:-1, 1:-1] = 0.25 * (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2])
        return x


@program(uniform(8192, 3))
class nbody:
    def in_jax(p):
        d = p[None] - p[:, None]
        r = (d * d).sum(-1) + 1e-2
        return (d * (r**-1.5)[..., None]).sum(1)

    def in_torch(p):
        d = p[None] - p[:, None]
        r = (d * d).sum(-1) + 1e-2
        return (d * (r**-1.5)[..., None]).sum(1)


@program(normal(65536, 32), normal(64, 32))
class kmeans_step:
    def in_jax(x, c):
        d = (x * x).sum(1)[:, None] - 2 * x @ c.T + (c * c).sum(1)
        a = jnp.argmin(d, 1)
        o = jax.nn.one_hot(a, 64)
        return (o.T @ x) / jnp.maximum(o.sum(0), 1)[:, None]

    def in_torch(x, c):
        d = (x * x).sum(1)[:, None] - 2 * x @ c.T + (c * c).sum(1)
        a = d.argmin(1)
        o = functional.one_hot(a, 64).to(x.dtype)
        return (o.T @ x) / o.sum(0).clamp(min=1)[:, None]


@program(uniform(1 << 22), uniform(1 << 22))
class black_scholes:
    def in_jax(s, k):
        s = s + 0.5
        k = k + 0.5
        d1 = (jnp.log(s / k) + 0.5 * 0.04) / 0.2
        d2 = d1 - 0.2
        N = jax.scipy.stats.norm.cdf
        return s * N(d1) - k * N(d2)

    def in_torch(s, k):
        s = s + 0.5
        k = k + 0.5
        d1 = (torch.log(s / k) + 0.5 * 0.04) / 0.2
        d2 = d1 - 0.2
        N = lambda z: 0.5 * (1 + torch.erf(z / math.sqrt(2)))
        return s * N(d1) - k * N(d2)


@program(uniform(1024, 4096), normal(1024, 4096))
class linear_recurrence:
    def in_jax(a, b):
        return lax.associative_scan(lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1]), (a, b), axis=1)[1]

    def in_torch(a, b):
        n = 1
        while n < a.shape[1]:
            b = torch.cat([b[:, :n], b[:, n:] + a[:, n:] * b[:, :-n]], 1)
            a = torch.cat([a[:, :n], a[:, n:] * a[:, :-n]], 1)
            n *= 2
        return b


@program(normal(4096, 4096))
class cummax_rows:
    def in_jax(x):
        return lax.cummax(x, 1)

    def in_torch(x):
        return torch.cummax(x, 1)[0]


@program(normal(1024, 1024), tolerance=1e-2)
class solve_triangular:
    def in_jax(a):
        a = jnp.tril(a) * 0.01 + jnp.eye(1024)
        return jax.scipy.linalg.solve_triangular(a, jnp.ones((1024, 64)), lower=True)

    def in_torch(a):
        a = torch.tril(a) * 0.01 + torch.eye(1024, device=a.device, dtype=a.dtype)
        return torch.linalg.solve_triangular(a, torch.ones(1024, 64, device=a.device, dtype=a.dtype), upper=False)


@program(normal(512, 512), normal(512, 8), in_graph=False)
class solve:
    def in_jax(a, b):
        return jnp.linalg.solve(a + 40 * jnp.eye(512), b)

    def in_torch(a, b):
        return torch.linalg.solve(a + 40 * torch.eye(512, device=a.device, dtype=a.dtype), b)


@program(normal(4096, 6, 6), normal(4096, 6), in_graph=False)
class solve_many:
    def in_jax(a, b):
        return jnp.linalg.solve(a + 4 * jnp.eye(6), b[..., None])[..., 0]

    def in_torch(a, b):
        return torch.linalg.solve(a + 4 * torch.eye(6, device=a.device, dtype=a.dtype), b)


@program(normal(1024, 32, 32), in_graph=False)
class cholesky_many:
    def in_jax(a):
        return jnp.linalg.cholesky(a @ a.mT + 32 * jnp.eye(32))

    def in_torch(a):
        return torch.linalg.cholesky(a @ a.mT + 32 * torch.eye(32, device=a.device, dtype=a.dtype))


@program(normal(1024, 4, 4), in_graph=False)
class inverse_many:
    def in_jax(a):
        return jnp.linalg.inv(a + 4 * jnp.eye(4))

    def in_torch(a):
        return torch.linalg.inv(a + 4 * torch.eye(4, device=a.device, dtype=a.dtype))


@program(normal(256, 64), tolerance=1e-3, in_graph=False)
class qr:
    def in_jax(a):
        return jnp.abs(jnp.linalg.qr(a)[1])

    def in_torch(a):
        return torch.linalg.qr(a)[1].abs()


@program(normal(64, 64), tolerance=1e-3, in_graph=False)
class eigh:
    def in_jax(a):
        return jnp.linalg.eigvalsh(a + a.T)

    def in_torch(a):
        return torch.linalg.eigvalsh(a + a.T)


@program(normal(256, 256), tolerance=1e-3, in_graph=False)
class eigenvectors:
    def in_jax(a):
        w, v = jnp.linalg.eigh(a + a.T)
        return (v * jnp.abs(w)) @ v.T

    def in_torch(a):
        w, v = torch.linalg.eigh(a + a.T)
        return (v * w.abs()) @ v.T


@program(normal(64, 16, 16), tolerance=1e-3, in_graph=False)
class eigh_many:
    def in_jax(a):
        return jnp.linalg.eigvalsh(a + a.mT)

    def in_torch(a):
        return torch.linalg.eigvalsh(a + a.mT)


@program(normal(128, 96), tolerance=1e-3, in_graph=False)
class svd:
    def in_jax(a):
        u, s, v = jnp.linalg.svd(a, full_matrices=False)
        return (u * jnp.sqrt(s)) @ v

    def in_torch(a):
        u, s, v = torch.linalg.svd(a, full_matrices=False)
        return (u * s.sqrt()) @ v


@program(normal(16, 3, 512, 512))
class resize_bilinear:
    def in_jax(x):
        return jax.image.resize(x, (16, 3, 256, 256), "bilinear", antialias=False)

    def in_torch(x):
        return functional.interpolate(x, size=(256, 256), mode="bilinear")


@program(normal(16, 64, 64, 64))
class upsample_nearest:
    def in_jax(x):
        return jnp.repeat(jnp.repeat(x, 2, 2), 2, 3)

    def in_torch(x):
        return functional.interpolate(x, scale_factor=2)


@program(normal(64, 512, 64, kind=HALF), normal(64, 64, 512, kind=HALF))
class batch_product_half:
    def in_jax(a, b):
        return a @ b

    def in_torch(a, b):
        return a @ b


@program(normal(2048, 1024, kind=HALF), normal(8, 1024, 2048, kind=HALF), normal(1024, 8, kind=HALF))
class moe_dense_half:
    def in_jax(x, w, g):
        w = w * 0.03
        p = jax.nn.softmax((x @ g).astype(jnp.float32) * 0.03, -1).astype(x.dtype)
        return jnp.einsum("te,tef->tf", p, jnp.einsum("td,edf->tef", x, w))

    def in_torch(x, w, g):
        w = w * 0.03
        p = torch.softmax((x @ g).float() * 0.03, -1).to(x.dtype)
        return torch.einsum("te,tef->tf", p, torch.einsum("td,edf->tef", x, w))


@program(normal(1 << 22))
class where_nonlinear:
    def in_jax(x):
        return jnp.where(x > 0, jnp.log1p(x), jnp.expm1(x)) * jnp.sin(x) + jnp.tanh(x) ** 2

    def in_torch(x):
        return torch.where(x > 0, torch.log1p(x), torch.expm1(x)) * torch.sin(x) + torch.tanh(x) ** 2


@program(normal(8, 128, 4096), normal(256, 128, 9))
class conv1d:
    def in_jax(x, w):
        return lax.conv_general_dilated(x, w, (1,), "SAME")

    def in_torch(x, w):
        return functional.conv1d(x, w, padding=4)


@program(normal(2, 16, 32, 32, 32), normal(32, 16, 3, 3, 3))
class conv3d:
    def in_jax(x, w):
        return lax.conv_general_dilated(x, w, (1, 1, 1), "SAME")

    def in_torch(x, w):
        return functional.conv3d(x, w, padding=1)


@program(normal(16, 7, 7, 512, kind=HALF), normal(1, 1, 512, 2048, kind=HALF), normal(2048, kind=HALF))
class conv1x1_nhwc_7x7_half:
    def in_jax(x, w, b):
        return jax.nn.relu(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) + b)

    def in_torch(x, w, b):
        return torch.relu(functional.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1)) + b[:, None, None]).permute(0, 2, 3, 1)


@program(normal(16, 14, 14, 256, kind=HALF), normal(3, 3, 256, 256, kind=HALF))
class conv3x3_nhwc_14x14_half:
    def in_jax(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def in_torch(x, w):
        return functional.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), padding=1).permute(0, 2, 3, 1)


@program(normal(16, 7, 7, 512, kind=HALF), normal(3, 3, 512, 512, kind=HALF))
class conv3x3_nhwc_7x7_half:
    def in_jax(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def in_torch(x, w):
        return functional.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), padding=1).permute(0, 2, 3, 1)


@program(normal(64, 1 << 20))
class sum_of_long_rows:
    def in_jax(x):
        return x.sum(1)

    def in_torch(x):
        return x.sum(1)


@program(normal(65536, 64))
class sum_of_few_columns:
    def in_jax(x):
        return x.sum(0)

    def in_torch(x):
        return x.sum(0)


@program(normal(16, 56, 56, 128))
class sum_nhw:
    def in_jax(x):
        return x.sum((0, 1, 2))

    def in_torch(x):
        return x.sum((0, 1, 2))


@program(normal(1024, 1024), tolerance=1e-2)
class cholesky:
    def in_jax(a):
        return jnp.linalg.cholesky(a @ a.T / 1024 + jnp.eye(1024))

    def in_torch(a):
        return torch.linalg.cholesky_ex(a @ a.T / 1024 + torch.eye(1024, device=a.device, dtype=a.dtype))[0]


# Loops of few numbers ------------------------------------------------------------------------------------------------


def lorenz(y, join):
    a, b, c = y[..., 0], y[..., 1], y[..., 2]
    return join([10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c], -1)


def runge_kutta(y, join, h=0.005):
    k1 = lorenz(y, join)
    k2 = lorenz(y + h / 2 * k1, join)
    k3 = lorenz(y + h / 2 * k2, join)
    k4 = lorenz(y + h * k3, join)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@program(normal(3))
class lorenz_one:
    def in_jax(y):
        return lax.fori_loop(0, 100, lambda i, y: runge_kutta(y, jnp.stack), y)

    def in_torch(y):
        for _ in range(100):
            y = runge_kutta(y, torch.stack)
        return y


@program(normal(512, 3))
class lorenz_many:
    def in_jax(y):
        return lax.scan(lambda y, _: (runge_kutta(y, jnp.stack),) * 2, y, None, length=100)[1]

    def in_torch(y):
        all_of = []
        for _ in range(100):
            y = runge_kutta(y, torch.stack)
            all_of.append(y)
        return torch.stack(all_of)


@program(normal(256, 64), normal(64, 64))
class rnn_small:
    def in_jax(x, w):
        def step(h, x):
            h = jnp.tanh(x + h @ w * 0.1)
            return h, h

        return lax.scan(step, jnp.zeros(64), x)[1]

    def in_torch(x, w):
        h, all_of = torch.zeros(64, device=x.device, dtype=x.dtype), []
        for row in x:
            h = torch.tanh(row + h @ w * 0.1)
            all_of.append(h)
        return torch.stack(all_of)


@program(normal(128, 128))
class power_iteration:
    def in_jax(a):
        a = a @ a.T
        v = lax.fori_loop(0, 100, lambda i, v: (lambda w: w / jnp.linalg.norm(w))(a @ v), jnp.ones(128))
        return v @ a @ v

    def in_torch(a):
        a = a @ a.T
        v = torch.ones(128, device=a.device, dtype=a.dtype)
        for _ in range(100):
            w = a @ v
            v = w / torch.linalg.norm(w)
        return v @ a @ v


@program(uniform(64, 64))
class sinkhorn:
    def in_jax(cost):
        def step(_, fg):
            f, g = fg
            f = -jax.nn.logsumexp(g[None, :] - cost * 10, 1)
            return f, -jax.nn.logsumexp(f[:, None] - cost * 10, 0)

        f, g = lax.fori_loop(0, 100, step, (jnp.zeros(64), jnp.zeros(64)))
        return jnp.exp(f[:, None] + g[None, :] - cost * 10)

    def in_torch(cost):
        f = g = torch.zeros(64, device=cost.device, dtype=cost.dtype)
        for _ in range(100):
            f = -torch.logsumexp(g[None, :] - cost * 10, 1)
            g = -torch.logsumexp(f[:, None] - cost * 10, 0)
        return torch.exp(f[:, None] + g[None, :] - cost * 10)


@program(normal(256, 32), normal(32, 32))
class markov_forward:
    def in_jax(seen, to):
        to = jax.nn.log_softmax(to, 1)

        def step(at, seen):
            at = jax.nn.logsumexp(at[:, None] + to, 0) + seen
            return at, None

        return jax.nn.logsumexp(lax.scan(step, seen[0], seen[1:])[0])

    def in_torch(seen, to):
        to = torch.log_softmax(to, 1)
        at = seen[0]
        for row in seen[1:]:
            at = torch.logsumexp(at[:, None] + to, 0) + row
        return torch.logsumexp(at, 0)


@program(normal(100, 4), normal(6, 6), normal(4, 6))
class kalman:
    def in_jax(seen, f, h):
        f, noise = f * 0.3, jnp.eye(4)

        def step(state, z):
            x, p = state
            x, p = f @ x, f @ p @ f.T + jnp.eye(6)
            gain = p @ h.T @ jnp.linalg.inv(h @ p @ h.T + noise)
            x = x + gain @ (z - h @ x)
            return (x, p - gain @ h @ p), x

        return lax.scan(step, (jnp.zeros(6), jnp.eye(6)), seen)[1]

    def in_torch(seen, f, h):
        of = {"device": seen.device, "dtype": seen.dtype}
        f, noise, x, p, all_of = f * 0.3, torch.eye(4, **of), torch.zeros(6, **of), torch.eye(6, **of), []
        for z in seen:
            x, p = f @ x, f @ p @ f.T + torch.eye(6, **of)
            gain = p @ h.T @ torch.linalg.inv_ex(h @ p @ h.T + noise)[0]
            x = x + gain @ (z - h @ x)
            p = p - gain @ h @ p
            all_of.append(x)
        return torch.stack(all_of)


@program(uniform(16384))
class logistic_map:
    def in_jax(x):
        return lax.fori_loop(0, 100, lambda i, x: 2.5 * x * (1 - x), x)

    def in_torch(x):
        for _ in range(100):
            x = 2.5 * x * (1 - x)
        return x


@program(normal(512, 512), normal(512))
class conjugate_gradients:
    def in_jax(a, b):
        a = a @ a.T / 512 + jnp.eye(512)
        return jax.scipy.sparse.linalg.cg(lambda x: a @ x, b, tol=0.0, maxiter=50)[0]

    def in_torch(a, b):
        a = a @ a.T / 512 + torch.eye(512, device=a.device, dtype=a.dtype)
        x, r = torch.zeros_like(b), b
        p, before = r, r @ r
        for _ in range(50):
            ap = a @ p
            alpha = before / (p @ ap)
            x, r = x + alpha * p, r - alpha * ap
            now = r @ r
            p, before = r + now / before * p, now
        return x


@program(normal(64, 32, 128), normal(128, 384), normal(128, 384))
class gru:
    def in_jax(x, wi, wh):
        def step(h, x):
            gi, gh = x @ wi * 0.1, h @ wh * 0.1
            r, z = jax.nn.sigmoid(gi[:, :128] + gh[:, :128]), jax.nn.sigmoid(gi[:, 128:256] + gh[:, 128:256])
            h = (1 - z) * jnp.tanh(gi[:, 256:] + r * gh[:, 256:]) + z * h
            return h, h

        return lax.scan(step, jnp.zeros((32, 128)), x)[1]

    def in_torch(x, wi, wh):
        h, all_of = torch.zeros(32, 128, device=x.device, dtype=x.dtype), []
        for row in x:
            gi, gh = row @ wi * 0.1, h @ wh * 0.1
            r, z = torch.sigmoid(gi[:, :128] + gh[:, :128]), torch.sigmoid(gi[:, 128:256] + gh[:, 128:256])
            h = (1 - z) * torch.tanh(gi[:, 256:] + r * gh[:, 256:]) + z * h
            all_of.append(h)
        return torch.stack(all_of)


# Training in halves --------------------------------------------------------------------------------------------------


@program(normal(32, 64, 56, 56, kind=HALF), normal(32, 128, 56, 56, kind=HALF))
class conv_weight_grad_half:
    def in_jax(x, g):
        w = jnp.zeros((128, 64, 3, 3), x.dtype)
        return jax.vjp(lambda w: lax.conv_general_dilated(x, w, (1, 1), "SAME"), w)[1](g)[0]

    def in_torch(x, g):
        return torch.nn.grad.conv2d_weight(x, (128, 64, 3, 3), g, padding=1)


@program(normal(32, 56, 56, 64, kind=HALF), normal(32, 56, 56, 128, kind=HALF))
class conv_weight_grad_nhwc_half:
    def in_jax(x, g):
        w = jnp.zeros((3, 3, 64, 128), x.dtype)
        return jax.vjp(lambda w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), w)[1](g)[0]

    def in_torch(x, g):
        x, g = x.permute(0, 3, 1, 2), g.permute(0, 3, 1, 2)
        return torch.nn.grad.conv2d_weight(x, (128, 64, 3, 3), g, padding=1).permute(2, 3, 1, 0)


@program(normal(32, 128, 56, 56, kind=HALF), normal(128, 64, 3, 3, kind=HALF))
class conv_input_grad_half:
    def in_jax(g, w):
        x = jnp.zeros((32, 64, 56, 56), g.dtype)
        return jax.vjp(lambda x: lax.conv_general_dilated(x, w, (1, 1), "SAME"), x)[1](g)[0]

    def in_torch(g, w):
        return torch.nn.grad.conv2d_input((32, 64, 56, 56), w, g, padding=1)


@program(normal(32, 28, 28, 128, kind=HALF), normal(3, 3, 64, 128, kind=HALF))
class conv_stride2_input_grad_nhwc_half:
    def in_jax(g, w):
        x = jnp.zeros((32, 56, 56, 64), g.dtype)
        return jax.vjp(lambda x: lax.conv_general_dilated(x, w, (2, 2), ((1, 1), (1, 1)), dimension_numbers=("NHWC", "HWIO", "NHWC")), x)[1](g)[0]

    def in_torch(g, w):
        return torch.nn.grad.conv2d_input((32, 64, 56, 56), w.permute(3, 2, 0, 1), g.permute(0, 3, 1, 2), stride=2, padding=1).permute(0, 2, 3, 1)


@program(normal(32, 56, 56, 64, kind=HALF), normal(32, 28, 28, 128, kind=HALF))
class conv_stride2_weight_grad_nhwc_half:
    def in_jax(x, g):
        w = jnp.zeros((3, 3, 64, 128), x.dtype)
        return jax.vjp(lambda w: lax.conv_general_dilated(x, w, (2, 2), ((1, 1), (1, 1)), dimension_numbers=("NHWC", "HWIO", "NHWC")), w)[1](g)[0]

    def in_torch(x, g):
        return torch.nn.grad.conv2d_weight(x.permute(0, 3, 1, 2), (128, 64, 3, 3), g.permute(0, 3, 1, 2), stride=2, padding=1).permute(2, 3, 1, 0)


@program(normal(64, 28, 28, 256, kind=HALF), normal(64, 28, 28, 512, kind=HALF))
class conv1x1_weight_grad_half:
    def in_jax(x, g):
        return jnp.einsum("nhwi,nhwo->io", x, g)

    def in_torch(x, g):
        return x.reshape(-1, 256).T @ g.reshape(-1, 512)


@program(normal(2, 32, 16, 56, 56, kind=HALF), normal(64, 32, 3, 3, 3, kind=HALF))
class conv3d_half:
    def in_jax(x, w):
        return lax.conv_general_dilated(x, w, (1, 1, 1), "SAME")

    def in_torch(x, w):
        return functional.conv3d(x, w, padding=1)


@program(normal(64, 56, 56, 64, kind=HALF), normal(64), normal(64))
class batchnorm_train_half:
    def in_jax(x, s, b):
        y = x.astype(jnp.float32)
        m, v = y.mean((0, 1, 2)), y.var((0, 1, 2))
        return ((y - m) * lax.rsqrt(v + 1e-5) * s + b).astype(x.dtype)

    def in_torch(x, s, b):
        return functional.batch_norm(x.permute(0, 3, 1, 2), None, None, s.to(x.dtype), b.to(x.dtype), True).permute(0, 2, 3, 1)


@program(normal(8192, 4096, kind=HALF), normal(4096, kind=HALF), normal(8192, 4096, kind=HALF))
class rmsnorm_grad_half:
    def in_jax(x, s, g):
        def f(x):
            y = x.astype(jnp.float32)
            return (y * lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * s

        return jax.vjp(f, x)[1](g)[0]

    def in_torch(x, s, g):
        y, h = x.float() if x.dtype == torch.float16 else x, (g * s).float() if x.dtype == torch.float16 else g * s
        r = torch.rsqrt((y * y).mean(-1, keepdim=True) + 1e-6)
        return (h * r - y * r**3 * (h * y).mean(-1, keepdim=True)).to(x.dtype)


@program(normal(2, 1024, 16, 64, kind=HALF), normal(2, 1024, 16, 64, kind=HALF), normal(2, 1024, 16, 64, kind=HALF), tolerance=6e-3)
class attention_grad_half:
    def in_jax(q, k, v):
        return sum(jax.grad(lambda q, k, v: (jax.nn.dot_product_attention(q, k, v, is_causal=True).astype(jnp.float32) ** 2).sum() * 1e-2, (0, 1, 2))(q, k, v))

    def in_torch(q, k, v):
        with torch.enable_grad():
            each = [z.detach().requires_grad_() for z in (q, k, v)]
            y = functional.scaled_dot_product_attention(*[z.transpose(1, 2) for z in each], is_causal=True)
            return sum(torch.autograd.grad((y.float() if y.dtype == torch.float16 else y).square().sum() * 1e-2, each))


@program(normal(16, 512, 1024, kind=HALF), normal(1024, 4096, kind=HALF), normal(4096, 1024, kind=HALF), normal(16, 512, 1024, kind=HALF))
class mlp_grad_half:
    def in_jax(x, a, b, g):
        return jax.vjp(lambda a: jax.nn.gelu(x @ a) @ b, a)[1](g)[0]

    def in_torch(x, a, b, g):
        with torch.enable_grad():
            w = a.detach().requires_grad_()
            return torch.autograd.grad(functional.gelu(x @ w, approximate="tanh") @ b, w, g)[0]


@program(normal(32, 56, 56, 64, kind=HALF), normal(3, 3, 64, kind=HALF), normal(32, 56, 56, 64, kind=HALF))
class depthwise_weight_grad_nhwc_half:
    def in_jax(x, w, g):
        def f(w):
            return lax.conv_general_dilated(x, w[:, :, None], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=64)

        return jax.vjp(f, w)[1](g)[0]

    def in_torch(x, w, g):
        return torch.nn.grad.conv2d_weight(x.permute(0, 3, 1, 2), (64, 1, 3, 3), g.permute(0, 3, 1, 2), padding=1, groups=64)[:, 0].permute(1, 2, 0)


@program(normal(4096, 32000, kind=HALF), integers(32000, 4096))
class cross_entropy_grad_half:
    def in_jax(x, l):
        def f(x):
            y = jax.nn.log_softmax(x.astype(jnp.float32))
            return -jnp.take_along_axis(y, l[:, None], 1).mean() * 4096

        return jax.grad(f)(x)

    def in_torch(x, l):
        p = torch.softmax(x.float() if x.dtype == torch.float16 else x, -1)
        p.scatter_add_(1, l.long()[:, None], torch.full((len(l), 1), -1.0, device=x.device, dtype=p.dtype))
        return p.to(x.dtype)


# More kinds: gradients, windows, interpolation, cumulative and ordered, by index, masks, layouts, sums over any dimensions ----


@program(normal(8192, 2048, kind=HALF), normal(8192, 2048, kind=HALF))
class softmax_grad_half:
    def in_jax(x, g):
        return jax.vjp(lambda x: jax.nn.softmax(x.astype(jnp.float32), -1).astype(x.dtype), x)[1](g)[0]

    def in_torch(x, g):
        p = torch.softmax(x, -1)
        return torch._softmax_backward_data(g, p, -1, x.dtype)


@program(normal(16, 256, 32, 32), normal(256), normal(16, 256, 32, 32))
class groupnorm_grad:
    def in_jax(x, s, g):
        def f(x):
            y = x.reshape(16, 32, -1)
            y = (y - y.mean(-1, keepdims=True)) * lax.rsqrt(y.var(-1, keepdims=True) + 1e-5)
            return y.reshape(x.shape) * s[:, None, None]

        return jax.vjp(f, x)[1](g)[0]

    def in_torch(x, s, g):
        y, m, r = torch.ops.aten.native_group_norm(x, s, None, 16, 256, 1024, 32, 1e-5)
        return torch.ops.aten.native_group_norm_backward(g, x, m, r, s, 16, 256, 1024, 32, [True, False, False])[0]


@program(normal(16, 256, 28, 28), normal(256), normal(16, 256, 28, 28))
class batchnorm_grad:
    def in_jax(x, s, g):
        def f(x, s):
            y = (x - x.mean((0, 2, 3), keepdims=True)) * lax.rsqrt(x.var((0, 2, 3), keepdims=True) + 1e-5)
            return y * s[:, None, None]

        dx, ds = jax.vjp(f, x, s)[1](g)
        return dx + ds[:, None, None] * 1e-3

    def in_torch(x, s, g):
        with torch.enable_grad():
            x, s = x.detach().requires_grad_(), s.detach().requires_grad_()
            dx, ds = torch.autograd.grad(functional.batch_norm(x, None, None, s, None, True), (x, s), g)
            return dx + ds[:, None, None] * 1e-3


@program(normal(32, 56, 56, 128))
class instancenorm_nhwc:
    def in_jax(x):
        return (x - x.mean((1, 2), keepdims=True)) * lax.rsqrt(x.var((1, 2), keepdims=True) + 1e-5)

    def in_torch(x):
        return functional.instance_norm(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


@program(normal(16, 64, 112, 112))
class avg_pool:
    def in_jax(x):
        return lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 3), (1, 1, 2, 2), [(0, 0), (0, 0), (1, 1), (1, 1)]) / 9

    def in_torch(x):
        return functional.avg_pool2d(x, 3, 2, 1)


@program(normal(16, 64, 56, 56))
class avg_pool_grad:
    def in_jax(g):
        def f(x):
            return lax.reduce_window(x, 0.0, lax.add, (1, 1, 3, 3), (1, 1, 2, 2), [(0, 0), (0, 0), (1, 1), (1, 1)]) / 9

        return jax.vjp(f, jnp.zeros((16, 64, 112, 112)))[1](g)[0]

    def in_torch(g):
        x = torch.empty(16, 64, 112, 112, device=g.device, dtype=g.dtype)
        return torch.ops.aten.avg_pool2d_backward(g, x, [3, 3], [2, 2], [1, 1], False, True, None)


@program(normal(16, 64, 112, 112), normal(16, 64, 56, 56))
class max_pool_overlapping_grad:
    def in_jax(x, g):
        def f(x):
            return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), [(0, 0), (0, 0), (1, 1), (1, 1)])

        return jax.vjp(f, x)[1](g)[0]

    def in_torch(x, g):
        i = functional.max_pool2d(x, 3, 2, 1, return_indices=True)[1]
        return torch.ops.aten.max_pool2d_with_indices_backward(g, x, [3, 3], [2, 2], [1, 1], [1, 1], False, i)


@program(normal(64, 7, 7, 2048, kind=HALF))
class global_avg_pool_nhwc_half:
    def in_jax(x):
        return x.astype(jnp.float32).mean((1, 2)).astype(x.dtype)

    def in_torch(x):
        return x.mean((1, 2))


@program(normal(8, 1 << 16))
class moving_average:
    def in_jax(x):
        return lax.reduce_window(x, 0.0, lax.add, (1, 64), (1, 1), "VALID") / 64

    def in_torch(x):
        return functional.avg_pool1d(x, 64, 1)


@program(normal(8, 64, 32, 32))
class resize_bicubic:
    def in_jax(x):
        return jax.image.resize(x, (8, 64, 64, 64), "bicubic", antialias=False)

    def in_torch(x):
        # JAX's cubic is Keys' with a = -0.5, and its borders are renormalized: the matrix of one axis says both.
        at = (torch.arange(64, device=x.device, dtype=x.dtype) + 0.5) / 2 - 0.5
        d = (at[None] - torch.arange(32, device=x.device, dtype=x.dtype)[:, None]).abs()
        w = torch.where(d <= 1, (1.5 * d - 2.5) * d * d + 1, torch.where(d < 2, ((-0.5 * d + 2.5) * d - 4) * d + 2, torch.zeros_like(d)))
        w = w / w.sum(0)
        return w.T @ (x @ w)


@program(normal(16, 3, 256, 256))
class resize_bilinear_grad:
    def in_jax(g):
        return jax.vjp(lambda x: jax.image.resize(x, (16, 3, 256, 256), "bilinear", antialias=False), jnp.zeros((16, 3, 128, 128)))[1](g)[0]

    def in_torch(g):
        return torch.ops.aten.upsample_bilinear2d_backward(g, [256, 256], [16, 3, 128, 128], False, None, None)


@program(normal(2, 16, 32, 32, 32))
class upsample_trilinear:
    def in_jax(x):
        return jax.image.resize(x, (2, 16, 64, 64, 64), "trilinear", antialias=False)

    def in_torch(x):
        return functional.interpolate(x, scale_factor=2, mode="trilinear")


@program(normal(16, 128, 128, 64), uniform(16, 128, 128, 2))
class grid_sample:
    def in_jax(x, at):
        y, z = at[..., 0] * 126.5, at[..., 1] * 126.5
        i, j = jnp.floor(y).astype(jnp.int32), jnp.floor(z).astype(jnp.int32)
        a, b = (y - i)[..., None], (z - j)[..., None]
        n = jnp.arange(16)[:, None, None]
        return (x[n, i, j] * (1 - b) + x[n, i, j + 1] * b) * (1 - a) + (x[n, i + 1, j] * (1 - b) + x[n, i + 1, j + 1] * b) * a

    def in_torch(x, at):
        grid = torch.stack([at[..., 1], at[..., 0]], -1) * 126.5 / 127 * 2 - 1
        return functional.grid_sample(x.permute(0, 3, 1, 2), grid, align_corners=True).permute(0, 2, 3, 1)


@program(normal(4096, 4096))
class cumsum_columns:
    def in_jax(x):
        return jnp.cumsum(x, 0)

    def in_torch(x):
        return torch.cumsum(x, 0)


@program(normal(64, 2048, 64))
class cumsum_middle:
    def in_jax(x):
        return jnp.cumsum(x, 1)

    def in_torch(x):
        return torch.cumsum(x, 1)


@program(normal(4096, 2048))
class cumlogsumexp_rows:
    def in_jax(x):
        return lax.cumlogsumexp(x, 1)

    def in_torch(x):
        return torch.logcumsumexp(x, 1)


@program(uniform(4096, 4096))
class cumsum_exclusive_reverse:
    def in_jax(x):
        return lax.cumsum(x, 1, reverse=True) - x

    def in_torch(x):
        return x.sum(1, keepdim=True) - torch.cumsum(x, 1)


@program(normal(4096, 1024))
class argsort_rows:
    def in_jax(x):
        return jnp.argsort(x, 1).astype(jnp.int32)

    def in_torch(x):
        return torch.sort(x, dim=1, stable=True)[1].int()


@program(normal(1024, 4096))
class sort_columns:
    def in_jax(x):
        return jnp.sort(x, 0)

    def in_torch(x):
        return torch.sort(x, 0)[0]


@program(normal(4096, 256))
class top_k_indices:
    def in_jax(x):
        return lax.top_k(x, 8)[1]

    def in_torch(x):
        return torch.topk(x, 8)[1].int()


@program(normal(1024, 1000))
class median_rows:
    def in_jax(x):
        return jnp.sort(x, 1)[:, 499]

    def in_torch(x):
        return x.median(1)[0]


@program(integers(1000, 65536))
class one_hot:
    def in_jax(l):
        return jax.nn.one_hot(l, 1000, dtype=jnp.float32)

    def in_torch(l):
        return functional.one_hot(l.long(), 1000).float()


@program(normal(32, 65536), integers(65536, 4096))
class gather_columns:
    def in_jax(x, i):
        return x[:, i]

    def in_torch(x, i):
        return x[:, i.long()]


@program(normal(4096, 4096), integers(4096, 4096, 256))
class take_along_rows:
    def in_jax(x, i):
        return jnp.take_along_axis(x, i, 1)

    def in_torch(x, i):
        return torch.gather(x, 1, i.long())


@program(normal(4096, 256), integers(4096, 4096, 256))
class take_along_rows_grad:
    def in_jax(g, i):
        return jax.vjp(lambda x: jnp.take_along_axis(x, i, 1), jnp.zeros((4096, 4096)))[1](g)[0]

    def in_torch(g, i):
        return torch.zeros(4096, 4096, device=g.device, dtype=g.dtype).scatter_add(1, i.long(), g)


@program(normal(1 << 20, 8), integers(4096, 1 << 20))
class segment_max:
    def in_jax(x, s):
        return jax.ops.segment_max(x, s, 4096)

    def in_torch(x, s):
        start = torch.full((4096, 8), -math.inf, device=x.device, dtype=x.dtype)
        return start.scatter_reduce(0, s.long()[:, None].expand(-1, 8), x, "amax")


@program(normal(1 << 20), integers(1 << 20, 1 << 20))
class scatter_numbers:
    def in_jax(x, s):
        return jnp.zeros(1 << 20).at[s].add(x)

    def in_torch(x, s):
        return torch.zeros(1 << 20, device=x.device, dtype=x.dtype).index_add(0, s, x)


@program(normal(16384, 128), integers(16384, 131072), integers(16384, 131072))
class graph_messages:
    def in_jax(x, a, b):
        return jax.ops.segment_sum(jax.nn.relu(x[a] - x[b]), b, 16384)

    def in_torch(x, a, b):
        return torch.zeros_like(x).index_add(0, b, torch.relu(x[a.long()] - x[b.long()]))


@program(normal(50000, 128), integers(50000, 4096, 32))
class embedding_bag:
    def in_jax(w, l):
        return w[l].sum(1)

    def in_torch(w, l):
        return functional.embedding_bag(l, w, mode="sum")


@program(normal(1 << 20), normal(4096))
class searchsorted:
    def in_jax(x, edges):
        return jnp.searchsorted(jnp.sort(edges), x).astype(jnp.int32)

    def in_torch(x, edges):
        return torch.searchsorted(edges.sort()[0], x, out_int32=True)


@program(normal(4096, 4096))
class roll:
    def in_jax(x):
        return jnp.roll(x, (7, -11), (0, 1))

    def in_torch(x):
        return torch.roll(x, (7, -11), (0, 1))


@program(normal(16, 64, 112, 112))
class pad_reflect:
    def in_jax(x):
        return jnp.pad(x, [(0, 0), (0, 0), (3, 3), (3, 3)], mode="reflect")

    def in_torch(x):
        return functional.pad(x, (3, 3, 3, 3), mode="reflect")


@program(normal(16, 64, 111, 111))
class pad_zero:
    def in_jax(x):
        return jnp.pad(x, [(0, 0), (0, 0), (1, 2), (1, 2)])

    def in_torch(x):
        return functional.pad(x, (1, 2, 1, 2))


@program(normal(16, 64, 128, 128))
class flip_two:
    def in_jax(x):
        return jnp.flip(x, (1, 3))

    def in_torch(x):
        return x.flip(1, 3)


@program(normal(8, 256, 64, 64))
class pixel_shuffle:
    def in_jax(x):
        return x.reshape(8, 64, 2, 2, 64, 64).transpose(0, 1, 4, 2, 5, 3).reshape(8, 64, 128, 128)

    def in_torch(x):
        return functional.pixel_shuffle(x, 2)


@program(normal(32, 3, 224, 224))
class patches:
    def in_jax(x):
        return x.reshape(32, 3, 14, 16, 14, 16).transpose(0, 2, 4, 3, 5, 1).reshape(32, 196, 768)

    def in_torch(x):
        return x.reshape(32, 3, 14, 16, 14, 16).permute(0, 2, 4, 3, 5, 1).reshape(32, 196, 768)


@program(normal(64, 128, 28, 28, kind=HALF))
class nchw_to_nhwc_half:
    def in_jax(x):
        return x.transpose(0, 2, 3, 1)

    def in_torch(x):
        return x.permute(0, 2, 3, 1).contiguous()


@program(normal(32, 31, 33, 37, 7))
class transpose_five_odd:
    def in_jax(x):
        return x.transpose(4, 2, 0, 3, 1)

    def in_torch(x):
        return x.permute(4, 2, 0, 3, 1).contiguous()


@program(normal(1 << 21, 3))
class transpose_of_three:
    def in_jax(x):
        return x.T

    def in_torch(x):
        return x.T.contiguous()


@program(normal(61, 37, 113, 31))
class sum_odd_dimensions:
    def in_jax(x):
        return x.sum((0, 2))

    def in_torch(x):
        return x.sum((0, 2))


@program(normal(32, 1000, 257))
class mean_middle:
    def in_jax(x):
        return x.mean(1)

    def in_torch(x):
        return x.mean(1)


@program(normal(17, 4096, 64))
class sum_first_and_last:
    def in_jax(x):
        return x.sum((0, 2))

    def in_torch(x):
        return x.sum((0, 2))


@program(normal(8191, 509))
class max_prime_rows:
    def in_jax(x):
        return x.max(1)

    def in_torch(x):
        return x.amax(1)


@program(normal(1 << 20, 7))
class norm_short_rows:
    def in_jax(x):
        return jnp.sqrt((x * x).sum(1))

    def in_torch(x):
        return torch.linalg.vector_norm(x, dim=1)


@program(normal(1 << 19, 7))
class normalize_short_rows:
    def in_jax(x):
        return x / jnp.sqrt((x * x).sum(1, keepdims=True) + 1e-6)

    def in_torch(x):
        return x / torch.sqrt((x * x).sum(1, keepdim=True) + 1e-6)


@program(normal(4096, 2048))
class logsumexp_columns:
    def in_jax(x):
        return jax.nn.logsumexp(x, 0)

    def in_torch(x):
        return torch.logsumexp(x, 0)


@program(normal(4096, 2048))
class softmax_columns:
    def in_jax(x):
        return jax.nn.softmax(x, 0)

    def in_torch(x):
        return torch.softmax(x, 0)


@program(normal(2, 100000))
class softmax_two_long_rows:
    def in_jax(x):
        return jax.nn.softmax(x, 1)

    def in_torch(x):
        return torch.softmax(x, 1)


@program(normal(1 << 22))
class softmax_of_all:
    def in_jax(x):
        return jax.nn.softmax(x)

    def in_torch(x):
        return torch.softmax(x, 0)


@program(normal(4, 1 << 20))
class layernorm_four_long_rows:
    def in_jax(x):
        return (x - x.mean(1, keepdims=True)) * lax.rsqrt(x.var(1, keepdims=True) + 1e-5)

    def in_torch(x):
        return functional.layer_norm(x, (1 << 20,))


@program(normal(4096, 4096))
class argmin_columns:
    def in_jax(x):
        return jnp.argmin(x, 0).astype(jnp.int32)

    def in_torch(x):
        return x.argmin(0).int()


@program(normal(4096, 4096))
class any_of_rows:
    def in_jax(x):
        return (x > 4).any(1).astype(jnp.int32) + (x > 0).sum(1)

    def in_torch(x):
        return (x > 4).any(1).int() + (x > 0).sum(1).int()


@program(normal(64, 512, 512), integers(512, 64))
class masked_mean:
    def in_jax(x, n):
        m = jnp.arange(512)[None] < n[:, None]
        return (x * m[:, :, None]).sum(1) / jnp.maximum(m.sum(1), 1)[:, None]

    def in_torch(x, n):
        m = torch.arange(512, device=x.device)[None] < n[:, None]
        return (x * m[:, :, None]).sum(1) / m.sum(1).clamp(min=1)[:, None]


@program(normal(16, 8, 512, 512), integers(512, 16))
class masked_softmax:
    def in_jax(x, n):
        m = jnp.arange(512)[None] <= n[:, None]
        return jax.nn.softmax(jnp.where(m[:, None, None], x, -1e30), -1)

    def in_torch(x, n):
        m = torch.arange(512, device=x.device)[None] <= n[:, None]
        return torch.softmax(x.masked_fill(~m[:, None, None], -1e30), -1)


@program(normal(4, 1024, 8, 64, kind=HALF), normal(4, 1024, 8, 64, kind=HALF), normal(4, 1024, 8, 64, kind=HALF), integers(1024, 4))
class attention_lengths_half:
    def in_jax(q, k, v, n):
        m = (jnp.arange(1024)[None] <= n[:, None])[:, None, None]
        return jax.nn.dot_product_attention(q, k, v, mask=m)

    def in_torch(q, k, v, n):
        m = (torch.arange(1024, device=q.device)[None] <= n[:, None])[:, None, None]
        return functional.scaled_dot_product_attention(*[z.transpose(1, 2) for z in (q, k, v)], attn_mask=m).transpose(1, 2)


@program(normal(4, 512, 8, 64, kind=HALF), normal(4, 512, 8, 64, kind=HALF), normal(4, 512, 8, 64, kind=HALF), normal(8, 512, 512, kind=HALF))
class attention_bias_half:
    def in_jax(q, k, v, b):
        return jax.nn.dot_product_attention(q, k, v, bias=b[None])

    def in_torch(q, k, v, b):
        return functional.scaled_dot_product_attention(*[z.transpose(1, 2) for z in (q, k, v)], attn_mask=b[None]).transpose(1, 2)


@program(normal(2, 8, 1024, 64), normal(2, 8, 1024, 64), normal(2, 8, 1024, 64))
class linear_attention:
    def in_jax(q, k, v):
        q, k = jax.nn.elu(q) + 1, jax.nn.elu(k) + 1
        state = jnp.einsum("bhnd,bhne->bhde", k, v)
        return jnp.einsum("bhnd,bhde->bhne", q, state) / jnp.einsum("bhnd,bhd->bhn", q, k.sum(2))[..., None]

    def in_torch(q, k, v):
        q, k = functional.elu(q) + 1, functional.elu(k) + 1
        state = k.transpose(2, 3) @ v
        return q @ state / (q @ k.sum(2)[..., None])


@program(normal(64, 16, 128), normal(128, 384), normal(128, 384))
class gru_grad:
    def in_jax(x, wi, wh):
        def f(wh):
            def step(h, x):
                gi, gh = x @ wi * 0.1, h @ wh * 0.1
                r, z = jax.nn.sigmoid(gi[:, :128] + gh[:, :128]), jax.nn.sigmoid(gi[:, 128:256] + gh[:, 128:256])
                h = (1 - z) * jnp.tanh(gi[:, 256:] + r * gh[:, 256:]) + z * h
                return h, h

            return (lax.scan(step, jnp.zeros((16, 128)), x)[1] ** 2).mean()

        return jax.grad(f)(wh)

    def in_torch(x, wi, wh):
        with torch.enable_grad():
            w = wh.detach().requires_grad_()
            h, all_of = torch.zeros(16, 128, device=x.device, dtype=x.dtype), []
            for row in x:
                gi, gh = row @ wi * 0.1, h @ w * 0.1
                r, z = torch.sigmoid(gi[:, :128] + gh[:, :128]), torch.sigmoid(gi[:, 128:256] + gh[:, 128:256])
                h = (1 - z) * torch.tanh(gi[:, 256:] + r * gh[:, 256:]) + z * h
                all_of.append(h)
            return torch.autograd.grad((torch.stack(all_of) ** 2).mean(), w)[0]


@program(uniform(512, 4, 256, 16), normal(512, 4, 256, 16))
class state_space_scan:
    def in_jax(a, b):
        def step(h, ab):
            h = ab[0] * h + ab[1]
            return h, h.sum(-1)

        return lax.scan(step, jnp.zeros((4, 256, 16)), (a, b))[1]

    def in_torch(a, b):
        h, all_of = torch.zeros(4, 256, 16, device=a.device, dtype=a.dtype), []
        for k in range(512):
            h = a[k] * h + b[k]
            all_of.append(h.sum(-1))
        return torch.stack(all_of)


@program(normal(8, 2048, 1024, kind=HALF), normal(4, 1024, kind=HALF))
class causal_depthwise_1d_half:
    def in_jax(x, w):
        p = jnp.pad(x, [(0, 0), (3, 0), (0, 0)])
        return jax.nn.silu(sum(p[:, k : k + 2048] * w[k] for k in range(4)))

    def in_torch(x, w):
        y = functional.conv1d(functional.pad(x.transpose(1, 2), (3, 0)), w.T[:, None].contiguous(), groups=1024)
        return functional.silu(y).transpose(1, 2)


@program(normal(16, 128, 28, 28), normal(128, 16, 3, 3))
class conv_groups:
    def in_jax(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", feature_group_count=8)

    def in_torch(x, w):
        return functional.conv2d(x, w, padding=1, groups=8)


@program(normal(16, 64, 56, 56), normal(64, 64, 3, 3))
class conv_dilated:
    def in_jax(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), [(2, 2), (2, 2)], rhs_dilation=(2, 2))

    def in_torch(x, w):
        return functional.conv2d(x, w, padding=2, dilation=2)


@program(normal(16, 32, 64, 64))
class im2col:
    def in_jax(x):
        return lax.conv_general_dilated_patches(x, (3, 3), (1, 1), "SAME").reshape(16, 288, 4096)

    def in_torch(x):
        return functional.unfold(x, 3, padding=1)


@program(normal(16, 997, 400))
class overlap_add:
    def in_jax(f):
        return sum(jnp.pad(f[:, :, 100 * k : 100 * (k + 1)].reshape(16, -1), [(0, 0), (100 * k, 100 * (3 - k))]) for k in range(4))

    def in_torch(f):
        return functional.fold(f.transpose(1, 2), (1, 100000), (1, 400), stride=(1, 100))[:, 0, 0]


@program(integers(2, 2048, 2048))
class game_of_life:
    def in_jax(x):
        def step(_, x):
            n = sum(jnp.roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - x
            return ((n == 3) | ((x == 1) & (n == 2))).astype(jnp.int32)

        return lax.fori_loop(0, 10, step, x)

    def in_torch(x):
        for _ in range(10):
            n = sum(torch.roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - x
            x = ((n == 3) | ((x == 1) & (n == 2))).int()
        return x


@program(normal(128, 128, 128))
class heat_3d:
    def in_jax(x):
        def step(_, x):
            p = jnp.pad(x, 1, mode="edge")
            return x + 0.1 * (p[2:, 1:-1, 1:-1] + p[:-2, 1:-1, 1:-1] + p[1:-1, 2:, 1:-1] + p[1:-1, :-2, 1:-1] + p[1:-1, 1:-1, 2:] + p[1:-1, 1:-1, :-2] - 6 * x)

        return lax.fori_loop(0, 10, step, x)

    def in_torch(x):
        for _ in range(10):
            p = functional.pad(x[None, None], (1,) * 6, mode="replicate")[0, 0]
            x = x + 0.1 * (p[2:, 1:-1, 1:-1] + p[:-2, 1:-1, 1:-1] + p[1:-1, 2:, 1:-1] + p[1:-1, :-2, 1:-1] + p[1:-1, 1:-1, 2:] + p[1:-1, 1:-1, :-2] - 6 * x)
        return x


@program(normal(1024, 1024))
class mandelbrot:
    def in_jax(x):
        c = jnp.linspace(-2, 1, 1024)[None] + 0 * x, jnp.linspace(-1.5, 1.5, 1024)[:, None] + 0 * x

        def step(_, s):
            a, b, n = s
            a, b = a * a - b * b + c[0], 2 * a * b + c[1]
            a, b = jnp.clip(a, -3, 3), jnp.clip(b, -3, 3)
            return a, b, n + (a * a + b * b < 4)

        return lax.fori_loop(0, 50, step, (0 * x, 0 * x, jnp.zeros(x.shape, jnp.int32)))[2].sum(1) // 1000

    def in_torch(x):
        of = {"device": x.device, "dtype": x.dtype}
        c = torch.linspace(-2, 1, 1024, **of)[None] + 0 * x, torch.linspace(-1.5, 1.5, 1024, **of)[:, None] + 0 * x
        a, b, n = 0 * x, 0 * x, torch.zeros(x.shape, dtype=torch.int32, device=x.device)
        for _ in range(50):
            a, b = a * a - b * b + c[0], 2 * a * b + c[1]
            a, b = a.clamp(-3, 3), b.clamp(-3, 3)
            n = n + (a * a + b * b < 4)
        return (n.sum(1) // 1000).int()


@program(normal(65536, 4, 4), normal(65536, 4, 4))
class tiny_products:
    def in_jax(a, b):
        return a @ b

    def in_torch(a, b):
        return a @ b


@program(normal(4096, 16, 16), normal(4096, 16, 16))
class small_products:
    def in_jax(a, b):
        return a @ b

    def in_torch(a, b):
        return a @ b


@program(normal(1 << 20, 4), normal(1 << 20, 4))
class quaternions:
    def in_jax(p, q):
        (a, b, c, d), (e, f, g, h) = [[z[:, k] for k in range(4)] for z in (p, q)]
        return jnp.stack([a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g, a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e], 1)

    def in_torch(p, q):
        (a, b, c, d), (e, f, g, h) = [[z[:, k] for k in range(4)] for z in (p, q)]
        return torch.stack([a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g, a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e], 1)


@program(normal(1024, 512, 64), normal(1024, 64))
class many_matvecs:
    def in_jax(a, x):
        return jnp.einsum("bij,bj->bi", a, x)

    def in_torch(a, x):
        return (a @ x[..., None])[..., 0]


@program(normal(1024, 512, 64), normal(1024, 512))
class many_vecmats:
    def in_jax(a, x):
        return jnp.einsum("bij,bi->bj", a, x)

    def in_torch(a, x):
        return (x[:, None] @ a)[:, 0]


@program(normal(1 << 20, 16))
class gram_tall:
    def in_jax(x):
        return x.T @ x

    def in_torch(x):
        return x.T @ x


@program(normal(999, 777, kind=HALF), normal(777, 1333, kind=HALF))
class product_odd_half:
    def in_jax(a, b):
        return a @ b

    def in_torch(a, b):
        return a @ b


@program(normal(999, 777), normal(1333, 777))
class product_odd_turned:
    def in_jax(a, b):
        return a @ b.T

    def in_torch(a, b):
        return a @ b.T


@program(integers(127, 2048, 2048), integers(127, 2048, 2048))
class product_bytes:
    def in_jax(a, b):
        return lax.dot(a.astype(jnp.int8), b.astype(jnp.int8), preferred_element_type=jnp.int32)

    def in_torch(a, b):
        return torch._int_mm(a.to(torch.int8), b.to(torch.int8))


@program(normal(4096, 4096, kind=HALF), tolerance=1e-2)  # What is rounded to whole numbers may fall to either side.
class quantize_rows_half:
    def in_jax(x):
        y = x.astype(jnp.float32)
        s = jnp.abs(y).max(1, keepdims=True) / 127
        return jnp.round(y / s).astype(jnp.int8)

    def in_torch(x):
        y = x.float() if x.dtype == torch.float16 else x
        s = y.abs().amax(1, keepdim=True) / 127
        return torch.round(y / s).to(torch.int8)


@program(normal(2048, 2048), normal(2048, 2048), tolerance=2e-2)
class mlp_bfloat:
    def in_jax(x, w):
        x, w = x.astype(jnp.bfloat16), (w * 0.03).astype(jnp.bfloat16)
        return (jax.nn.gelu(x @ w) @ w).astype(jnp.float32)

    def in_torch(x, w):
        if x.dtype == torch.float32:
            x, w = x.bfloat16(), (w * 0.03).bfloat16()
        else:
            w = w * 0.03
        return (functional.gelu(x @ w, approximate="tanh") @ w).float()


@program(normal(512, 64), normal(64, 64, 128), normal(512, 64))
class bilinear_form:
    def in_jax(a, w, b):
        return jnp.einsum("bi,ijk,bj->bk", a, w, b)

    def in_torch(a, w, b):
        return functional.bilinear(a, b, w.permute(2, 0, 1).contiguous())


@program(normal(64, 128, 96), normal(96, 64, 64))
class einsum_batch_last:
    def in_jax(a, b):
        return jnp.einsum("nik,kjn->nij", a, b)

    def in_torch(a, b):
        return torch.einsum("nik,kjn->nij", a, b)


@program(normal(2048, 128), normal(2048, 128))
class distances_l1:
    def in_jax(a, b):
        return jnp.abs(a[:, None] - b[None]).sum(-1)

    def in_torch(a, b):
        return torch.cdist(a, b, 1)


@program(normal(4096, 128), normal(4096, 128))
class contrastive:
    def in_jax(a, b):
        a, b = [z * lax.rsqrt((z * z).sum(1, keepdims=True)) for z in (a, b)]
        s = a @ b.T * 10
        return -(jnp.diagonal(jax.nn.log_softmax(s, 1)) + jnp.diagonal(jax.nn.log_softmax(s, 0))).mean()

    def in_torch(a, b):
        a, b = functional.normalize(a), functional.normalize(b)
        s = a @ b.T * 10
        return -(torch.log_softmax(s, 1).diagonal() + torch.log_softmax(s, 0).diagonal()).mean()


@program(normal(1 << 22), uniform(1 << 22))
class binary_cross_entropy:
    def in_jax(x, y):
        return (jnp.maximum(x, 0) - x * y + jnp.log1p(jnp.exp(-jnp.abs(x)))).mean()

    def in_torch(x, y):
        return functional.binary_cross_entropy_with_logits(x, y)


@program(normal(1024, 4096), normal(4096, 1024), normal(4096), normal(1024))
class clip_by_global_norm:
    def in_jax(a, b, c, d):
        n = jnp.sqrt(sum((z * z).sum() for z in (a, b, c, d)))
        s = jnp.minimum(1.0, 10 / n)
        return a * s + (b * s).T + c * s + (d * s)[:, None]

    def in_torch(a, b, c, d):
        n = torch.sqrt(sum((z * z).sum() for z in (a, b, c, d)))
        s = (10 / n).clamp(max=1.0)
        return a * s + (b * s).T + c * s + (d * s)[:, None]


@program(normal(4096), normal(4096))
class outer_function:
    def in_jax(x, y):
        return jnp.sin(x)[:, None] * jnp.exp(-jnp.abs(y))[None] + jnp.tanh(x)[:, None]

    def in_torch(x, y):
        return torch.sin(x)[:, None] * torch.exp(-y.abs())[None] + torch.tanh(x)[:, None]


@program(normal(4096, 1024), normal(4096, 1024), normal(4096, 1024))
class interleave:
    def in_jax(a, b, c):
        return jnp.stack([a, b, c], -1).reshape(4096, 3072)

    def in_torch(a, b, c):
        return torch.stack([a, b, c], -1).reshape(4096, 3072)


@program(normal(8, 512, 512), normal(8, 512, 512))
class triangle_parts:
    def in_jax(a, b):
        return jnp.tril(a) + jnp.triu(b, 1)

    def in_torch(a, b):
        return torch.tril(a) + torch.triu(b, 1)


@program(normal(1 << 16, 64), normal(64), normal(1 << 16, 64))
class layernorm_grad_of_short_rows:
    def in_jax(x, s, g):
        def f(x, s):
            return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * s

        dx, ds = jax.vjp(f, x, s)[1](g)
        return dx + ds * 1e-3

    def in_torch(x, s, g):
        y, m, r = torch.ops.aten.native_layer_norm(x, (64,), s, None, 1e-5)
        dx, ds, _ = torch.ops.aten.native_layer_norm_backward(g, x, (64,), m, r, s, None, [True, True, False])
        return dx + ds * 1e-3


@program(normal(1024, 8, 512), normal(512, 512))
class product_of_one_wide_operand:
    def in_jax(x, w):
        return jax.nn.relu(jnp.einsum("tbd,df->btf", x, w))

    def in_torch(x, w):
        return torch.relu(x @ w).transpose(0, 1).contiguous()
