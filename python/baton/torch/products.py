"""Rows of the table: matrix products, convolutions, attention."""
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .graph import row
from .reductions import layer_norm, vector_norm


@row("mm.default", "bmm.default", "matmul.default")
def matmul(x, y):
    return jnp.matmul(x, y)


@row("mv.default", "dot.default")
def dot(x, y):
    return jnp.dot(x, y)


@row("linear.default")
def linear(x, weight, bias=None):
    made = jnp.matmul(x, weight.T)
    return made if bias is None else made + bias


@row("einsum.default")
def einsum(equation, operands, path=None):
    return jnp.einsum(equation, *operands)


def _scaled(x, factor):
    """Integers are multiplied by integers: PyTorch cuts off what stands behind the point."""
    return x if factor == 1 else x * jnp.asarray(factor).astype(x.dtype)


@row("addmm.default", "baddbmm.default", "addmv.default")
def addmm(bias, x, y, beta=1, alpha=1):
    made = _scaled(jnp.matmul(x, y), alpha)
    return made if beta == 0 else made + _scaled(bias, beta)


@row("addbmm.default")
def addbmm(bias, x, y, beta=1, alpha=1):
    return addmm(bias, jnp.swapaxes(x, 0, 1).reshape(x.shape[1], x.shape[0] * x.shape[2]), y.reshape(y.shape[0] * y.shape[1], y.shape[2]), beta, alpha)


@row("_trilinear.default")
def trilinear(a, b, c, expand_a, expand_b, expand_c, summed, unroll_dim=1):
    """The sum over some dimensions of three factors, each with ones at places of its own."""
    factors = [jnp.expand_dims(each, tuple(places)) for each, places in zip((a, b, c), (expand_a, expand_b, expand_c))]
    shape = jnp.broadcast_shapes(*(each.shape for each in factors))
    letters = "abcdefghij"[:len(shape)]
    kept = "".join(letter for i, letter in enumerate(letters) if i not in summed)
    told = ["".join(letter for letter, size, whole in zip(letters, each.shape, shape) if size == whole) for each in factors]
    factors = [each.reshape([size for size, whole in zip(each.shape, shape) if size == whole]) for each in factors]
    return jnp.einsum(f"{','.join(told)}->{kept}", *factors)


@row("_cdist_forward.default")
def cdist(x, y, order, compute_mode=None):
    difference = jnp.abs(x[..., :, None, :] - y[..., None, :, :])
    return jnp.sum(jnp.minimum(jnp.ceil(difference), 1), -1) if order == 0 else vector_norm(difference, order, -1)


# Convolutions --------------------------------------------------------------------------------------------------------


@row("convolution.default")
def convolution(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    rank = len(x.shape) - 2
    stride, padding, dilation, output_padding = (_each(values, rank) for values in (stride, padding, dilation, output_padding))
    if groups > 1 and not isinstance(x.shape[0], int):
        return _convolution_of_any_batch(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    letters = "DHW"[3 - rank:]
    numbers = ("NC" + letters, "OI" + letters, "NC" + letters)
    if transposed:
        weight = jnp.flip(_swapped(weight, groups), range(2, rank + 2))
        reach = [d * (k - 1) for k, d in zip(weight.shape[2:], dilation)]
        widths = [(r - p, r - p + o) for r, p, o in zip(reach, padding, output_padding)]
        made = lax.conv_general_dilated(x, weight, [1] * rank, widths, stride, dilation, numbers, feature_group_count=groups)
    else:
        made = lax.conv_general_dilated(x, weight, stride, [(p, p) for p in padding], None, dilation, numbers, feature_group_count=groups)
    return made if bias is None else made + bias.reshape([1, -1] + [1] * rank)


def _convolution_of_any_batch(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """In groups, of an unknown batch: a product for each place of the window, because StableHLO's convolution has no lowering then."""
    rank = len(stride)
    reach = [d * (k - 1) for k, d in zip(weight.shape[2:], dilation)]
    widths = [(p, p, 0) for p in padding]
    if transposed:
        weight = jnp.flip(_swapped(weight, groups), range(2, rank + 2))
        widths = [(r - p, r - p + o, s - 1) for r, p, o, s in zip(reach, padding, output_padding, stride)]
        stride = [1] * rank
    x = lax.pad(x, jnp.zeros((), x.dtype), [(0, 0, 0), (0, 0, 0), *widths])
    counts = [(size - r - 1) // s + 1 for size, r, s in zip(x.shape[2:], reach, stride)]
    inputs, outputs = x.shape[1] // groups, weight.shape[0] // groups
    weight = weight.reshape(groups, outputs, inputs, *weight.shape[2:])
    total = 0
    for place in np.ndindex(*weight.shape[3:]):
        part = x
        for i, (begin, d, count, s) in enumerate(zip(place, dilation, counts, stride)):
            part = lax.slice_in_dim(part, begin * d, begin * d + (count - 1) * s + 1, s, 2 + i)
        part = part.reshape(x.shape[0], groups, inputs, math.prod(counts))
        total = total + jnp.einsum("bgis,goi->bgos", part, weight[(..., *place)])
    made = total.reshape(x.shape[0], groups * outputs, *counts)
    return made if bias is None else made + bias.reshape([1, -1] + [1] * rank)


def _each(values, rank):
    return list(values) * rank if len(values) == 1 else list(values)


def _swapped(weight, groups):
    """(inputs, outputs of a group, ...) → (outputs, inputs of a group, ...)."""
    inputs, outputs, *rest = weight.shape
    weight = weight.reshape(groups, inputs // groups, outputs, *rest)
    return jnp.swapaxes(weight, 1, 2).reshape(groups * outputs, inputs // groups, *rest)


@row("convolution_backward.default")
def convolution_backward(gradient, x, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, mask):
    _, pull = jax.vjp(lambda x, weight: convolution(x, weight, None, stride, padding, dilation, transposed, output_padding, groups), x, weight)
    of_x, of_weight = pull(gradient)
    axes = tuple(i for i in range(gradient.ndim) if i != 1)
    return [made if wanted else None for made, wanted in zip((of_x, of_weight, jnp.sum(gradient, axes)), mask)]


# Attention -----------------------------------------------------------------------------------------------------------


def _scale_of(width, dtype):
    return 1 / math.sqrt(width) if isinstance(width, int) else lax.rsqrt(jnp.asarray(width).astype(dtype))


@row("scaled_dot_product_attention.default")
def attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    return flash_attention(q, k, v, dropout_p, is_causal, attn_mask=attn_mask, scale=scale, enable_gqa=enable_gqa)[0]


@row("_scaled_dot_product_flash_attention_for_cpu.default")
def flash_attention(q, k, v, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None, enable_gqa=False):
    if dropout_p:
        raise NotImplementedError("dropout in attention is not lowered")
    if q.ndim > 2 and (enable_gqa or q.shape[-3] != k.shape[-3]):
        k, v = (jnp.repeat(each, q.shape[-3] // each.shape[-3], -3) for each in (k, v))
    scores = jnp.matmul(q, jnp.swapaxes(k, -1, -2), preferred_element_type=jnp.float32 if q.dtype.itemsize < 4 else q.dtype)
    scores = scores * (_scale_of(q.shape[-1], scores.dtype) if scale is None else scale)
    if is_causal:
        rows, columns = (lax.broadcasted_iota(jnp.int32, scores.shape[-2:], i) for i in (0, 1))
        scores = jnp.where(columns <= rows, scores, -jnp.inf)
    if attn_mask is not None:
        scores = jnp.where(attn_mask, scores, -jnp.inf) if attn_mask.dtype == jnp.bool_ else scores + attn_mask
    largest = lax.stop_gradient(jnp.max(scores, -1, keepdims=True))
    parts = jnp.exp(scores - jnp.where(jnp.isneginf(largest), 0, largest))
    total = jnp.sum(parts, -1, keepdims=True)  # Of a row that sees nothing 0, and so are its weights and its gradients.
    weights = parts / jnp.where(total == 0, 1, total)
    return jnp.matmul(weights.astype(v.dtype), v), (largest + jnp.log(total))[..., 0]


@row("_scaled_dot_product_flash_attention_for_cpu_backward.default")
def flash_attention_backward(gradient, q, k, v, out, logsumexp, dropout_p, is_causal, *, attn_mask=None, scale=None):
    _, pull = jax.vjp(lambda q, k, v: flash_attention(q, k, v, dropout_p, is_causal, attn_mask=attn_mask, scale=scale)[0], q, k, v)
    return list(pull(gradient))


@row("_native_multi_head_attention.default")
def multi_head_attention(query, key, value, width, heads, qkv_weight, qkv_bias, weight, bias, mask=None, need_weights=True, average=True, mask_type=None):
    """The fast path of nn.MultiheadAttention."""
    def projected(x, i):
        part = slice(i * width, (i + 1) * width)
        made = linear(x, qkv_weight[part], None if qkv_bias is None else qkv_bias[part])
        return jnp.swapaxes(made.reshape(x.shape[0], x.shape[1], heads, width // heads), 1, 2)

    q, k, v = (projected(x, i) for i, x in enumerate((query, key, value)))
    scores = jnp.matmul(q, jnp.swapaxes(k, -1, -2)) / math.sqrt(width // heads)
    scores = _masked(scores, mask, mask_type)
    weights = jax.nn.softmax(scores, -1)
    made = jnp.swapaxes(jnp.matmul(weights, v), 1, 2).reshape(query.shape[0], query.shape[1], width)
    return linear(made, weight, bias), (weights.mean(1) if average else weights) if need_weights else jnp.zeros((0,), query.dtype)


def _masked(scores, mask, mask_type):
    """Masks of the fast path, whose kind is told by a number, are True where nothing is seen."""
    if mask is None:
        return scores
    if mask_type == 1:  # Of keys, for each of the batch.
        mask = mask.reshape(mask.shape[0], 1, 1, mask.shape[1])
    return jnp.where(mask, -jnp.inf, scores) if mask.dtype == jnp.bool_ else scores + mask


@row("_transformer_encoder_layer_fwd.default")
def transformer_encoder_layer(x, width, heads, qkv_weight, qkv_bias, weight, bias, use_gelu, norm_first, epsilon, norm_weight, norm_bias, norm_weight2,
                              norm_bias2, first_weight, first_bias, second_weight, second_bias, mask=None, mask_type=None):
    """The fast path of nn.TransformerEncoderLayer."""
    def attend(x):
        return multi_head_attention(x, x, x, width, heads, qkv_weight, qkv_bias, weight, bias, mask, False, mask_type=mask_type)[0]

    def feed(x):
        x = linear(x, first_weight, first_bias)
        return linear(jax.nn.gelu(x, approximate=False) if use_gelu else jnp.maximum(x, 0), second_weight, second_bias)

    def first(x):
        return layer_norm(x, [width], norm_weight, norm_bias, epsilon)[0]

    def second(x):
        return layer_norm(x, [width], norm_weight2, norm_bias2, epsilon)[0]

    if norm_first:
        x = x + attend(first(x))
        return x + feed(second(x))
    x = first(x + attend(x))
    return second(x + feed(x))
