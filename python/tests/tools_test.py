"""The tools as somebody at a terminal meets them: one that waits for input says so, none writes a binary on the screen, and a
count is a number as C writes it."""
import os
import pty
import subprocess

import pytest

from baton._tools import environment, find
from conftest import assembled

EMPTY = "module @empty\nexport func @f() {\n  return\n}\n"
LOOP = "module @loop\nexport func @loop() {\nagain:\n  br again\n}\n"


def tool(name):
    try:
        return find(name)
    except FileNotFoundError as error:
        pytest.skip(str(error))


def run(name, *arguments):
    return subprocess.run([tool(name), *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60, env=environment())


def at_terminal(name, *arguments):
    """What the tool says on standard error and on the screen, with a terminal for the rest, on which Ctrl-D is typed."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([tool(name), *map(str, arguments)], stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, text=True,
                          env=environment()) as program:
        os.close(theirs)
        os.write(ours, b"\4")
        errors = program.stderr.read()
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # Nobody has the terminal open any more.
        pass
    os.close(ours)
    return errors, shown.replace(b"^D\b\b", b"")


WAITING = {  # What each tool waits for.
    "baton-as": ((), "a program as text"),
    "baton-compile": (("-o", "/dev/null"), "a program in MLIR"),
    "baton-dump-module": ((), "a module file"),
    "baton-run-module": (("--module=-", "--function=f"), "a module file"),
    "baton-benchmark-module": (("--module=-",), "a module file"),
    "baton-check-module": (("-",), "a module file"),
    "baton-fat-elf": (("-", "-o", "/dev/null"), "a shared object"),
}


@pytest.mark.parametrize("name", WAITING)
def test_who_waits_for_a_terminal_says_so(name, tmp_path):
    arguments, what = WAITING[name]
    output = ("-o", tmp_path / "out") if name == "baton-as" else ()
    errors, _ = at_terminal(name, *arguments, *output)
    assert f"{name}: reads {what} from the terminal, up to Ctrl-D" in errors
    done = subprocess.run([tool(name), *arguments, *map(str, output)], input=b"", capture_output=True, check=False, timeout=60, env=environment())
    assert b"terminal" not in done.stderr  # Nobody sits at a pipe.


def test_no_binary_goes_to_a_terminal(tmp_path):
    (tmp_path / "empty.bvmasm").write_text(EMPTY)
    (tmp_path / "empty.mlir").write_text("func.func @f() { return }")
    for name, source, noun, example in (("baton-as", "empty.bvmasm", "a module file", "program.bvm"),
                                        ("baton-compile", "empty.mlir", "a module file", "program.bvm"),
                                        ("baton-fat-elf", "empty.bvmasm", "a library of kernels", "kernels.sos")):
        errors, shown = at_terminal(name, tmp_path / source)
        assert f"{noun} is no text for a terminal; say where it goes, as in -o {example}" in errors and not shown
    module = assembled(tmp_path, "empty", EMPTY)
    errors, shown = at_terminal("baton-dump-module", module)
    assert not errors and b"module @empty" in shown  # Which is text.


@pytest.mark.parametrize("count, is_taken", [("100", 100), ("+100", 100), ("0x64", 100), ("0144", 100), ("-1", None), ("- 1", None), ("", None),
                                             ("ten", None), ("1.5", None), ("1e3", None), ("0x", None), ("18446744073709551616", None),
                                             ("100 ", None), ("1,000", None)])
def test_counts_are_numbers_as_c_writes_them(tmp_path, count, is_taken):
    done = run("baton-run-module", f"--module={assembled(tmp_path, 'loop', LOOP)}", "--function=loop", f"--max_instructions={count}")
    assert done.returncode == 1
    assert (f"budget is exhausted ({is_taken})" if is_taken else f"'{count}' is no count; a whole number from 0 on is one") in done.stderr
