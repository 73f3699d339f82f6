"""The README's programs run as they stand, and print what stands there."""
import pathlib
import re
import subprocess
import sys

import pytest

import baton
from baton._tools import find

README = pathlib.Path(__file__).resolve().parents[1] / "README.md"
SNIPPETS = re.findall(r"```python\n(.*?)```\n```\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_there_are_snippets():
    assert len(SNIPPETS) >= 3


@pytest.mark.parametrize("code,output", SNIPPETS, ids=range(len(SNIPPETS)))
def test_snippet(code, output):
    try:
        find("baton-compile")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (0, output), done.stderr


def test_the_tools_are_verbs(tmp_path):
    def run(*arguments):
        return subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, check=False)

    source = tmp_path / "sum.bvmasm"
    source.write_text("module @sum\nexport func @sum(%a: i32, %b: i32) -> i32 {\n  add.i32 %v0, %v0, %v1\n  return.value %v0\n}\n")
    assert run("baton", "as", str(source), "-o", str(tmp_path / "sum.bvm")).returncode == 0
    expected = "EXEC @sum\nresult[0]: i32=5\n"
    for verb in (["baton", "run"], ["baton.run"]):
        assert run(*verb, str(tmp_path / "sum.bvm"), "--function=sum", "--input=2", "--input=3").stdout == expected
    assert run("baton", "dance").returncode == 1 and "run (baton-run-module)" in run("baton", "dance").stderr


def test_compile_tells_where_a_program_is_wrong(tmp_path):
    try:
        find("baton-compile")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    with pytest.raises(ValueError, match="<stdin>:2:"):
        baton.compile("func.func @f() {\n  absent.op\n}\n")
    path = tmp_path / "wrong.mlir"
    path.write_text("func.func @f( {\n")
    with pytest.raises(baton.InvalidArgumentError, match="wrong.mlir:1:"):
        baton.compile(path)
    with pytest.raises(baton.InvalidArgumentError, match="target 'teapot' is none of"):
        baton.compile("func.func @f() { return }", target="teapot")
    with pytest.raises(baton.NotFoundError, match="absent.mlir"):
        baton.compile(tmp_path / "absent.mlir")


def test_compile_for_targets_and_to_a_file(tmp_path):
    source = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = arith.addf %x, %x : tensor<4xf32>\n  return %y : tensor<4xf32>\n}\n"
    output = tmp_path / "f.bvm"
    try:
        compiled = baton.compile(source, target="local-sync", output=output)
    except baton.UnavailableError as error:
        pytest.skip(str(error))
    assert output.read_bytes() == compiled
    (tmp_path / "f.mlir").write_text(source)
    assert baton.load(baton.compile(tmp_path / "f.mlir"), device="local-sync").f([1, 2, 3, 4]).tolist() == [2, 4, 6, 8]
