"""Devices: what there is, and opening them."""
import atexit
import os
import weakref
from typing import NamedTuple

from baton import _baton


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


def device(uri):
    """Opens "local-sync", "local-task?workers=4", "cuda", "cuda://1", "null". The same text gives the same device for as
    long as somebody holds it: a program and a tensor do."""
    found = _open.get(uri)
    if found is None:
        found = _open[uri] = _baton.open_device(uri)
    return found


def _after_fork():
    _open.clear()  # A child opens its own: threads of the parent's devices are not in it.
    _baton.after_fork_in_child()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_baton.before_exit)
