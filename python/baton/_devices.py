"""Devices: what there is, and opening them."""
import atexit
import os
import weakref
from typing import NamedTuple

from baton import _baton
from baton._errors import described


class DeviceInfo(NamedTuple):
    """A device that is here; `uri` is what load() and device() take, None where `description` names a driver that found
    none, and facts["unavailable"] says why."""

    uri: str | None
    description: str
    facts: dict


def devices():
    """Everything that device() could open, and the drivers that found nothing or are not in this build."""
    found = [DeviceInfo(*row) for row in _baton.list_devices()]
    return found + [DeviceInfo(None, name, {"unavailable": reason}) for name, reason in _baton.left_out_drivers().items()]


_open = weakref.WeakValueDictionary()


def device(uri, *, functions=()):
    """Opens "local-sync", "local-task?workers=4", "cuda", "cuda://1", "null". The same text gives the same device for as
    long as somebody holds it: a program and a tensor do.

    `functions`: device code with functions that kernels of programs import, as paths of files or as bytes: for CUDA PTX, relocatable
    cubins, fatbins, objects, archives, and where nvJitLink is installed LTO-IR; for Vulkan SPIR-V. They are linked with programs that import
    any, when those are loaded. A device with functions is opened anew each time."""
    if functions:
        return _baton.open_device(uri, [_code(index, one) for index, one in enumerate(_sequence(functions))])
    if not isinstance(uri, str):
        raise TypeError(f"a device is named by a text, as 'local-task' or 'cuda://0', not by {described(uri)}")
    found = _open.get(uri)
    if found is None:
        found = _open[uri] = _baton.open_device(uri, [])
    return found


def _sequence(functions):
    return [functions] if isinstance(functions, (str, bytes, os.PathLike)) else functions


def _code(index, source):
    """A name for messages, and the bytes."""
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            return os.fspath(source), file.read()
    return f"functions[{index}]", bytes(source)


def _after_fork():
    _open.clear()  # A child opens its own: threads of the parent's devices are not in it.
    _baton.after_fork_in_child()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_baton.before_exit)
