"""Everything of the package that needs the extension."""
from baton import _baton
from baton._baton import Binding, CommandBuffer, Device, Executable, Function, Kernel, KernelLibrary, Object, Tensor
from baton._compile import compile  # noqa: A004 - the verb of the house
from baton._devices import device, devices
from baton._errors import (
    AbortedError,
    AlreadyExistsError,
    CancelledError,
    DataLossError,
    DeadlineExceededError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    StatusError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
    UnknownError,
)
from baton._modules import Module, module
from baton._plugins import get_include
from baton._program import Program, join_ranks, load
from baton._trace import trace
from baton import _tensor  # noqa: F401 - gives Tensor its methods

__version__ = _baton.version
__all__ = [
    "AbortedError", "AlreadyExistsError", "Binding", "CancelledError", "CommandBuffer", "DataLossError", "DeadlineExceededError", "Device",
    "Executable", "FailedPreconditionError", "Function", "InternalError", "InvalidArgumentError", "Kernel", "KernelLibrary", "Module",
    "NotFoundError", "Object", "OutOfRangeError", "PermissionDeniedError", "Program",
    "ResourceExhaustedError", "StatusError", "Tensor", "UnauthenticatedError", "UnavailableError", "UnimplementedError",
    "UnknownError", "compile", "device", "devices", "get_include", "join_ranks",
    "load", "module", "trace",
]
