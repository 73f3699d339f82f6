"""Arrays of JAX on their way into a program and out of it.

What stands here is asked for each leaf of each call, so it goes around the slow doors of JAX where JAX lets it: a result is
taken through DLPack without the questions that jax.numpy.from_dlpack asks each time (which fall back to it).
"""
import numpy as np

import jax
from jax.core import Tracer

import baton

try:
    from jax._src.lib import _jax as _inner
except ImportError:
    _inner = None


class Traced(Exception):
    """An argument is what JAX traces, and no array."""


_ARRAY = type(jax.numpy.zeros(()))
_WIDE = {np.dtype(wide): np.dtype(narrow) for wide, narrow in (("int64", "int32"), ("uint64", "uint32"), ("float64", "float32"),
                                                              ("complex128", "complex64"))}


def is_wide():
    """Whether JAX has numbers of 64 bits now."""
    return jax.config.jax_enable_x64


def kind(leaf):
    """What a program is compiled for: equal for arguments that one program takes."""
    if type(leaf) is _ARRAY:
        return leaf.shape, leaf.dtype, leaf.weak_type
    if isinstance(leaf, Tracer):
        raise Traced
    if hasattr(leaf, "dtype") and hasattr(leaf, "shape"):
        return tuple(leaf.shape), str(leaf.dtype), getattr(leaf, "weak_type", False)
    return type(leaf)


def typed(argument):
    """The shapes and types of an argument, as JAX sees them."""
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(np.shape(leaf), jax.numpy.result_type(leaf)), argument)


# In ------------------------------------------------------------------------------------------------------------------


def taking(leaf):
    """What makes of such a leaf something that the program takes; None where it takes the leaf itself."""
    if type(leaf) is _ARRAY:
        return None
    if hasattr(leaf, "dtype") and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.key_data
    if type(leaf) in (bool, int, float):
        return None  # In the type that the program declares.
    if isinstance(leaf, (np.ndarray, np.generic)):
        narrow = _WIDE.get(leaf.dtype) if not is_wide() else None
        return (lambda array: np.asarray(array, narrow)) if narrow or not isinstance(leaf, np.ndarray) else None
    return jax.numpy.asarray


def give_up(leaf):
    """A donated array is its caller's no more."""
    if isinstance(leaf, jax.Array):
        leaf.delete()


def refuse_deleted(leaves):
    """Says of arrays that were donated before what they are."""
    for leaf in leaves:
        if isinstance(leaf, jax.Array) and leaf.is_deleted():
            raise RuntimeError(f"an argument, a {leaf.dtype.name}{list(leaf.shape)}, has been deleted: it was donated to an earlier call")


# Out -----------------------------------------------------------------------------------------------------------------


def _from_dlpack(result):
    try:
        return jax.numpy.from_dlpack(result)
    except (baton.PermissionDeniedError, BufferError, RuntimeError):
        return _copied(result)


def _copied(result):
    """What JAX does not take in place: memory that nobody may write (a constant of the program, an argument as it was), which JAX's
    DLPack cannot say, and memory of a device that JAX does not work on."""
    return jax.numpy.array(np.asarray(result))


def _straight(result):
    """In place, on the host: what jax.numpy.from_dlpack comes to after its questions."""
    try:
        if result.__dlpack_device__()[0] != 1:
            return _from_dlpack(result)
        return _inner.dlpack_managed_tensor_to_buffer(result.__dlpack__(), _host_device(), None, None, 1)
    except (baton.PermissionDeniedError, BufferError):
        return _copied(result)


_host = None


def _host_device():
    global _host
    if _host is None:
        _host = jax.local_devices(backend="cpu")[0]
    return _host


def _works(convert):
    """Whether this JAX has the inner door as we know it."""
    class Numbers:
        def __init__(self):
            self.array = np.arange(16, dtype=np.float32)

        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self):
            return self.array.__dlpack__()

    try:
        made = convert(Numbers())
        return type(made) is _ARRAY and made.tolist() == list(range(16))
    except Exception:  # noqa: BLE001 - whatever another JAX says.
        return False


_chosen = None


def _out():
    global _chosen
    if _chosen is None:
        _chosen = _straight if _inner is not None and _works(_straight) else _from_dlpack
    return _chosen


def giving(info):
    """What makes of a program's result the leaf that JAX would give."""
    out = _out()
    if jax.dtypes.issubdtype(info.dtype, jax.dtypes.prng_key):
        return lambda result: jax.random.wrap_key_data(out(result), impl=info.dtype._impl)
    if getattr(info, "weak_type", False):
        return lambda result: _weak(out(result))
    return out


def _weak(array):
    """Numbers whose type was Python's choice give way to others in what comes after."""
    from jax._src.lax import lax
    return lax._convert_element_type(array, weak_type=True)
