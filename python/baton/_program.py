"""Programs: loading them, and their functions as attributes."""
import codecs
import os
import re

from baton import _baton
from baton._devices import device as open_device
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
        return self._native.find(name)

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
        raise TypeError(f"a program, a plugin or a baton.module(...) is wanted: a file, or bytes, not a {type(given).__name__}") from None
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


def sequence(given):
    """What may be one or several: modules, files."""
    return (given,) if isinstance(given, (str, bytes, os.PathLike, Module)) else tuple(given)


def _parameters(given):
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    if isinstance(given, dict):
        return [(scope, os.fspath(path)) for scope, path in given.items()]
    return [("", os.fspath(path)) for path in given]


def load(source, *, device="local-task", modules=(), parameters=(), timeout=None, max_instructions=0):
    """Loads and links a program: a .bvm file, or its bytes.

    `device`: what device() takes, or a Device, or a list of them, which the program sees in that order; None for none.
    `modules`: what the program imports from, importers after imported: .bvm files, plugins "x.so@entry?key=value",
    baton.module(...). `parameters`: {scope: file} or [file], for the module "parameters". `timeout` in seconds and
    `max_instructions` limit each call, and each initializer."""
    sources = [_source(one) for one in (*sequence(modules), source)]
    callables = [one for kind, one in sources if kind == "python"]
    if timeout is not None and timeout <= 0:
        raise ValueError(f"a timeout of {timeout} seconds leaves no time")
    return Program(_baton.load(sources, _devices(device), _parameters(parameters), callables, timeout or 0.0,
                               max_instructions))


def join_ranks(*, rank, ranks, store=None, timeout=None):
    """This process is rank `rank` of `ranks`, as whoever started it would say in the environment. All programs that it
    loads meet the other ranks in one store: "file:/directory" or "tcp://host:port", which rank 0 serves; None is the
    environment's, or the ranks that one process started on this machine. `timeout` is how many seconds a rank waits for
    the others. Comes before the first program that has channels or collectives."""
    if rank < 0 or rank >= ranks:
        raise ValueError(f"there is no rank {rank} of {ranks}; ranks are counted from 0")
    if timeout is not None and timeout <= 0:
        raise ValueError(f"a timeout of {timeout} seconds leaves no time")
    _baton.join_ranks(rank, ranks, store or "", timeout or 0.0)
