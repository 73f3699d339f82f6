"""Values that the extension cannot take as they are, made into arrays that it can. Imported when one comes."""
import numpy as np

from baton._errors import described

_NUMPY = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "ui8": "uint8", "ui16": "uint16",
          "ui32": "uint32", "ui64": "uint64", "si8": "int8", "si16": "int16", "si32": "int32", "si64": "int64",
          "f16": "float16", "f32": "float32", "f64": "float64", "complex<f32>": "complex64",
          "complex<f64>": "complex128"}
_KINDS = "bic"  # A number of a kind is taken by an element type of the same or a later one.


def _rank(kind):
    return {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}.get(kind, 4)


def _natural(value, declared):
    """The array that NumPy makes. Ints beyond 64 bits are none of its numbers, and still numbers of a float or complex type."""
    natural = np.asarray(value)
    if natural.dtype.kind != "O" or not natural.size or not all(isinstance(each, (int, float, complex)) for each in natural.flat):
        return natural
    is_real = declared == "bf16" or declared in ("f16", "f32", "f64")
    has_complex = any(isinstance(each, complex) for each in natural.flat)
    if not is_real and not declared.startswith("complex") and not has_complex:
        raise OverflowError(f"an int in it fits no {declared or 'element type'}")
    try:
        return natural.astype(np.complex128 if has_complex else np.float64)
    except OverflowError:
        raise OverflowError(f"an int in it fits no {declared or 'element type'}") from None


def _are_ints(value):
    return all(isinstance(each, int) for each in np.asarray(value, object).flat)


def _from_python(value, declared):
    """Numbers and nested lists, in the element type that the function says; in NumPy's choice where it says none."""
    natural = _natural(value, declared)
    if natural.dtype.kind not in "biufc":
        raise TypeError(f"{described(value)} of {natural.dtype} elements is no tensor")
    if declared not in _NUMPY and declared != "bf16":
        return natural
    wanted = _brain_type() if declared == "bf16" else np.dtype(_NUMPY[declared])
    if wanted.kind in "iu" and natural.dtype.kind == "f" and natural.size and _are_ints(value):
        natural = np.asarray(value, wanted)  # Beyond i64 and below 0, or both: NumPy would take floats for that.
    if declared != "bf16" and _rank(natural.dtype.kind) > _rank(wanted.kind) or natural.dtype.kind == "c" and declared == "bf16":
        raise TypeError(f"{natural.dtype} elements where {declared} is wanted")
    if wanted.kind in "biu":
        return np.asarray(value, wanted)  # An int that does not fit is refused.
    with np.errstate(over="ignore"):
        made = natural.astype(wanted)
    if not np.isfinite(made).all() and np.isfinite(natural).sum() != np.isfinite(made).sum():
        raise OverflowError(f"a number in it is no {declared}")
    return made


def _brain_type():
    import ml_dtypes
    return np.dtype(ml_dtypes.bfloat16)


def _brain_bits(value):
    """PyTorch's bfloat16 as integers of its size, because NumPy takes none of it; None for all else."""
    if str(getattr(value, "dtype", "")) != "torch.bfloat16" or value.requires_grad:
        return None
    import torch
    return value.contiguous().view(torch.int16).numpy()


def _to_numpy(value):
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack__"):
        return np.asarray(value)
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError):  # Element types that NumPy has no word for.
        return np.asarray(value)


def _is_lazy(value):
    """Whether PyTorch has yet to negate or conjugate what is in the tensor's memory."""
    return hasattr(value, "resolve_neg") and (value.is_neg() or value.is_conj())


def adapt(value, declared):
    """(dense array, name of an element type that NumPy has no word for, or None; whether it is a copy)."""
    if isinstance(value, (bool, int, float, complex, list, tuple)):
        array = _from_python(value, declared)
    elif isinstance(value, (str, bytes, bytearray)) or value is None:
        raise TypeError(f"{described(value)} where a tensor is wanted")
    elif _is_lazy(value):
        resolved, name, _ = adapt(value.detach().resolve_conj().resolve_neg(), declared)
        return resolved, name, True
    elif hasattr(value, "__dlpack_device__") and value.__dlpack_device__()[0] != 1:
        if not hasattr(value, "contiguous"):
            raise TypeError(f"{described(value)} on a device that is not dense and row-major; copy it first")
        return value.contiguous(), None, True
    elif hasattr(value, "__dlpack__") or hasattr(value, "__array__") or isinstance(value, memoryview):
        bits = _brain_bits(value)
        if bits is not None:
            return bits.view(np.uint16), "bf16", True
        array = _to_numpy(value)
    else:
        raise TypeError(f"{described(value)} where a tensor is wanted")
    return _plain(array)


def bytes_of(value, what):
    """The bytes of what has a buffer or DLPack, dense and in the host's memory, in their order; `what` takes them."""
    try:
        view = memoryview(value)
    except (TypeError, ValueError, BufferError):  # No buffer, or elements that the protocol has no word for.
        view = _array_in_host(value, what)
    dense = view.flags.c_contiguous if isinstance(view, np.ndarray) else view.c_contiguous
    if not dense:
        raise ValueError(f"{what} takes bytes in their order, not {described(value)} that is not dense and row-major; copy it first")
    return view.tobytes()


def _array_in_host(value, what):
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if not hasattr(value, "__dlpack__"):
        raise TypeError(f"{what} takes bytes, or an array that has a buffer or DLPack, not {described(value)}")
    if value.__dlpack_device__()[0] not in (1, 3):  # The host's memory, and that which CUDA made there.
        raise TypeError(f"{what} takes bytes that lie in the host's memory, not {described(value)} on a device; copy it first")
    if _is_lazy(value):
        value = value.detach().resolve_conj().resolve_neg()
    bits = _brain_bits(value) if value.__class__.__module__.partition(".")[0] == "torch" and value.is_contiguous() else None
    return _to_numpy(value) if bits is None else bits


def _plain(array):
    brain = array.dtype.name == "bfloat16"
    if not brain and array.dtype.name not in _NUMPY.values():
        raise TypeError(f"element type {array.dtype.name} is none that tensors have: bool, int8 to int64, uint8 to uint64, "
                        "float16 to float64, bfloat16, complex64, complex128")
    if not array.dtype.isnative:
        raise TypeError(f"an array of {array.dtype.str}, the byte order of other machines; take its "
                        "astype(dtype.newbyteorder('='))")
    dense = np.require(array, requirements=["C", "A"]).reshape(array.shape)
    is_copy = not np.shares_memory(dense, array) and array.size > 0
    return (dense.view(np.uint16), "bf16", is_copy) if brain else (dense, None, is_copy)
