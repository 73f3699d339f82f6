"""Arguments of kernels that the extension does not know by itself. Imported when one comes."""
import sys

from baton._errors import described


def by_value(value):
    """The bytes of a struct or a scalar that says what it is; None for what is memory."""
    if isinstance(value, bytes):
        return value
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return value.tobytes()
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and isinstance(value, (ctypes._SimpleCData, ctypes.Structure, ctypes.Union)):  # noqa: SLF001
        return bytes(value)
    return None


def stream_handle(stream):
    """CUDA's handle of a stream: an int, or a stream of PyTorch, CuPy, or what has __cuda_stream__."""
    if isinstance(stream, int):
        handle = stream
    elif hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        handle = (protocol() if callable(protocol) else protocol)[1]
    else:
        handle = next((getattr(stream, name) for name in ("cuda_stream", "ptr") if hasattr(stream, name)), None)
    if not isinstance(handle, int) or isinstance(handle, bool) or handle < 0:
        raise TypeError(f"{described(stream)} is no stream of CUDA: an int, or what has __cuda_stream__, cuda_stream or ptr")
    return handle


def address_of(array):
    """Where an array lies, for a stream's kernel, by __cuda_array_interface__."""
    name = type(array).__name__
    about = getattr(array, "__cuda_array_interface__", None)
    if about is None:
        raise TypeError(f"a {name} in memory that a stream's kernel does not reach, or of a type that is no argument of kernels")
    if about.get("strides") is not None:
        raise TypeError(f"a {name} that is not dense and row-major; a kernel works in place")
    return about["data"][0]
