"""Modules of Python functions, which programs import from as from any other module."""
import re
from collections.abc import Mapping

from baton._errors import described

_LETTERS = {"i32": "i", "i64": "I", "f32": "f", "f64": "F", "tensor": "r<hal.buffer_view>", "list": "r<list>",
            "blob": "r<blob>", "ref": "r"}


def _letter(name, signature):
    name = name.strip()
    if name in _LETTERS:
        return _LETTERS[name]
    if re.fullmatch(r"[A-Za-z_]\w*(\.\w+)+", name):
        return f"r<{name}>"  # A type of another module.
    raise ValueError(f"'{name}' in '{signature}' is none of {', '.join(_LETTERS)}, or a type as 'custom.string'")


def signature_text(signature):
    """"(i32, tensor) -> (f32)" as the calling convention "ir<hal.buffer_view>_f"; that form is taken as it is."""
    if not isinstance(signature, str):
        raise TypeError(f"a signature is a text, as '(i32, tensor) -> (f32)', not {described(signature)}")
    match = re.fullmatch(r"\s*\((.*?)\)\s*(?:->\s*(?:\((.*?)\)|(\S+))\s*)?", signature)
    if not match:
        if "_" in signature and "->" not in signature:
            return signature
        raise ValueError(f"'{signature}' is no signature; write it as '(i32, tensor) -> (f32)'")
    sides = (match.group(1), match.group(2) if match.group(2) is not None else match.group(3))
    return "_".join("".join(_letter(name, signature) for name in side.split(",")) if side and side.strip() else "v"
                    for side in sides)


class Module:
    """Functions under a module's name: made by module(), given to load(modules=[...])."""

    def __init__(self, name, functions, prepare=None):
        if not isinstance(name, str) or not name:
            raise TypeError("a module is named by a text, as programs import from it")
        self.name = name
        self.functions = {}
        self.prepare = prepare
        if prepare is not None and not callable(prepare):
            raise TypeError(f"prepare= of module '{name}' is no function, but {described(prepare)}")
        if not isinstance(functions, Mapping):
            raise TypeError(f"the functions of module '{name}' are {{name: function}}, not {described(functions)}")
        if not functions:
            raise ValueError(f"module '{name}' has no functions")
        for key, value in functions.items():
            if not isinstance(key, str):
                raise TypeError(f"a function of module '{name}' is named by a text, not by {described(key)}")
            if isinstance(value, tuple) and len(value) != 2:
                raise TypeError(f"'{name}.{key}' is a function, or (function, signature)")
            function, signature = value if isinstance(value, tuple) else (value, "")
            if not callable(function):
                raise TypeError(f"'{name}.{key}' is no function, but {described(function)}")
            self.functions[key] = (function, signature and signature_text(signature))

    def __repr__(self):
        return f"<baton.Module {self.name}: {', '.join(self.functions)}>"


def module(name, functions, *, prepare=None):
    """A module of Python functions: module("app", {"scale": scale, "log": (log, "(f32) -> ()")}).

    A function without a signature gets the one that the program imports it with. A command, whose import takes a command
    buffer, is called with a CommandBuffer while the program records, and then with a Binding for each tensor. `prepare(device)`
    runs once for each device, before the first command is recorded there."""
    return Module(name, functions, prepare)
