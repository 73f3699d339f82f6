"""Eigenvectors and singular vectors by rotations of two columns at a time, as Jacobi found them: many pairs at once, none of which share a
column, and after each round other pairs, until every column met every other. A few such sweeps make a matrix diagonal, or its columns
orthogonal, as exactly as its numbers are. On any device, of real and complex matrices, batches together.
"""
import jax.numpy as jnp
from jax import lax

_SWEEPS = 24


def _halves(x, axis):
    half = x.shape[axis] // 2
    return lax.slice_in_dim(x, 0, half, axis=axis), lax.slice_in_dim(x, half, 2 * half, axis=axis)


def _next_pairs(low, high, axis):
    """The first one stays, the others move on by one place, as people around a table do."""
    half = low.shape[axis]
    if half == 1:
        return jnp.concatenate([low, high], axis)

    def part(x, begin, end):
        return lax.slice_in_dim(x, begin, end, axis=axis)

    return jnp.concatenate([part(low, 0, 1), part(high, 0, 1), part(low, 1, half - 1), part(high, 1, half), part(low, half - 1, half)], axis)


def _rotation(first, second, across):
    """(cosine, sine, phase) that make the product `across` of two columns 0, whose own products are `first` and `second`."""
    size = jnp.abs(across)
    safe = jnp.where(size == 0, 1, size)
    slope = (second - first) / (2 * safe)
    tangent = jnp.where(slope < 0, -1, 1) / (jnp.abs(slope) + jnp.sqrt(1 + slope * slope))
    tangent = jnp.where(size == 0, 0, tangent).astype(size.dtype)
    cosine = lax.rsqrt(1 + tangent * tangent)
    return cosine, tangent * cosine, jnp.where(size == 0, 1, across / safe)


def _turned_columns(x, cosine, sine, phase):
    low, high = _halves(x, x.ndim - 1)
    cosine, sine, high = cosine[..., None, :], sine[..., None, :], high * jnp.conj(phase)[..., None, :]
    return _next_pairs(cosine * low - sine * high, sine * low + cosine * high, x.ndim - 1)


def _turned_rows(x, cosine, sine, phase):
    low, high = _halves(x, x.ndim - 2)
    cosine, sine, high = cosine[..., :, None], sine[..., :, None], high * phase[..., :, None]
    return _next_pairs(cosine * low - sine * high, sine * low + cosine * high, x.ndim - 2)


def _with_room(x, rows):
    missing = x.shape[-1] % 2
    return jnp.pad(x, [(0, 0)] * (x.ndim - 2) + [(0, missing if rows else 0), (0, missing)])


def _one(size, batch, dtype):
    return jnp.broadcast_to(jnp.eye(size, dtype=dtype), (*batch, size, size))


def eigenvectors(a):
    """(values in rising order, vectors) of matrices that are their own conjugate turned."""
    size, batch = a.shape[-1], a.shape[:-2]
    if not a.size:
        return jnp.zeros(a.shape[:-1], jnp.real(a).dtype), a
    epsilon = jnp.finfo(a.dtype).eps
    wide = _with_room(a, True)
    count = wide.shape[-1]
    limit = (epsilon * epsilon) * jnp.sum(jnp.square(jnp.abs(a)), (-2, -1))

    def beside(a):
        return jnp.sum(jnp.where(jnp.eye(count, dtype=bool), 0, jnp.square(jnp.abs(a))), (-2, -1))

    def turn(_, carried):
        a, v = carried
        low, high = _halves(a, a.ndim - 2)
        heads = jnp.real(jnp.diagonal(a, axis1=-2, axis2=-1))
        across = jnp.diagonal(_halves(low, a.ndim - 1)[1], axis1=-2, axis2=-1)
        how = _rotation(*_halves(heads, heads.ndim - 1), across)
        return _turned_rows(_turned_columns(a, *how), *how), _turned_columns(v, *how)

    def sweep(carried):
        sweeps, a, v = carried
        return sweeps + 1, *lax.fori_loop(0, max(count - 1, 1), turn, (a, v))

    def goes_on(carried):
        return (carried[0] < _SWEEPS) & jnp.any(beside(carried[1]) > limit)

    _, made, v = lax.while_loop(goes_on, sweep, (0, wide, _one(count, batch, a.dtype)))
    values = jnp.real(jnp.diagonal(made, axis1=-2, axis2=-1))[..., :size]
    order = jnp.argsort(values, -1)
    return jnp.take_along_axis(values, order, -1), jnp.take_along_axis(v[..., :size, :size], order[..., None, :], -1)


def singular_vectors(a, is_full):
    """(u, values in falling order, v) of matrices with no fewer rows than columns."""
    rows, columns = a.shape[-2:]
    batch = a.shape[:-2]
    if not a.size:
        return _one(rows, batch, a.dtype)[..., : rows if is_full else 0], jnp.zeros((*batch, columns), jnp.real(a).dtype), _one(columns, batch, a.dtype)
    q, r = jnp.linalg.qr(a, "complete" if is_full else "reduced")
    wide = _with_room(r[..., :columns, :], False)
    count = wide.shape[-1]
    limit = jnp.finfo(a.dtype).eps * columns**0.5

    def turn(_, carried):
        a, v, worst = carried
        low, high = _halves(a, a.ndim - 1)
        first, second = (jnp.sum(jnp.square(jnp.abs(each)), -2) for each in (low, high))
        across = jnp.sum(jnp.conj(low) * high, -2)
        room = jnp.sqrt(first) * jnp.sqrt(second)
        share = jnp.max(jnp.where(room == 0, 0, jnp.abs(across) / jnp.where(room == 0, 1, room)))
        how = _rotation(first, second, across)
        return _turned_columns(a, *how), _turned_columns(v, *how), jnp.maximum(worst, share)

    def sweep(carried):
        sweeps, a, v, _ = carried
        return sweeps + 1, *lax.fori_loop(0, max(count - 1, 1), turn, (a, v, jnp.zeros((), limit.dtype)))

    def goes_on(carried):
        return (carried[0] < _SWEEPS) & (carried[3] > limit)

    limit = jnp.asarray(limit, jnp.real(a).dtype)
    _, made, v, _ = lax.while_loop(goes_on, sweep, (0, wide, _one(count, batch, a.dtype), jnp.ones((), limit.dtype)))
    made, v = made[..., :columns], v[..., :columns, :columns]
    order = jnp.argsort(-jnp.sum(jnp.square(jnp.abs(made)), -2), -1)
    made, v = (jnp.take_along_axis(each, order[..., None, :], -1) for each in (made, v))
    # Columns that are orthogonal are those of u times the values; of those that are 0 the others' complement tells u.
    u, heads = jnp.linalg.qr(made)
    heads = jnp.diagonal(heads, axis1=-2, axis2=-1)
    values = jnp.abs(heads)
    u = u * jnp.where(values == 0, 1, heads / jnp.where(values == 0, 1, values))[..., None, :]
    u = jnp.concatenate([jnp.matmul(q[..., :columns], u), q[..., columns:]], -1)
    return u, values, v
