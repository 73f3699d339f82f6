"""Programs: loading them, and their functions as attributes."""
import codecs
import numbers
import operator
import os
import re

from baton import _baton
from baton._devices import device as open_device
from baton._errors import NotFoundError, described
from baton._modules import Module


class Program:
    """A program and its state. Its exports are attributes, `program.forward(x)`, and items, `program["module.forward"]`.

    A call gives Python's lock up while it runs; several threads may call at the same time, as far as the program's own
    state allows. copy() gives the same program with a state of its own."""

    def __init__(self, native):
        self._native = native

    def __getattr__(self, name):
        if name.startswith("__") or name == "_native":
            raise AttributeError(name)
        try:
            function = self._native.find(name)
        except LookupError as error:
            raise AttributeError(f"program '{self._native.name}' exports no '{name}'; it exports: "
                                 f"{', '.join(self._native.exports)}", name=name, obj=self) from error
        self.__dict__[name] = function  # The next time, Python finds it itself.
        return function

    def __getitem__(self, name):
        if not isinstance(name, str):
            raise TypeError(f"a function is named by a text, as program['main'], not by {described(name)}")
        return self._native.find(name)

    __iter__ = None  # Python would ask for items by number.

    def __dir__(self):
        return sorted({*super().__dir__(), *self._native.exports})

    def __repr__(self):
        devices = ", ".join(device.name for device in self._native.devices)
        return f"<baton.Program {self._native.name} on {devices or 'no device'}>"

    def copy(self):
        """The same modules and devices with a state of its own; initializers run again."""
        return Program(self._native.fork())

    __copy__ = copy


_ELF = b"\x7fELF"
_MLIR = re.compile(r"^\s*(builtin\.)?module\b.*\{|\bfunc\.func\b", re.MULTILINE)


def _begin_of(path):
    """The first bytes of a file; none of what is no file, such as a pipe, whose bytes are there once."""
    try:
        if not os.path.isfile(path):
            return b""
        with open(path, "rb") as file:
            return file.read(512)
    except (OSError, ValueError):
        return b""


def _is_mlir(path, begin):
    """Text of a program. Module files have zeros among their first bytes, and so has MLIR in its binary form."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(begin)  # Up to a character that is cut.
    except UnicodeDecodeError:
        return False
    return "\0" not in text and (path.endswith(".mlir") or bool(_MLIR.search(text)))


def _source(given):
    """What the extension loads: a kind, and what of it."""
    if isinstance(given, Module):
        return "python", given
    if isinstance(given, (bytes, bytearray, memoryview)):
        return "bytes", bytes(given)
    try:
        text = os.fspath(given)
    except TypeError:
        raise TypeError(f"a program, a plugin or a baton.module(...) is wanted: a file, or bytes, not {described(given)}") from None
    if isinstance(text, bytes):
        text = os.fsdecode(text)
    if os.path.exists(text):
        begin = _begin_of(text)
        if begin.startswith(_ELF):
            return "plugin", text
        if _is_mlir(text, begin):
            raise ValueError(f"'{text}' is the text of a program; load(compile({text!r})) compiles it first")
        return "file", text
    bare = text.partition("?")[0]  # plugin.so@entry?key=value
    for path in (bare, bare.rpartition("@")[0]):
        if path and _begin_of(path).startswith(_ELF):
            return "plugin", text
    if "\n" in text:
        raise ValueError("this is the text of a program; load(compile(...)) compiles it first")
    return "file", text


def _devices(given):
    if given is None:
        return []
    return [open_device(one) if isinstance(one, str) else one
            for one in (given if isinstance(given, (list, tuple)) else [given])]


def sequence(given, flag="modules"):
    """What may be one or several: modules, files."""
    if isinstance(given, (str, bytes, bytearray, memoryview, os.PathLike, Module)):
        return (given,)
    try:
        return tuple(given)
    except TypeError:
        raise TypeError(f"{flag}= takes one or a list of them, not {described(given)}") from None


def _parameters(given):
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    try:
        if isinstance(given, dict):
            return [(os.fsdecode(scope), os.fsdecode(path)) for scope, path in given.items()]
        return [("", os.fsdecode(path)) for path in given]
    except TypeError:
        raise TypeError(f"parameters= takes a file, a list of files or {{scope: file}}, not {given!r:.100}") from None


def seconds(timeout):
    """The limit that a caller gave, as a number; 0 for none."""
    if timeout is None:
        return 0.0
    if isinstance(timeout, bool) or not isinstance(timeout, numbers.Real):
        raise TypeError(f"a timeout is a number of seconds, not {described(timeout)}")
    if not timeout > 0:
        raise ValueError(f"a timeout of {timeout} seconds leaves no time")
    return max(float(min(timeout, 10**9)), 1e-9)  # Nanoseconds in 64 bits; what is beyond has no end.


def _integer(given, name):
    try:
        return operator.index(given)
    except TypeError:
        raise TypeError(f"{name} is an int, not {described(given)}") from None


def _instructions(most):
    most = _integer(most, "max_instructions")
    if not 0 <= most < 2**63:
        raise ValueError(f"max_instructions={most} is not between 1 and 2**63 - 1, nor 0 for no limit")
    return most


def load(source, *, device="local-task", modules=(), parameters=(), timeout=None, max_instructions=0):
    """Loads and links a program: a .bvm file, or its bytes.

    `device`: what device() takes, or a Device, or a list of them, which the program sees in that order; None for none.
    `modules`: what the program imports from, importers after imported: .bvm files, plugins "x.so@entry?key=value",
    baton.module(...). `parameters`: {scope: file} or [file], for the module "parameters". `timeout` in seconds and
    `max_instructions` limit each call, and each initializer."""
    sources = [_source(one) for one in (*sequence(modules), source)]
    callables = [one for kind, one in sources if kind == "python"]
    opened, files, limit, most = _devices(device), _parameters(parameters), seconds(timeout), _instructions(max_instructions)
    try:
        return Program(_baton.load(sources, opened, files, callables, limit, most))
    except NotFoundError as error:
        if not opened and "'hal." in str(error):
            error.add_note("device=None gives the program no device, and it asks for one; load(..., device=\"local-task\") does")
        raise


def join_ranks(*, rank, ranks, store=None, timeout=None):
    """This process is rank `rank` of `ranks`, as whoever started it would say in the environment. All programs that it
    loads meet the other ranks in one store: "file:/directory" or "tcp://host:port", which rank 0 serves; None is the
    environment's, or the ranks that one process started on this machine. `timeout` is how many seconds a rank waits for
    the others. Comes before the first program that has channels or collectives."""
    rank, ranks = _integer(rank, "rank"), _integer(ranks, "ranks")
    if rank < 0 or rank >= ranks:
        raise ValueError(f"there is no rank {rank} of {ranks}; ranks are counted from 0")
    _baton.join_ranks(rank, ranks, store or "", seconds(timeout))
