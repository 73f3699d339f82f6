"""The surface of jax.numpy and lax: each function in its odd forms."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .registry import bf16, boolean, c64, f16, f32, f64, i8, i16, i32, i64, program, u8, u16, u32, u64


@program(f32(3, 4, 5), f32(5, 3), f32(4), f32(3, 3, 4), f32(2, 1, 4, 3))
def einsums_with_odd_subscripts(a, b, v, s, w):
    return (jnp.einsum("iij->ij", s), jnp.einsum("iij->j", s), jnp.einsum("ijk->", a), jnp.einsum("ijk,ki->j", a, b), jnp.einsum("ijk,j->ki", a, v), jnp.einsum("i,j->ji", v, v), jnp.einsum("ijk,ijk->ik", a, a),
            jnp.einsum("...k,kl->l...", a, b), jnp.einsum("a...b,b...c->c...a", w, a), jnp.einsum(a, [0, 1, 2], b, [2, 3], [3, 1]), jnp.einsum("iij,jkl->ikl", s, a.transpose(1, 0, 2)), jnp.einsum("ij,jk,kl,lm->im", b, b.T, b, b.T),
            jnp.tensordot(a, s, ((0, 1), (0, 2))), jnp.tensordot(a, b, 1), jnp.inner(a, a[0]), jnp.outer(v, v), jnp.kron(b, b[:2]), jnp.vdot(a, a), jnp.cross(b, b[::-1]), jnp.linalg.multi_dot([b, b.T, b, b.T]))


@program(f32(3, 5, 2, 4), f32(3, 2), i8(3, 5, 2, 4), i8(3, 2))
def products_of_batches_with_vectors(x, v, m, n):
    whole = lax.dot_general(m, n, (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.int32)
    return jnp.einsum("bijk,bj->bik", x, v), jnp.einsum("bj,bijk->bki", v, x), whole, jax.grad(lambda x: (jnp.einsum("bijk,bj->bik", x, v) ** 2).sum())(x), jnp.einsum("bijk,bj->bik", x + 1j * x, v)


@program(f32(4, 6), i32(4, 6, low=-3, high=4), f32(6, low=0.1, high=2), bf16(4, 6), i8(4, 6, low=-2, high=3))
def running_things(x, n, p, b, s):
    bad = x.at[1, 2].set(jnp.nan)
    return (jnp.cumsum(x), jnp.cumsum(n, 0), jnp.cumprod(p), jnp.cumprod(n, 1), lax.cummax(bad, 1), lax.cummin(x, 0), lax.cumlogsumexp(x, 1, reverse=True), jnp.nancumsum(bad, 1), jnp.nancumprod(bad, 0), jnp.cumsum(b, 1), jnp.cumsum(s, 1),
            jnp.cumsum(n > 0, 1), lax.cumprod(x, 1, reverse=True), jnp.diff(x, 2, 1), jnp.ediff1d(n), jnp.gradient(x, axis=1), jnp.trapezoid(x, dx=0.5, axis=0), jnp.cumulative_sum(p, include_initial=True), lax.cummax(n, 0, reverse=True))


@program(f32(5, 7), i32(5, 7, low=0, high=4), f32(7), u8(5, 7, low=0, high=255), x64=False)
def orders_by_several_keys(x, n, y, u):
    def by(v):
        return lax.sort((n, v, x), dimension=1, num_keys=2, is_stable=False)

    return (by(x), lax.sort((u, n), dimension=0, num_keys=1), jnp.lexsort((x[0], n[0], u[0])), jnp.sort(x, None), jnp.argsort(n, 1, descending=True), jnp.argsort(n, None, stable=True), jnp.sort(u, 0, descending=True), jnp.partition(x, 3, 1), jnp.argpartition(y, 2)[2],
            lax.top_k(n, 4), lax.top_k(u, 2), lax.top_k(y, 7), jnp.sort_complex(y), jnp.median(n, 1), jnp.flip(jnp.sort(y)), lax.sort((n.astype(jnp.float32), -x), num_keys=2))


@program(f32(12), f32(3, 5), i32(10, low=0, high=9), i32(3, 4, low=-2, high=12), f32(9))
def searches_and_counts(table, x, n, wide, w):
    table = jnp.sort(table)
    return (jnp.searchsorted(table, x), jnp.searchsorted(table, x, side="right"), jnp.searchsorted(table, x, method="compare_all"), jnp.searchsorted(n, 3, sorter=jnp.argsort(n)), jnp.searchsorted(jnp.array([0.0, 1, 1, jnp.nan]), jnp.array([jnp.nan, 1, jnp.inf])),
            jnp.unique(n, size=6, fill_value=77), jnp.unique(wide, axis=0, size=3), jnp.unique(n, size=10, return_index=True, return_inverse=True, return_counts=True), jnp.bincount(n, length=4), jnp.bincount(n, jnp.arange(10.0), length=12), jnp.bincount(wide[0], length=3),
            jnp.histogram(x, bins=4), jnp.histogram(x, jnp.array([-2.0, -0.5, 0.5, 2])), jnp.histogram(w, bins=3, range=(-1, 1), weights=w), jnp.histogram2d(w, w[::-1], bins=3), jnp.digitize(x, table), jnp.digitize(x, table[::-1], right=True), jnp.union1d(n, wide, size=12), jnp.setdiff1d(n, wide[0], size=6, fill_value=-9), jnp.count_nonzero(n, keepdims=True), jnp.flatnonzero(n > 3, size=6), jnp.argwhere(x > 0, size=8, fill_value=-1))


@program(f32(4, 9), f32(9), i32(7), f16(5, 8))
def quantiles_of_all_methods(x, y, n, h):
    bad = x.at[0, 3].set(jnp.nan).at[2].set(jnp.nan)
    return ([jnp.quantile(x, jnp.array([0.0, 0.33, 1.0]), axis=1, method=m) for m in ("linear", "lower", "higher", "midpoint", "nearest")], jnp.percentile(y, 75), jnp.percentile(x, jnp.array([10, 90]), axis=(0, 1), keepdims=True), jnp.nanquantile(bad, 0.4, axis=1), jnp.nanpercentile(bad, 50, axis=0),
            jnp.median(x, 0, keepdims=True), jnp.nanmedian(bad, 1), jnp.median(n), jnp.quantile(h, 0.7, axis=0), jnp.median(h))


@program(f32(4, 5), i32(4, 5), boolean(4, 5), u8(4, 5, low=0, high=255), i16(4, 5, low=-30000, high=30000))
def reductions_of_all_types(x, n, m, u, s):
    bad = x.at[1, 2].set(jnp.nan).at[3].set(jnp.nan)
    return (jnp.nansum(bad, 1), jnp.nanmean(bad, 1), jnp.nanmax(bad[:3], 1), jnp.nanmin(bad[:3], 0), jnp.nanstd(bad, 0), jnp.nanvar(bad[:3], 1), jnp.nanargmax(bad[:3], 1), jnp.nanprod(bad), bad.max(0), bad.min(1), jnp.argmax(bad, 1), jnp.argmin(bad, 0), m.any(1), m.all(0), m.sum(), m.mean(1), jnp.argmax(m, 1), u.sum(), u.mean(0), u.max(1), s.sum(1), s.prod(0),
            jnp.std(x, ddof=1), jnp.var(n, 0), x.sum(where=m), x.max(1, where=m, initial=-9.0), jnp.mean(x, 1, where=m.at[:, 0].set(True)), jnp.average(x, 0, weights=jnp.arange(4.0)), jnp.ptp(n, 1), jnp.logaddexp.reduce(x, 1), jnp.bitwise_or.reduce(n, 0), jnp.bitwise_and.reduce(u, 1), jnp.bitwise_xor.reduce(s, 0), lax.reduce_xor(n, (1,)), jnp.add.reduceat(x[0], jnp.array([0, 2, 4])), jnp.add.accumulate(x, 1), jnp.multiply.outer(x[0], x[1]), jax.nn.logsumexp(bad, 0), jax.nn.logsumexp(x, 1, b=x > 0), jax.nn.logmeanexp(x))


@program(f32(9), f32(6), f32(6), f32(5), f32(3, 6))
def polynomials_and_interpolation(x, xp, fp, p, q):
    xp = jnp.sort(xp)
    return (jnp.interp(x, xp, fp), jnp.interp(x, xp, fp, left=-9, right=9), jnp.interp(x, xp, fp, period=1.5), jnp.polyval(p, x), jnp.polyder(p), jnp.polyint(p), jnp.polymul(p, fp), jnp.polyadd(p, fp), jnp.polydiv(fp, p[:3]), jnp.convolve(x, p, "same"), jnp.convolve(p, x, "valid"), jnp.correlate(x, p, "full"), jnp.poly(p[:3]),
            jnp.vander(p, 4), jnp.vander(p, increasing=True), jnp.i0(x), jnp.sinc(x), jnp.unwrap(x * 3), jnp.heaviside(x, 0.5), jnp.nan_to_num(x / (x > 0)), jax.scipy.signal.convolve2d(q, q[:2, :3], "same"), jnp.cov(q), jnp.corrcoef(q), jnp.linspace(p, x[:5], 4), jnp.geomspace(1, 100, 5) * x[0], jnp.logspace(0, 2, 4) * p[0])


@program(f32(3, 4, 5), i32(6), f32(4, 4))
def moves_of_all_kinds(x, n, m):
    pads = ((1, 2), (0, 3), (2, 0))
    return (*(jnp.pad(x, pads, mode) for mode in ("edge", "reflect", "symmetric", "wrap", "maximum", "mean", "minimum", "linear_ramp", "constant", "median")), jnp.pad(x, ((4, 5), (7, 6), (0, 0)), "reflect"), jnp.pad(n, 8, "symmetric", reflect_type="even"), jnp.pad(n, 9, "wrap"), jnp.pad(x, 1, constant_values=((1, 2), (3, 4), (5, 6))), jnp.roll(x, 7), jnp.roll(x, (1, -2), (0, 2)), jnp.roll(n, n[0]), jnp.rot90(m), jnp.rot90(x, 3, (0, 2)), jnp.flip(x), jnp.flip(x, (0, 2)), jnp.fliplr(m),
            lax.pad(x, 7.0, ((1, -1, 2), (-2, 3, 0), (0, 0, 1))), lax.pad(n, 0, ((-2, -3, 3),)), lax.rev(x, (1,)), jnp.swapaxes(x, 0, 2), jnp.moveaxis(x, (0, 1), (1, 2)), jnp.rollaxis(x, 2), jnp.tile(m, (2, 1, 3)), jnp.repeat(x, 3, 1), jnp.repeat(n, jnp.array([0, 1, 2, 0, 3, 1]), total_repeat_length=7), jnp.stack([m, m.T], 1), jnp.dstack([m, m]), jnp.column_stack([n[:4], m]), jnp.block([[m, m.T], [m * 2, m * 3]]), jnp.append(m, m[:1], 0), jnp.insert(n, 2, 99), jnp.insert(m, jnp.array([0, 3]), 5.0, axis=1), jnp.delete(n, 3), jnp.delete(m, np.array([0, 2]), 0), jnp.resize(m, (3, 7)), jnp.trim_zeros(n[:0]) if False else n)


@program(f32(5, 5), f32(3, 4, 6), f32(4), i32(low=-2, high=3))
def triangles_and_diagonals(m, x, v, k):
    return (jnp.tril(m), jnp.triu(m, 1), jnp.tril(x, -2), jnp.triu(x, 3), jnp.diag(m), jnp.diag(m, -2), jnp.diag(v, 1), jnp.diagonal(x, 1, 0, 2), jnp.trace(m, 1), jnp.trace(x, axis1=1, axis2=2), jnp.diagflat(v, -1), jnp.fill_diagonal(m, v[:1], inplace=False), jnp.eye(3, 5, 1) * v[0], jnp.tri(4, 3, -1) + v[0], m[jnp.tril_indices(5)], m[jnp.triu_indices(5, 2)], m[jnp.diag_indices(5)], jnp.where(jnp.arange(5)[:, None] + k >= jnp.arange(5), m, 0), jnp.meshgrid(v, jnp.arange(3), indexing="ij"), jnp.indices((2, 3)) + k, jnp.identity(3) * v[1], jax.scipy.linalg.block_diag(m, v[None]), jax.scipy.linalg.toeplitz(v), jax.scipy.linalg.hankel(v, v), jnp.ix_(np.arange(2), np.arange(3))[0] + k)


@program(f32(4, 6), i32(5, low=-9, high=9), i32(4, 3, low=-8, high=8), f32(3, 4, 6), i32(2, 2, low=-1, high=4), u8(3, low=0, high=6), boolean(4))
def takes_of_all_modes(x, i, at, y, pairs, small, keep):
    return (*(jnp.take(x, i, axis, mode=mode) for axis in (None, 0, 1) for mode in ("clip", "fill", "wrap")), jnp.take(x, i, 1, mode="fill", fill_value=-3.5), *(jnp.take_along_axis(x, at, 1, mode=mode) for mode in ("clip", "fill", None)), x[i], x[:, i], x[i[:2], i[1:3]], x.at[i].get(mode="fill", fill_value=8), x.at[i, 2].get(mode="clip"), y[pairs, :, pairs], y[1, pairs], y[:, pairs, 1:3], y[..., None, -1], y[::-2, 3:0:-1, ::3], x[small], x[:, small], x[keep.astype(int)], jnp.where(keep[:, None], x, 0), jnp.compress(np.array([True, False, True, True]), x, 0, size=3), jnp.choose(at % 3, [at, at * 2, at * 3], mode="clip"), jnp.select([x > 1, x < -1], [x, -x], 0.5), jnp.piecewise(x, [x < 0, x > 1], [lambda v: -v, 2.0, 7.0]), jnp.extract(x > 0, x, size=5), jnp.take(x, np.array([], int), 0), jnp.unravel_index(i % 24, (4, 6)), jnp.ravel_multi_index((at % 4, at % 3), (4, 3), mode="wrap"))


@program(f32(5, 6), i32(low=-9, high=9), i32(low=3, high=40), f32(2, 3), i32(3), f32(2, 5, 6), u8(low=250, high=255))
def slices_out_of_range(x, i, j, new, line, batch, small):
    return (lax.dynamic_slice(x, (i, j), (2, 3)), lax.dynamic_slice(x, (j, i), (5, 1)), lax.dynamic_update_slice(x, new, (i, j)), lax.dynamic_update_slice(x, new, (j, i)), lax.dynamic_index_in_dim(x, i, 0), lax.dynamic_slice(x, (small, small), (2, 2)), lax.dynamic_update_index_in_dim(x, x[0], j, 0), jax.vmap(lambda b, k: lax.dynamic_slice(b, (k, i), (2, 2)))(batch, jnp.array([-100, 100])), jax.vmap(lambda b, k: lax.dynamic_update_slice(b, new, (k, 1)))(batch, jnp.array([-1, 4])), x[i], x[j], line[i], lax.slice(x, (1, 0), (5, 6), (2, 5)), lax.slice_in_dim(x, 4, 4), lax.dynamic_slice(x, (jnp.int32(-2 ** 31), jnp.int32(2 ** 31 - 1)), (1, 1)), x.at[i, j].set(9.0), x.at[j].add(1.0), x.at[-1, -2].multiply(5.0))


@program(f32(6, 4), i32(7, low=-8, high=9), f32(7, 4), i32(3, 2, low=-2, high=7), f32(3), i32(6, 4), boolean(6, 4), f32(3, 2, 4), c64(6), u8(6, 4, low=0, high=255))
def scatters_of_all_modes(x, i, new, pairs, v, n, m, blocks, z, u):
    pair = (pairs[:, 0], pairs[:, 1] % 4)
    return (x.at[i].add(new), x.at[i].add(new, mode="clip"), x.at[i].max(new, mode="drop"), x.at[i].min(new), x.at[i].multiply(new), x.at[pair].set(v, mode="clip"), x.at[pair].add(v), x.at[pair].divide(v), x.at[pair].power(2.0), x.at[pair].apply(jnp.sin), n.at[i].add(i[:, None]), n.at[i].max(3), n.at[i, 1:3].min(-2), x.at[1:5:2].set(7.0), x.at[:, ::-1].add(new[:6]), x.at[pairs].add(blocks), x.at[..., 2].set(0.5), x.at[pairs[:, 0], :2].set(blocks[:, 0, :2], mode="drop"), jnp.where(m, x, 0).at[2].set(jnp.nan), m.at[i].set(True), z.at[i].add(1j), u.at[i].add(200), x.at[np.array([], int)].set(1.0), x.at[jnp.array([0, 2, 4])].set(v[:, None], unique_indices=True, indices_are_sorted=True), jnp.put_along_axis(x, pairs[:, :1] % 6, 3.0, 0, inplace=False), jnp.zeros((4, 4)).at[jnp.arange(4), jnp.arange(4)].set(v[0]), lax.scatter_add(x, jnp.array([[1]]), new[:1], lax.ScatterDimensionNumbers((1,), (0,), (0,))))


@program(f32(2, 8, 9, 3), i32(12), f32(3, 7), f32(10), f32(10))
def windows_of_all_kinds(x, n, y, a, b):
    def arg_max(p, q):
        return jax.tree.map(lambda u, v: jnp.where(p[0] >= q[0], u, v), p, q)

    def variadic(window, strides, padding):
        return lax.reduce_window((a, jnp.arange(10)), (-jnp.inf, 0), arg_max, window, strides, padding)

    return (lax.reduce_window(x, 0.0, lax.add, (1, 3, 2, 1), (1, 2, 3, 1), "SAME"), lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "VALID", base_dilation=(1, 2, 1, 1), window_dilation=(1, 2, 3, 1)), lax.reduce_window(x, jnp.inf, lax.min, (2, 2, 2, 3), (1, 1, 1, 1), ((0, 1), (1, 0), (0, 0), (1, 1))), lax.reduce_window(n, 1, lax.mul, (3,), (2,), ((2, 1),)), lax.reduce_window(y, 1.0, lax.mul, (1, 7), (1, 1), ((0, 0), (6, 0))), variadic((3,), (1,), "SAME"), variadic((4,), (3,), "VALID"), lax.reduce_window(n, 0, lax.bitwise_or, (2,), (1,), "SAME"), lax.reduce_window(n > 0, False, lax.bitwise_or, (3,), (3,), "VALID"), lax.reduce_window(a, 0.0, lambda p, q: jnp.hypot(p, q), (3,), (1,), "SAME"), lax.reduce_window(y, 0.0, lax.add, (3, 1), (1, 1), ((2, 0), (0, 0))), lax.reduce((a, b), (0.0, 1.0), lambda p, q: (p[0] + q[0], p[1] * q[1]), (0,)), lax.reduce(n, 0, lambda p, q: jnp.maximum(p, q) - 0, (0,)), jax.grad(lambda a: (lax.reduce_window(a, -jnp.inf, lax.max, (3,), (2,), ((1, 1),)) ** 2).sum())(a))


@program(f32(2, 6, 7, 4), f32(3, 2, 4, 6), f32(2, 3, 9), f32(4, 5, 5, 5, 2))
def convolutions_of_all_layouts(x, w, line, cube):
    out = []
    for spec, tx, tw in (("NHWC", (0, 1, 2, 3), (0, 1, 2, 3)), ("NCHW", (0, 3, 1, 2), (3, 2, 0, 1)), ("HWNC", (1, 2, 0, 3), (0, 1, 2, 3)), ("CHWN", (3, 1, 2, 0), (2, 0, 1, 3))):
        kernel = {"NHWC": "HWIO", "NCHW": "OIHW", "HWNC": "HWIO", "CHWN": "IHWO"}[spec]
        for how in ({"window_strides": (1, 2), "padding": "SAME"}, {"window_strides": (2, 1), "padding": [(2, 0), (1, 3)], "rhs_dilation": (2, 1)}):
            out.append(lax.conv_general_dilated(x.transpose(tx), w.transpose(tw), dimension_numbers=(spec, kernel, spec), **how))
    out.append(lax.conv_general_dilated(x, w[:, :, :1, :].repeat(2, 3), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=4))
    out.append(lax.conv_general_dilated(x, w[:, :, :2, :], (1, 1), [(0, 0), (0, 0)], lhs_dilation=(2, 1), dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=2))
    out.append(lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"), batch_group_count=2))
    out.append(lax.conv_general_dilated(line, line[:, :, :4].repeat(3, 0), (1,), [(3, -1)], dimension_numbers=("NCH", "OIH", "NCH")))
    out.append(lax.conv_general_dilated(cube, cube[:2, :2, :3, :2, :].transpose(1, 2, 3, 4, 0), (1, 2, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")))
    out.append(lax.conv_transpose(x, w, (2, 3), "VALID"))
    out.append(lax.conv_transpose(x, w.transpose(0, 1, 3, 2), (2, 1), "SAME", transpose_kernel=True))
    out.append(lax.conv_general_dilated_patches(x, (2, 3), (1, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
    out.append(lax.conv_general_dilated_local(x[:, :4, :3], jnp.ones((2, 2, 16, 5)) * w[0, 0, 0, 0], (2, 1), "VALID", (2, 2), dimension_numbers=("NHWC", "HWIO", "NHWC")))
    out.append(lax.conv_general_dilated(x.astype(jnp.float16), w.astype(jnp.float16), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), preferred_element_type=jnp.float32))
    return out


@program(f32(2, 3, 8), f32(4, 3, 3), i8(1, 5, 5, 2), i8(2, 2, 2, 3), c64(2, 1, 6), c64(2, 1, 3), tolerance=2e-3)
def convolutions_of_odd_types(x, w, n, k, z, v):
    quantized = lax.conv_general_dilated(n, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), preferred_element_type=jnp.int32)
    return (quantized, lax.conv_general_dilated(z, v, (1,), "VALID"), lax.conv_general_dilated(x, w, (1,), "SAME", window_reversal=None) if False else lax.conv(x, w, (2,), "SAME"), lax.conv_general_dilated(x.astype(jnp.bfloat16), w.astype(jnp.bfloat16), (1,), [(0, 0)]), lax.conv_general_dilated(n.astype(jnp.int32), k.astype(jnp.int32), (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")), lax.conv_general_dilated(x[:, :, :0], w, (1,), [(1, 1)]), jax.vmap(lambda x, w: lax.conv(x[None], w, (1,), "SAME"))(x, jnp.stack([w, w + 1])))


@program(f32(2, 7, 6, 3), f32(2, 2, 3, 4))
def gradients_of_group_convolutions(x, w):
    def loss(x, w, **how):
        return (lax.conv_general_dilated(x, w, dimension_numbers=("NHWC", "HWIO", "NHWC"), **how) ** 2).sum()

    return [jax.grad(loss, (0, 1))(x, w[:, :, :1, :3], window_strides=(2, 1), padding="SAME", feature_group_count=3), jax.grad(loss, (0, 1))(x, w, window_strides=(1, 1), padding=[(1, -1), (0, 2)], lhs_dilation=(1, 2)), jax.grad(loss, (0, 1))(x, w, window_strides=(1, 3), padding="VALID", batch_group_count=2, rhs_dilation=(2, 2))]


@program(i32(9, low=-9, high=9), i32(9, low=-4, high=5), u8(9, low=0, high=255), u8(9, low=0, high=9), i8(9, low=-128, high=127), i8(9, low=-3, high=3), i64(9, low=-2 ** 40, high=2 ** 40), i64(9, low=-5, high=5), x64=True)
def divisions_of_integers(a, b, c, d, e, f, g, h):
    pairs = ((a, b), (c, d), (e, f), (g, h))
    # No constants: XLA ends the process when it folds the first of these quotients.
    least = jnp.where(a[:4] > 90, 0, jnp.array([-2 ** 31, -2 ** 31, 2 ** 31 - 1, 5], jnp.int32))
    by = jnp.where(b[:4] > 90, 1, jnp.array([-1, 0, 0, 0], jnp.int32))
    return ([[op(x, y) for op in (lax.div, lax.rem, jnp.floor_divide, jnp.mod, jnp.remainder, jnp.fmod, jnp.true_divide, jnp.gcd, jnp.minimum)] for x, y in pairs], lax.div(least, by), lax.rem(least, by), least // by, least % by, jnp.divmod(a, b), jnp.lcm(a, b), a // 4, a % 4, a / 3, -least, jnp.abs(least), jnp.sign(e), jnp.power(b, 3), jnp.power(a, jnp.abs(b)), lax.integer_pow(e, 3), g * g, jnp.square(e))


@program(i32(8), i32(8, low=-2, high=70), u32(8, low=0, high=2 ** 32 - 1), u8(8, low=0, high=255), u8(8, low=0, high=40), i8(8, low=-128, high=127), i16(8, low=-30000, high=30000), u64(8, low=0, high=2 ** 60), i64(8, low=-2 ** 60, high=2 ** 60), u16(8, low=0, high=60000), x64=True)
def bits_of_all_types(a, by, b, c, by8, d, e, f, g, h):
    each = (a, b, c, d, e, f, g, h)
    unary = (jnp.bitwise_not, jnp.bitwise_count, lax.population_count, lax.clz, jnp.invert)
    shifts = (lax.shift_left, lax.shift_right_logical, lax.shift_right_arithmetic)
    return ([[op(x) for op in unary] for x in each], [[op(x, by.astype(x.dtype)) for op in shifts] for x in each], c << by8, c >> by8, d << 3, d >> 2, jnp.left_shift(a, 31), jnp.packbits(c > 100), jnp.unpackbits(c), c ^ by8, a & by, a | by, ~a, lax.bitcast_convert_type(b, jnp.float32) == 0, lax.bitcast_convert_type(c.reshape(2, 4), jnp.uint32), lax.bitcast_convert_type(a, jnp.int8), lax.bitcast_convert_type(f, jnp.float64) == 1, d.view(jnp.uint8), b.view(jnp.uint16), e.view(jnp.int32))


@program(f32(8, low=-300, high=300), i32(8, low=-70000, high=70000), u8(8, low=0, high=255), f64(8, low=-1e5, high=1e5), i64(8, low=-2 ** 50, high=2 ** 50), boolean(8), f16(8), bf16(8), u64(8, low=0, high=2 ** 62), x64=True)
def casts_between_all_types(*values):
    kinds = (jnp.bool_, jnp.int8, jnp.int16, jnp.int32, jnp.int64, jnp.uint8, jnp.uint16, jnp.uint32, jnp.uint64, jnp.float16, jnp.bfloat16, jnp.float32, jnp.float64)
    fits = {"f": 100, "i": None, "u": None, "b": None}
    out = []
    for v in values:
        for kind in kinds:
            w = jnp.clip(v, 0, 100) if jnp.issubdtype(v.dtype, jnp.floating) and jnp.issubdtype(kind, jnp.integer) else v
            out.append(w.astype(kind))
    odd = jnp.array([jnp.nan, jnp.inf, -jnp.inf, 1e30, -1e30, 3.99, -3.99, 300.0], jnp.float32)
    return out, [odd.astype(kind) for kind in (jnp.int32, jnp.uint8, jnp.int64, jnp.uint32, jnp.int8)], [odd.astype(kind) for kind in (jnp.float16, jnp.bfloat16)], jnp.asarray(values[0], jnp.complex64)


@program(f32(4, 6), i32(4, 6, low=0, high=3), f32(0), u8(7, low=0, high=3))
def extremes_with_ties_and_nan(x, n, nothing, u):
    one = x.at[0, 2].set(jnp.nan).at[0, 4].set(jnp.nan).at[1].set(jnp.nan).at[2, 1].set(jnp.inf).at[2, 5].set(jnp.inf).at[3, 0].set(-0.0).at[3, 1].set(0.0)
    return (jnp.argmax(one, 1), jnp.argmin(one, 1), jnp.argmax(n, 1), jnp.argmin(n, 0), jnp.argmax(n), jnp.argmax(u), jnp.max(one, 1), jnp.minimum(one, one[::-1]), jnp.fmax(one, one[::-1]), jnp.fmin(one, x), jnp.maximum(one[3], -one[3]), lax.top_k(one, 3), jnp.sort(one, 1), jnp.argsort(one, 1), lax.argmax(x, 1, jnp.int8), jnp.clip(one, -1, 1), jnp.clip(x, 1, -1), jnp.isnan(one).sum(), jnp.sum(nothing), jnp.prod(nothing), jnp.max(nothing, initial=-4.0), jnp.all(nothing > 0), one == one, one < one[::-1], jnp.nextafter(x, one), jnp.signbit(one), jnp.isclose(one, one, equal_nan=True), jnp.array_equal(x, x), jnp.copysign(x, one), jnp.frexp(x), jnp.ldexp(x, n), jnp.modf(x), jnp.isposinf(one), lax.reduce_precision(x, 5, 3))


@program(f32(7, low=-4, high=4), f32(7, low=0.1, high=5), f64(7, low=-3, high=3), f16(7), bf16(7), x64=True, tolerance=2e-2)
def elementwise_of_all_types(x, p, d, h, b):
    every = (jnp.sin, jnp.cos, jnp.tan, jnp.arctan, jnp.sinh, jnp.cosh, jnp.tanh, jnp.arcsinh, jnp.exp, jnp.expm1, jnp.exp2, jnp.cbrt, jnp.floor, jnp.ceil, jnp.trunc, jnp.rint, jnp.round, jnp.sign, jnp.abs, jnp.square, jnp.negative, jnp.reciprocal, lax.erf, lax.erfc, jax.nn.sigmoid, jnp.deg2rad, jnp.fabs)
    positive = (jnp.log, jnp.log2, jnp.log10, jnp.log1p, jnp.sqrt, lax.rsqrt, lax.lgamma, lax.digamma)
    return [[f(v) for f in every] for v in (x, d, h, b)], [[f(v) for f in positive] for v in (p, jnp.abs(d) + 0.1, jnp.abs(h) + 0.5)], [f(a, c) for f in (jnp.arctan2, jnp.hypot, jnp.power, jnp.logaddexp, jnp.logaddexp2, jnp.fmod, jnp.remainder, jnp.float_power) for a, c in ((p, x), (p.astype(jnp.float64), d))]


@program(f32(7, low=-4, high=4), f32(7, low=0.1, high=5), f32(7, low=0.05, high=0.95), i32(7, low=0, high=6), tolerance=1e-4)
def special_functions_of_scipy(x, p, q, n):
    s = jax.scipy.special
    return (s.gammainc(p, p[::-1]), s.gammaincc(p, p[::-1]), s.betainc(p, p[::-1], q), s.betaln(p, q), s.beta(p, q), s.gamma(p), s.factorial(n), s.polygamma(1, p), s.zeta(p + 1.5, 2.0), s.erfinv(q), s.erf(x), s.i0(x), s.i1(x), s.i0e(x), s.ndtr(x), s.ndtri(q), s.log_ndtr(x), s.expit(x), s.logit(q), s.xlogy(p, q), s.xlog1py(p, q), s.entr(q), s.kl_div(p, q), s.multigammaln(p + 3, 2), s.gammasgn(x), s.expn(2, p), s.exp1(p), s.spence(p), s.bernoulli(6) * x[0], s.softmax(x), s.log_softmax(x), s.logsumexp(x), s.digamma(p))


@program(f32(9), f32(9, low=0.1, high=3), f32(9, low=0.05, high=0.95), i32(9, low=0, high=6), tolerance=1e-4)
def densities_of_scipy(x, p, q, n):
    t = jax.scipy.stats
    return (t.norm.logpdf(x, 0.5, p), t.norm.cdf(x), t.norm.ppf(q), t.gamma.logpdf(p, 2.0), t.gamma.cdf(p, 2.0), t.beta.logpdf(q, 2, 3), t.t.logpdf(x, 4), t.cauchy.cdf(x), t.expon.pdf(p), t.laplace.cdf(x), t.logistic.sf(x), t.poisson.logpmf(n, p), t.poisson.cdf(n, p), t.binom.logpmf(n, 7, q), t.nbinom.logpmf(n, 3, q), t.geom.pmf(n + 1, q), t.bernoulli.logpmf(n % 2, q), t.uniform.logpdf(x), t.dirichlet.logpdf(q / q.sum(), p), t.multivariate_normal.logpdf(x[:3], jnp.zeros(3), jnp.eye(3) * 2), t.truncnorm.logpdf(x, -2.0, 2.0), t.rankdata(n), t.mode(n), t.gaussian_kde(x).evaluate(q))


@program(c64(4), c64(4), c64(3, 3), f32(4), c64(2, 3, 4), tolerance=1e-4)
def complex_numbers_everywhere(a, b, m, x, t):
    each = (jnp.sin, jnp.cos, jnp.tan, jnp.sinh, jnp.cosh, jnp.tanh, jnp.exp, jnp.log, jnp.sqrt, jnp.square, jnp.abs, jnp.angle, jnp.conj, jnp.expm1, jnp.log1p, jnp.sign, jnp.reciprocal, jnp.arcsin, jnp.arccos, jnp.arctan, jnp.arcsinh, jnp.log2, jnp.exp2)
    return ([f(a) for f in each], a * b, a / b, a - x, a ** 2, a ** b, a ** 0.5, jnp.vdot(a, b), m @ m, jnp.einsum("abc,abc->b", t, t.conj()), m.T, jnp.conj(m).T, a.real, a.imag, lax.complex(x, x), t.sum(1), t.mean(), t.prod(2), jnp.cumsum(a), jnp.cumprod(a), jnp.where(x > 0, a, b), jnp.stack([a, b]), a[::-1], a[jnp.array([2, 0])], a == b, a != a, jnp.sort(a), jnp.iscomplex(a), jnp.isfinite(a), jnp.concatenate([a, b[:1]]), jnp.pad(m, 1), jnp.roll(a, 1), jnp.std(a), jnp.var(t, 1), jnp.linalg.norm(m), jnp.linalg.norm(a), jnp.round(a), jnp.dot(a, x), lax.fori_loop(0, 3, lambda i, z: z * z * 0.1 + i, a), jax.grad(lambda z: jnp.abs(z * z).sum())(a), jax.jvp(jnp.exp, (a,), (b,)), jnp.outer(a, b), jnp.max(jnp.abs(t), 1), jnp.allclose(a, a), jnp.trace(m), jnp.kron(m, m)[0], m.at[0].add(1j))


@program(f32(), i32(), boolean(), f32(1), f32(1, 1, 3, 1), u8(), f64(), bf16(), i64(), x64=True, tolerance=1e-6)
def scalars_and_ones(x, n, m, one, ones, u, d, b, i):
    return (x + n, x * 2, n + 1, n // 3, ~m, m ^ True, jnp.sin(x), jnp.sum(x), jnp.max(one), one[0], ones.squeeze(), ones.squeeze(0) + x, ones.reshape(3), jnp.expand_dims(x, (0, 1)), jnp.broadcast_to(x, (2, 3)), jnp.atleast_2d(x), jnp.where(m, x, -x), jnp.cumsum(one), jnp.sort(one), u + u, d ** 2, b * b, i << 40, jnp.full((2, 2), x), x.astype(jnp.int32), jnp.array([x, n, m]), lax.cond(m, lambda: x, lambda: x * 2), jnp.arange(3) * n, jnp.argmax(one), jnp.prod(ones), jnp.mean(ones, (0, 2)), jnp.reshape(x, (1, 1)), (), 3.0, True, jnp.float16(2), [x, (n, {"a": u})], jax.tree.map(lambda v: v, None), jnp.squeeze(ones, (0, 1, 3))[::-1], x == x, jnp.add(one, ones), lax.reduce(x, 0.0, lax.add, ()), lax.full_like(x, 7), jnp.iinfo(jnp.int64).max + i * 0)


@program(f32(0, 3), f32(3, 0), i32(0), f32(2, 0, 4), f32(4, 3))
def sizes_of_zero(a, b, n, c, x):
    return (a @ b, b @ a, a.T, jnp.concatenate([a, x]), jnp.sum(a, 0), jnp.sum(b, 1), jnp.max(b, 0), jnp.sort(n), jnp.cumsum(a, 0), a[:, 1], jnp.pad(a, ((1, 2), (0, 0))), jnp.where(a > 0, a, 0), c.reshape(0), c.reshape(8, 0), c.transpose(2, 1, 0), jnp.mean(c, 0), jnp.einsum("abc,abc->ac", c, c), x[n], x.at[n].add(a), x[:0], x[4:], jnp.roll(n, 1), jnp.stack([n, n]), jnp.split(x, [0, 4]), jnp.tile(n, 3), jnp.repeat(a, 2, 0), jnp.zeros((0,)), jnp.linspace(0, 1, 0), jnp.all(n), jnp.any(a), jnp.prod(c), jnp.argsort(n), lax.map(lambda v: v * 2, a), lax.scan(lambda s, v: (s + v.sum(), v * s), x[0, 0], a), lax.fori_loop(0, 0, lambda i, v: v + 1, x), jax.vmap(jnp.sum)(a), jnp.outer(n, n), jnp.diag(jnp.zeros(0)), jnp.flip(a), lax.dynamic_slice(a, (0, 1), (0, 2)), lax.reduce_window(b, 0.0, lax.add, (2, 1), (1, 1), "VALID"), jnp.isin(x[0], n), jnp.searchsorted(x[0, :0], x[0]), jnp.unique(n, size=2, fill_value=9), jnp.interp(x[0], jnp.arange(3.0), x[1]), jnp.linalg.norm(a, axis=0), jax.nn.softmax(b), jax.grad(lambda a: a.sum())(a))


@program(f32(5, 4), f32(4, 3), f32(6), sizes=("b, 4", None, "n"))
def symbolic_models(x, w, y):
    h = jax.nn.gelu(x @ w)
    return (h, jax.nn.softmax(h, 0), x.shape[0] * jnp.ones(()), jnp.mean(x, 0), jnp.var(x), x.reshape(-1), x.reshape(x.shape[0], 2, 2).transpose(1, 0, 2), jnp.concatenate([x, x * 2]), jnp.arange(x.shape[0]), jnp.outer(y, x[:, 0]), x[::-1], x[:, ::2], x[1:], jnp.argmax(h, 1), jnp.where(jnp.arange(x.shape[0])[:, None] < 3, x, 0), jnp.broadcast_to(y[:, None, None], (y.shape[0], x.shape[0], 2)), x[:, None] - x[None], jnp.tile(x, (2, 1)), jnp.linalg.norm(x, axis=1), jnp.max(y) - jnp.min(y), lax.fori_loop(0, x.shape[0], lambda i, s: s + i, 0), jnp.eye(x.shape[0]), jnp.tril(x @ x.T), jnp.pad(y, (1, 2)), x @ x.T, jnp.stack([y, y]), jax.grad(lambda w: jnp.tanh(x @ w).sum())(w))


@program(f32(7), f32(5, 6), i32(5, low=0, high=5), i32(low=0, high=6), sizes=("n", "b, k", "b", None))
def symbolic_surface(y, x, at, i):
    return (jnp.take_along_axis(x, at[:, None], 1), x[at % 3], jnp.roll(y, 1), jnp.flip(x, 1), jnp.sum(x, 1), jnp.repeat(x, 2, 1), jnp.einsum("bk,bk->b", x, x), jax.nn.one_hot(at, 6), jax.vmap(lambda r: r - r.max())(x), lax.scan(lambda c, v: (c + v.sum(), c), 0.0, x), lax.map(lambda r: r.sum(), x), jnp.prod(y), lax.while_loop(lambda s: s[0] < y.shape[0], lambda s: (s[0] + 1, s[1] + y[s[0]]), (0, 0.0)), x.T, jnp.linspace(0.0, 1.0, 5) * y[0], lax.cond(i > 2, lambda: x, lambda: x * 2), jnp.all(x > -100), x.mean(0, keepdims=True) + x)


@program(f32(6), f32(5, 4), sizes=("n", "b, 4"))
def symbolic_running_and_orders(y, x):
    return jnp.cumsum(y), jnp.cumsum(x, 0), lax.cummax(x, 0), jnp.cumprod(x, 1)


@program(f32(6), f32(5, 4), sizes=("n", "b, 4"))
def symbolic_sorts(y, x):
    return jnp.sort(y), jnp.argsort(x, 0), jnp.sort(x, 1), lax.top_k(x, 2), jnp.median(x, 1)


@program(f32(6, 3), f32(3), i32(6, low=0, high=3), sizes=("n, 3", None, "n"))
def symbolic_scatters(x, w, at):
    return jax.ops.segment_sum(x, at, 3), jnp.zeros(3).at[at].add(x[:, 0]), jnp.zeros((3, 3)).at[at].max(x), x.at[0].set(w), x.at[:, 1].add(1.0)


@program(f32(4, 4), f32(6), f32(2, 5, 5), tolerance=1e-4)
def norms_and_powers(m, v, batch):
    return ([jnp.linalg.norm(m, o) for o in (None, "fro", 1, -1, jnp.inf, -jnp.inf)], [jnp.linalg.norm(v, o) for o in (0, 1, 2, 3, jnp.inf, -jnp.inf)], jnp.linalg.matrix_power(m, 3), jnp.linalg.matrix_power(m + 4 * jnp.eye(4), -2), jnp.linalg.det(m), jnp.linalg.slogdet(batch), jax.scipy.linalg.lu(m), jax.scipy.linalg.expm(m), jnp.linalg.vector_norm(batch, axis=(0, 1)), jnp.linalg.matrix_norm(batch), jnp.linalg.inv(batch + 6 * jnp.eye(5)), jnp.linalg.tensorsolve((m + 5 * jnp.eye(4)).reshape(2, 2, 2, 2), m[:2, :2]), jnp.linalg.cross(m[:, :3], m[:, 1:]), jax.scipy.linalg.solve(m @ m.T + jnp.eye(4), m, assume_a="pos"), jnp.linalg.cholesky(batch @ batch.mT + jnp.eye(5)), jax.scipy.linalg.lu_solve(jax.scipy.linalg.lu_factor(m + 4 * jnp.eye(4)), v[:4]), lax.linalg.tridiagonal_solve(v[:4], v[:4] + 5, v[1:5], m))


@program(f32(2, 5), f32(2, 5), f32(2, 5), f32(2, 5, 3), tolerance=2e-3)
def systems_of_tridiagonal_matrices(low, middle, high, b):
    solve = lax.linalg.tridiagonal_solve
    gradients = jax.grad(lambda *all: (solve(*all) ** 2).sum(), (0, 1, 2, 3))(low, middle + 5, high, b)
    return (solve(low, middle, high, b), solve(low, middle * 0.01, high, b), solve(low[0], middle[0], high[0], b[0]), [solve(low[:, :n], middle[:, :n], high[:, :n], b[:, :n]) for n in (1, 2)],
            jax.vmap(solve, (0, None, None, 1))(low, middle[0], high[0], b.transpose(1, 0, 2)), solve(low * 0, middle.at[0, 1].set(0), high, b), gradients)


@program(f32(4, 7), f32(4, 7, low=3, high=5), f32(4, 7), f32(4, 7, 2), sizes=("b, n", "b, n", "b, n", "b, n, 2"), tolerance=1e-4)
def systems_of_tridiagonal_matrices_of_unknown_sizes(low, middle, high, b):
    return lax.linalg.tridiagonal_solve(low, middle, high, b)


@program(f32(4, 4), f32(6, 4), f32(6), f32(3, 4, 4), libraries=("lapack",), tolerance=2e-3)
def factors_by_library(m, tall, b, batch):
    s = m + m.T
    w, v = jnp.linalg.eigh(s)
    u, d, vt = jnp.linalg.svd(tall, full_matrices=False)
    q, r = jnp.linalg.qr(tall)
    return (w, jnp.abs(v), (u * d) @ vt, q @ r, jnp.linalg.lstsq(tall, b)[0], jnp.linalg.pinv(tall), jnp.linalg.cond(m), jnp.linalg.matrix_rank(tall), jnp.linalg.norm(m, "nuc"), jnp.linalg.norm(batch, 2, (1, 2)), jnp.linalg.svdvals(batch), jax.grad(lambda s: jnp.linalg.eigh(s + s.T)[0][0])(m), jax.grad(lambda t: jnp.linalg.svd(t, compute_uv=False).sum())(tall), jax.scipy.linalg.polar(tall)[0], jax.scipy.linalg.sqrtm(m @ m.T + jnp.eye(4)).real if False else d, jnp.polyfit(b, b ** 2, 2), jax.vmap(jnp.linalg.eigvalsh)(batch + batch.mT))


@program(f32(4, 4), libraries=("lapack",), tolerance=2e-3)
def eigenvalues_of_any_matrix(m):
    return jnp.abs(jnp.linalg.eigvals(m)).sum()


@program(c64(2, 3, 4, 5), f32(2, 6, 5), tolerance=1e-4)
def real_transforms_of_several_dimensions(z, x):
    f = jnp.fft
    return ([f.irfftn(z, s, axes) for s, axes in (((3, 8), (2, 3)), ((3, 7), (1, 3)), ((5, 2), (1, 2)), ((2, 4, 9), (1, 2, 3)), ((1, 1), (2, 3)))], f.rfftn(x), f.rfft2(x, (3, 9)), f.irfft2(f.rfft2(x), (6, 5)), f.ifftn(z, axes=(0, 2, 3)), f.fftn(x, (3, 3, 2)),
            jax.grad(lambda x: f.irfft2(f.rfft2(x) ** 2).sum() + jnp.abs(f.rfftn(x)).sum())(x))


@program(f32(2, 6000), f32(2, 1031), c64(1, 3 * 257), f32(70, 3, 66), tolerance=1e-3)
def transforms_of_long_rows(x, prime, z, t):
    """Lengths with divisors, and without."""
    f = jnp.fft
    return f.rfft(x), f.irfft(f.rfft(x)), f.fft(x[:, :4096]), f.rfft(prime), f.ifft(f.fft(prime)), f.irfft(f.rfft(prime), 1031), f.fft(z), f.ifft(z), f.rfftn(t), f.fftn(t, axes=(0, 1))


@program(f32(3, 12), c64(2, 7), f32(4, 6), f32(2, 3, 4, 5), tolerance=1e-4)
def transforms_of_all_kinds(x, z, y, t):
    f = jnp.fft
    return (f.fft(x), f.ifft(z), f.rfft(x, 10), f.irfft(z), f.fft(z, 9, norm="ortho"), f.fft2(y), f.ifft2(y, norm="forward"), f.rfftn(t), f.irfftn(f.rfftn(t), t.shape), f.fftn(t, axes=(1, 3)), f.fftshift(y), f.ifftshift(x, 1), f.fftfreq(7) * x[0, 0], f.rfftfreq(6, 0.5) * x[0, 0], f.hfft(z), f.ihfft(x), jax.scipy.signal.fftconvolve(x[0], x[1, :5]), jax.scipy.fft.dct(x), jax.scipy.fft.idct(x), jax.scipy.fft.dctn(y), jax.scipy.signal.stft(x[0], nperseg=4)[2], jax.grad(lambda x: jnp.abs(f.rfft(x)).sum())(x), f.fft(x[:, :1]), f.rfft(x[:, :2]), f.irfft(z[:, :2]))


@program(f32(1, 6, 8, 3), f32(5, 7))
def images_of_all_methods(x, y):
    return ([jax.image.resize(x, (1, 9, 5, 3), m) for m in ("nearest", "linear", "cubic", "lanczos3", "lanczos5")], jax.image.resize(y, (3, 14), "linear", antialias=False), jax.image.scale_and_translate(y, (6, 6), (0, 1), jnp.array([1.2, 0.8]), jnp.array([0.3, -0.4]), "linear"), [jax.scipy.ndimage.map_coordinates(y, [jnp.linspace(-1.0, 5, 6), jnp.linspace(0.0, 8, 6)], o, mode=m) for o in (0, 1) for m in ("constant", "nearest", "wrap", "mirror", "reflect")], jax.nn.standardize(y), jax.nn.glu(y[:, :6]), jax.nn.one_hot(jnp.argmax(y, 1), 7, axis=0), jax.lax.sort_key_val(y, -y))


@program(f32(5), f32(3, 5), i32(low=0, high=3), i32(4, low=0, high=4), boolean())
def control_of_all_kinds(x, m, which, ids, flag):
    def nested(x):
        def outer(i, s):
            def inner(j, t):
                return lax.cond((i + j) % 2 == 0, lambda t: t * 1.1, lambda t: t - 0.1, t)

            return lax.fori_loop(i, 4, inner, s)

        return lax.fori_loop(0, 3, outer, x)

    def pair(s):
        a, (b, n) = s
        return jnp.sin(a) + b, (b * 0.9, n + (a.sum() > 0))

    def gcd(a, b):
        return lax.while_loop(lambda s: s[1] != 0, lambda s: (s[1], s[0] % s[1]), (a, b))[0]

    return (nested(x), lax.switch(which, [lambda x: x, jnp.sin, lambda x: x[::-1]], x), lax.switch(which - 7, [lambda x: x, jnp.sin], x), lax.switch(which + 9, [lambda x: x, jnp.sin], x), lax.while_loop(lambda s: (s[1][1] < 6) & jnp.all(jnp.abs(s[0]) < 100), pair, (x, (x, 0))), lax.cond(flag, lambda a, b: (a, b), lambda a, b: (b, a), x, m[0]), lax.cond(jnp.all(m > 0), lambda: 1, lambda: lax.cond(flag, lambda: 2, lambda: 3)), lax.scan(lambda c, i: (c.at[i].add(1.0), c[i]), x, ids), lax.scan(lambda c, v: (c, v), 0, {"a": x, "b": jnp.arange(5)}), lax.scan(lambda c, _: (c * 0.5, c), x, None, 3, unroll=3), lax.scan(lambda c, r: lax.scan(lambda d, v: (d + v, d * v), c, r), 0.0, m), lax.map(lambda i: lax.dynamic_slice_in_dim(x, i, 2).sum(), ids), jax.vmap(gcd)(jnp.array([12, 35, 0, 7]), ids), lax.fori_loop(0, which + 2, lambda i, s: s + lax.switch(i % 3, [lambda: 1.0, lambda: x[0], lambda: x.sum()]), 0.0), lax.associative_scan(jnp.matmul, jnp.stack([m[:, :3], m[:, 1:4], m[:, 2:]])), lax.while_loop(lambda s: s < 1000, lambda s: s * 3 + 1, which), lax.fori_loop(5, 0, lambda i, s: s + 1, 0), lax.while_loop(lambda s: ~s[0], lambda s: (s[1].sum() > 20, s[1] + 1), (flag & False, x)))


@program(f32(4, 3), i32(9, low=0, high=2))
def loops_with_state_on_the_host(x, digits):
    def automaton(state, d):
        state = lax.switch(state, [lambda d: jnp.where(d == 1, 1, 0), lambda d: jnp.where(d == 1, 2, 0), lambda d: 2 + 0 * d], d)
        return state, state == 2

    def life(_, board):
        around = sum(jnp.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        return ((around == 3) | ((board == 1) & (around == 2))).astype(jnp.int32)

    def sieve(i, prime):
        return jnp.where(prime[i] & (jnp.arange(40) % jnp.maximum(i, 2) == 0) & (jnp.arange(40) > i), False, prime)

    def edit(a, b):
        first = jnp.arange(b.shape[0] + 1)

        def row(before, ai):
            def cell(left, at):
                up, diagonal, bj = at
                new = jnp.minimum(jnp.minimum(up, left) + 1, diagonal + (ai != bj))
                return new, new

            _, rest = lax.scan(cell, before[0] + 1, (before[1:], before[:-1], b))
            return jnp.concatenate([before[:1] + 1, rest]), None

        return lax.scan(row, first, a)[0][-1]

    def bubble(v):
        def inner(j, v):
            a, b = v[j], v[j + 1]
            return v.at[j].set(jnp.minimum(a, b)).at[j + 1].set(jnp.maximum(a, b))

        return lax.fori_loop(0, 11, lambda i, v: lax.fori_loop(0, 11 - i, inner, v), v)

    board = (x > 0).astype(jnp.int32)
    return lax.scan(automaton, 0, digits), lax.fori_loop(0, 4, life, jnp.pad(board, 2)), lax.fori_loop(2, 7, sieve, jnp.arange(40) > 1), edit(digits, digits[::-1][:6]), bubble(x.reshape(-1))


@program(f32(6, 6, low=1, high=9), i32(low=0, high=6))
def graphs_by_loops(weights, source):
    far = weights.at[jnp.arange(6), jnp.arange(6)].set(0.0)
    floyd = lax.fori_loop(0, 6, lambda k, d: jnp.minimum(d, d[:, k, None] + d[None, k]), far)

    def dijkstra(_, state):
        distance, done = state
        u = jnp.argmin(jnp.where(done, jnp.inf, distance))
        return jnp.minimum(distance, distance[u] + far[u]), done.at[u].set(True)

    distance, _ = lax.fori_loop(0, 6, dijkstra, (jnp.full(6, jnp.inf).at[source].set(0.0), jnp.zeros(6, bool)))
    rank = lax.while_loop(lambda s: (s[1] > 1e-6) & (s[2] < 50), lambda s: ((n := 0.15 / 6 + 0.85 * (weights / weights.sum(0)) @ s[0]), jnp.abs(n - s[0]).sum(), s[2] + 1), (jnp.full(6, 1 / 6), 1.0, 0))[0]
    knapsack = lax.scan(lambda best, item: (jnp.maximum(best, jnp.where(jnp.arange(12) >= item[0], jnp.roll(best, item[0]) + item[1], 0)), None), jnp.zeros(12), (jnp.array([3, 4, 5]), weights[0, :3]))[0]
    return floyd, distance, rank, knapsack, jax.scipy.spatial.transform.Rotation.from_rotvec(weights[0, :3]).as_matrix() if False else floyd.T


@program(f32(6, 8), f32(8, 5), i8(6, 8), i8(8, 5), f16(6, 8), f16(8, 5), u8(6, 8, low=0, high=255), u8(8, 5, low=0, high=255), i32(6, 8), f64(8, 5), x64=True, tolerance=1e-2)
def products_of_all_types(a, b, c, d, e, f, g, h, n, w):
    dims = (((1,), (0,)), ((), ()))
    return (a @ b, lax.dot_general(c, d, dims, preferred_element_type=jnp.int32), lax.dot_general(c, d, dims), e @ f, lax.dot_general(e, f, dims, preferred_element_type=jnp.float32), lax.dot_general(g, h, dims, preferred_element_type=jnp.uint32), n @ n.T, a @ w, (a > 0) @ (b > 0), jnp.matvec(a, b[:, 0]), jnp.vecmat(a[:, 0], a), lax.dot_general(a.reshape(3, 2, 8), a.reshape(3, 2, 8), (((2,), (2,)), ((0,), (0,)))), lax.dot_general(a.reshape(2, 3, 8), b.reshape(2, 4, 5), (((2,), (2,)), ((), ())), ) if False else a.T @ a, lax.batch_matmul(a.reshape(2, 3, 8), jnp.stack([b, b])), jnp.matmul(a, b, precision="highest"), lax.dot_general(c, d.astype(jnp.int32), dims, preferred_element_type=jnp.int32) if False else c @ d, a[:, :0] @ b[:0], jnp.linalg.matmul(a[0], b), jnp.dot(a[0], a[1]), lax.dot_general(a.reshape(6, 2, 4), b.reshape(4, 2, 5), (((1, 2), (1, 0)), ((), ()))))


@program(f32(6, 5), f32(5), f32(5, 3), f32(6, 3), tolerance=1e-5)
def sparse_products(dense, v, m, turned):
    """Of each form, real and complex, forward and backward."""
    from jax.experimental import sparse
    dense = jnp.where(jnp.abs(dense) > 0.7, dense, 0)
    forms = [kind.fromdense(dense, nse=30) for kind in (sparse.BCOO, sparse.BCSR, sparse.COO, sparse.CSR)]
    wide = sparse.BCSR.fromdense(dense * (1 + 2j), nse=30)
    return ([a @ v for a in forms], [a @ m for a in forms], [a.todense() for a in forms], [forms[i].T @ turned for i in (0, 2, 3)],
            [jax.grad(lambda x, a=a: ((a @ x) ** 2).sum())(m) for a in forms[:2]], jnp.real(wide @ (m * 1j)), sparse.BCSR.fromdense((dense * 4).astype(int), nse=30) @ jnp.arange(5))
