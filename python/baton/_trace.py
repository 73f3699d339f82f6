"""Traces: what ran when, for Perfetto and chrome://tracing."""
import errno
import os

from baton import _baton
from baton._errors import UnavailableError


class trace:  # noqa: N801 - used as a function is
    """with baton.trace("out.json"): devices that are opened inside, and calls, stand on a timeline that is written at the end.

    A device that was open before has no spans of its own; its calls have. One trace at a time in a process."""

    def __init__(self, path):
        self._path = os.fsdecode(path)

    def __enter__(self):
        folder = os.path.dirname(self._path) or "."  # What cannot be written is said before the work, and not behind it.
        if os.path.isdir(self._path) or not os.access(folder, os.W_OK | os.X_OK):
            reason = errno.EISDIR if os.path.isdir(self._path) else errno.EACCES if os.path.isdir(folder) else errno.ENOENT
            raise UnavailableError(f"a trace cannot be written to '{self._path}': {os.strerror(reason)}")
        _baton.begin_trace()
        return self

    def __exit__(self, *_):
        _baton.end_trace(self._path)
