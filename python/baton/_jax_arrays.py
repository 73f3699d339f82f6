"""Arrays of JAX on their way into a program and out of it.

What stands here is asked for each leaf of each call, so it goes around the slow doors of JAX where JAX lets it: a result is
taken through DLPack without the questions that jax.numpy.from_dlpack asks each time (which fall back to it).
"""
import itertools
import threading
import weakref

import numpy as np

import jax
from jax.core import Tracer

import baton
from baton._baton import later

try:
    from jax._src.lib import _jax as _inner
except ImportError:
    _inner = None
try:
    from jax._src.config import trace_context as _trace_settings
except ImportError:
    def _trace_settings():
        return is_wide()


class Traced(Exception):
    """An argument is what JAX traces, and no array."""


_ARRAY = type(jax.numpy.zeros(()))
_WIDE = {np.dtype(wide): np.dtype(narrow) for wide, narrow in (("int64", "int32"), ("uint64", "uint32"), ("float64", "float32"),
                                                              ("complex128", "complex64"))}


def is_wide():
    """Whether JAX has numbers of 64 bits now."""
    return jax.config.jax_enable_x64


_settings_seen = (None, 0)
_setting_numbers = {}  # What JAX's settings are -> a number
_next_number = itertools.count(1)


def settings():
    """A number for what JAX's settings say that its traces depend on: a program is compiled for them, too. They are some forty values,
    and to hash them takes as long as a tenth of a call; they are those of the last call nearly always."""
    global _settings_seen
    now = _trace_settings()
    seen = _settings_seen
    if seen[0] == now:
        return seen[1]
    number = _setting_numbers.setdefault(now, next(_next_number))
    _settings_seen = now, number
    return number


def kind(leaf):
    """What a program is compiled for: equal for arguments that one program takes."""
    if type(leaf) is _ARRAY:
        return leaf.shape, leaf.dtype, leaf.weak_type
    if isinstance(leaf, Tracer):
        raise Traced
    if isinstance(leaf, (np.ndarray, np.generic)):
        return leaf.shape, str(leaf.dtype), False
    if hasattr(leaf, "dtype") and hasattr(leaf, "shape") and not isinstance(leaf, type):  # A type of NumPy's is no array.
        return tuple(leaf.shape), str(leaf.dtype), getattr(leaf, "weak_type", False), type(leaf)
    return type(leaf)


def is_small_float(dtype):
    """A float of 8 bits, which tensors have as bytes of the same bits."""
    return dtype.itemsize == 1 and jax.dtypes.issubdtype(dtype, np.floating)


def byte_of(dtype):
    """The bytes that a program has for integers of 2 and 4 bits; None for all else."""
    if dtype.itemsize != 1 or not jax.dtypes.issubdtype(dtype, np.integer) or jax.numpy.iinfo(dtype).bits == 8:
        return None
    return np.dtype("int8" if jax.dtypes.issubdtype(dtype, np.signedinteger) else "uint8")


def is_converted(dtype):
    """Whether the memory of such an array is never a program's."""
    return is_small_float(dtype) or byte_of(dtype) is not None


def is_float0(dtype):
    """What JAX gives for the gradient of an integer: nothing, in the shape of it. Programs have booleans there."""
    return dtype == jax.dtypes.float0


def typed(argument):
    """The shapes and types of an argument, as JAX sees them."""
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(np.shape(leaf), jax.numpy.result_type(leaf)), argument)


# In ------------------------------------------------------------------------------------------------------------------


def taking(leaf):
    """What makes of such a leaf something that the program takes; None where it takes the leaf itself. It serves every leaf of the same kind()."""
    if isinstance(leaf, jax.ShapeDtypeStruct):
        raise TypeError(f"an argument is {leaf}, a shape without numbers: a call takes arrays, .lower() and .program() take shapes")
    if hasattr(leaf, "dtype") and not isinstance(leaf, type):
        if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return jax.random.key_data
        if is_float0(leaf.dtype):
            return lambda array: np.zeros(array.shape, bool)
        if is_small_float(np.dtype(leaf.dtype)):
            return _bits
        if byte := byte_of(np.dtype(leaf.dtype)):
            return lambda array: _read_only(np.asarray(array).astype(byte))
    if type(leaf) is _ARRAY:
        return None
    if type(leaf) is float and not is_wide():
        return _in_f32
    if type(leaf) in (bool, int, float):
        return None  # In the type that the program declares.
    if isinstance(leaf, (np.ndarray, np.generic)):
        narrow = _WIDE.get(leaf.dtype) if not is_wide() else None
        return (lambda array: _narrowed(array, narrow)) if narrow else _read_only
    return jax.numpy.asarray


def _bits(array):
    return _read_only(np.asarray(array).view(np.int8))


def _read_only(array):
    """The caller may change an array of NumPy afterwards, and results of JAX never change: none of them is its memory."""
    view = np.asarray(array).view()  # One of NumPy's scalars is of the same kind as an array without dimensions.
    view.flags.writeable = False
    return view


def _narrowed(array, dtype):
    with np.errstate(over="ignore"):  # As with JAX.
        return np.asarray(array, dtype)


_LARGEST_F32 = float(np.finfo(np.float32).max)


def _in_f32(number):
    """A float of Python, which is infinite for JAX where an f32 is, and which programs refuse there."""
    if -_LARGEST_F32 <= number <= _LARGEST_F32:
        return number
    with np.errstate(over="ignore"):
        return float(np.float32(number))


# Donated -------------------------------------------------------------------------------------------------------------
#
# A donated array is written in place where its memory is nobody else's. What a program gave before and JAX is through with
# goes back to the program (a loan); large arrays of JAX's own are donated to JAX's identity first, which makes one of the
# same memory that nobody has. All else, small arrays and those of NumPy among it, is read-only, and the extension copies
# what a program consumes and may not write.

#
# JAX deletes what it hands over, and there is no way back: it comes last, when all other arguments are converted (later).

_LARGE = 1 << 16  # Bytes; a copy of fewer takes less time than JAX's identity.
_loans = {}  # Of an array that came from a program: its id -> (a weak reference to it, the tensor that was lent).
_turn = threading.RLock()  # Of several threads that donate one array, one has it.


class _Writable:
    """The memory of an array that nobody else has. The extension takes arrays of JAX itself as read-only, and this as writable."""

    def __init__(self, array):
        self._array = array

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return self._array.__dlpack__(stream=stream)

    def __array__(self, dtype=None, copy=None):  # For a device that takes copies.
        return np.asarray(self._array, dtype)


_pass_on = jax.jit(lambda array: array, donate_argnums=0)


def handing_over(leaf, given, index, handed):
    """What a program gets in place of a donated leaf, for which it would be given `given`. `index` is added to `handed` when the
    leaf is handed over."""
    if type(leaf) is not _ARRAY or is_converted(leaf.dtype) or (id(leaf) not in _loans and (leaf.nbytes < _LARGE or not leaf.is_fully_addressable)):
        return given
    return later(lambda: _handed_over(leaf, given, index, handed))


def _handed_over(leaf, given, index, handed):
    with _turn:
        refuse_deleted([leaf])  # Another thread may have donated it meanwhile.
        reference, loan = _loans.get(id(leaf), (None, None))
        if loan is not None and reference() is leaf:
            leaf.delete()  # Who has views of it keeps the memory on loan, and the program gets a copy.
            _loans.pop(id(leaf), None)
            handed.append(index)
            return loan
        if leaf.nbytes < _LARGE or not leaf.is_fully_addressable:
            return given
        made = _pass_on(leaf)
        if made is leaf:  # jax.disable_jit()
            return given
        handed.append(index)
        return _Writable(made)


def give_up(leaf):
    """A donated array is its caller's no more."""
    if isinstance(leaf, jax.Array) and not leaf.is_deleted():
        leaf.delete()


def refuse_deleted(leaves):
    """Says of arrays that were donated before what they are."""
    for leaf in leaves:
        if isinstance(leaf, jax.Array) and leaf.is_deleted():
            raise RuntimeError(f"an argument, a {leaf.dtype.name}{list(leaf.shape)}, has been deleted: it was donated to an earlier call")


def refuse_given_twice(leaves, donated):
    """A donated array is no other argument of the call."""
    seen = {}
    for index, leaf in enumerate(leaves):
        if isinstance(leaf, jax.Array):
            seen.setdefault(id(leaf), []).append(index)
    for index in donated:
        places = seen.get(id(leaves[index]), ())
        if len(places) > 1:
            leaf = leaves[index]
            raise RuntimeError(f"a donated argument, a {leaf.dtype.name}{list(leaf.shape)}, is given to the same call twice: "
                               f"it is leaf {places[0]} and leaf {places[1]} of the arguments; copy one of them")


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


def _lent(convert):
    """The same, and the tensor is kept for when the array is donated."""
    def give(result):
        loan = result._lend()
        if loan is None:
            return convert(result)
        array = convert(loan)
        key = id(array)
        _loans[key] = (weakref.ref(array, lambda _: _forget(key)), loan)
        return array
    return give


def _forget(key):
    """The array is gone; its id may be another's by now."""
    reference, _ = _loans.get(key, (None, None))
    if reference is not None and reference() is None:
        _loans.pop(key, None)


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


def lending(info, donated):
    """giving() for a function whose next call may be given the leaf back in place of one of the `donated`."""
    fits = any(tuple(each.shape) == tuple(info.shape) and each.dtype == info.dtype and not is_converted(each.dtype) for each in donated)
    return giving(info, _lent(_out()) if fits else None)


def giving(info, out=None):
    """What makes of a program's result the leaf that JAX would give."""
    out = out or _out()
    if jax.dtypes.issubdtype(info.dtype, jax.dtypes.prng_key):
        return lambda result: jax.random.wrap_key_data(out(result), impl=info.dtype._impl)
    if is_float0(info.dtype):
        nothing = jax.jit(lambda array: array)(np.zeros(info.shape, jax.dtypes.float0))  # Of the type that this JAX has for it.
        return lambda result: nothing
    if byte_of(info.dtype):
        return lambda result: out(result).astype(info.dtype)
    if is_small_float(info.dtype):
        return lambda result: jax.lax.bitcast_convert_type(out(result), info.dtype)
    if getattr(info, "weak_type", False):
        return lambda result: _weak(out(result))
    return out


def _weak(array):
    """Numbers whose type was Python's choice give way to others in what comes after."""
    from jax._src.lax import lax
    return lax._convert_element_type(array, weak_type=True)
