"""StatusError: how an operation of Baton fails, with a subclass for each code."""
import re


class StatusError(Exception):
    """`code` is a name as the tools print it ("NOT_FOUND"), `message` the first line, `backtrace` the lines under it:
    what was being done, and where in the program. `locations` are the MLIR lines among them, innermost first."""

    code = "UNKNOWN"

    def __init__(self, text=""):
        super().__init__(text)
        lines = str(text).split("\n")
        self.message = lines[0]
        self.backtrace = [line.strip() for line in lines[1:]]

    @property
    def locations(self):
        found = (re.search(r"\(([^()]+:\d+(?::\d+)?)\)$", line) for line in self.backtrace)
        return [match.group(1) for match in found if match]

    def __reduce__(self):
        return type(self), (str(self),)


def _subclass(name, code, *builtin):
    return type(name, (StatusError, *builtin), {"code": code, "__module__": "baton", "__doc__": f"{code}."})


CancelledError = _subclass("CancelledError", "CANCELLED")
UnknownError = _subclass("UnknownError", "UNKNOWN")
InvalidArgumentError = _subclass("InvalidArgumentError", "INVALID_ARGUMENT", ValueError)
DeadlineExceededError = _subclass("DeadlineExceededError", "DEADLINE_EXCEEDED", TimeoutError)
NotFoundError = _subclass("NotFoundError", "NOT_FOUND", LookupError)
AlreadyExistsError = _subclass("AlreadyExistsError", "ALREADY_EXISTS")
PermissionDeniedError = _subclass("PermissionDeniedError", "PERMISSION_DENIED")
ResourceExhaustedError = _subclass("ResourceExhaustedError", "RESOURCE_EXHAUSTED", MemoryError)
FailedPreconditionError = _subclass("FailedPreconditionError", "FAILED_PRECONDITION")
AbortedError = _subclass("AbortedError", "ABORTED")
OutOfRangeError = _subclass("OutOfRangeError", "OUT_OF_RANGE", IndexError)
UnimplementedError = _subclass("UnimplementedError", "UNIMPLEMENTED", NotImplementedError)
InternalError = _subclass("InternalError", "INTERNAL")
UnavailableError = _subclass("UnavailableError", "UNAVAILABLE")
DataLossError = _subclass("DataLossError", "DATA_LOSS")
UnauthenticatedError = _subclass("UnauthenticatedError", "UNAUTHENTICATED")

# By number, as modules/sdk/status.h has them.
_BY_CODE = (
    StatusError, CancelledError, UnknownError, InvalidArgumentError, DeadlineExceededError, NotFoundError,
    AlreadyExistsError, PermissionDeniedError, ResourceExhaustedError, FailedPreconditionError, AbortedError,
    OutOfRangeError, UnimplementedError, InternalError, UnavailableError, DataLossError, UnauthenticatedError,
)
_BUILTIN_CODES = ((NotImplementedError, 12), (MemoryError, 8), (TimeoutError, 4), (PermissionError, 7),
                  (IndexError, 11), ((TypeError, ValueError, OverflowError), 3), (LookupError, 5))


def error_of(code, text):
    """The exception for a status; called by the extension."""
    return (_BY_CODE[code] if 0 < code < len(_BY_CODE) else UnknownError)(text)


def error_named(name, text):
    """The exception for a status whose code a tool printed."""
    return next((each for each in _BY_CODE[1:] if each.code == name), UnknownError)(text)


def status_of(error):
    """(code, text) of what a Python function raised; called by the extension."""
    if isinstance(error, StatusError):
        return _BY_CODE.index(type(error)) if type(error) in _BY_CODE else 2, str(error)
    code = next((number for types, number in _BUILTIN_CODES if isinstance(error, types)), 2)
    return code, f"{type(error).__name__}: {error}"


def described(value):
    """"an int", "a str", "None": what a value is, for messages."""
    name = type(value).__name__
    if value is None:
        return "None"
    return f"an {name}" if name[0] in "aeioAEIO" or name == "ndarray" else f"a {name}"


def add_place(error, place):
    """Says in which argument of which function an error was; called by the extension."""
    if len(error.args) == 1 and isinstance(error.args[0], str):
        text = f"{error.args[0]}\n  in {place}"
        error.args = (text,)
        if isinstance(error, StatusError):
            StatusError.__init__(error, text)
    else:
        error.add_note(f"in {place}")
