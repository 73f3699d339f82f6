"""Traces: calls and commands of what ran inside, and nothing of what ran before or after."""
import json

import pytest

import baton


def names_of(path):
    return [event["name"] for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X"]


def test_calls_and_queues_are_on_it(host_file, tmp_path):
    path = tmp_path / "trace.json"
    app = baton.module("app", {"number": lambda *n: n, "tensor": lambda t: t, "nothing": lambda: None})
    with baton.trace(path):
        program = baton.load(str(host_file), modules=[app])
        program.number(1, 2, 3.0, 4.0)
        program.number(1, 2, 3.0, 4.0)
    program.number(1, 2, 3.0, 4.0)
    names = names_of(path)
    assert sum(name.endswith(".number") and not name.startswith("app.") for name in names) == 2
    with baton.trace(path):
        program.number(1, 2, 3.0, 4.0)
    assert sum(name.endswith(".number") and not name.startswith("app.") for name in names_of(path)) == 1


def test_one_at_a_time_and_written_where_it_can_be(tmp_path):
    with baton.trace(tmp_path / "outer.json"):
        with pytest.raises(baton.FailedPreconditionError, match="one at a time"):
            with baton.trace(tmp_path / "inner.json"):
                pass
    assert json.loads((tmp_path / "outer.json").read_text())["traceEvents"]
    for path, reason in ((tmp_path / "nowhere" / "trace.json", "nowhere.*No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(baton.UnavailableError, match=reason):
            with baton.trace(path):
                raise AssertionError("the work came first")
    with pytest.raises(TypeError):
        baton.trace(3)
    with baton.trace(tmp_path / "after.json"):  # It goes on.
        pass
