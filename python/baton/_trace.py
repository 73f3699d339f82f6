"""Traces: what ran when, for Perfetto and chrome://tracing."""
from baton import _baton


class trace:  # noqa: N801 - used as a function is
    """with baton.trace("out.json"): devices that are opened inside, and calls, stand on a timeline that is written at the end.

    A device that was open before has no spans of its own; its calls have. One trace at a time in a process."""

    def __init__(self, path):
        self._path = str(path)

    def __enter__(self):
        _baton.begin_trace()
        return self

    def __exit__(self, *_):
        _baton.end_trace(self._path)
