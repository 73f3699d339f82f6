"""Programs for the tests, compiled and assembled once a run by the tools that BATON_TOOLS names."""
import os
import subprocess

import pytest

import baton
from baton._tools import environment, find

MATH = """
module @math {
  func.func @add(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    %sum = arith.addf %x, %y : tensor<?xf32>
    return %sum : tensor<?xf32>
  }
  func.func @fma(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
    %product = arith.mulf %x, %y : tensor<4xf32>
    %sum = arith.addf %product, %z : tensor<4xf32>
    return %sum : tensor<4xf32>
  }
  func.func @both(%x: tensor<2x3xf32>, %n: i32) -> (tensor<2x3xf32>, i32) {
    %sum = arith.addf %x, %x : tensor<2x3xf32>
    %one = arith.constant 1 : i32
    %next = arith.addi %n, %one : i32
    return %sum, %next : tensor<2x3xf32>, i32
  }
  func.func @scalar(%x: tensor<f32>) -> tensor<f32> {
    %sum = arith.addf %x, %x : tensor<f32>
    return %sum : tensor<f32>
  }
  func.func @half(%x: tensor<4xbf16>) -> tensor<4xbf16> {
    %sum = arith.addf %x, %x : tensor<4xbf16>
    return %sum : tensor<4xbf16>
  }
}
"""

ASYNC = """
module @later {
  func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> attributes {iree.abi.model = "coarse-fences"} {
    %sum = arith.addf %x, %x : tensor<?xf32>
    return %sum : tensor<?xf32>
  }
}
"""

# Tensors in, tensors out, untouched: what conversion alone does. And calls out into Python.
HOST = """
module @host
import @app.number(i32, i64, f32, f64) -> (i32, i64, f32, f64)
import @app.tensor(hal.buffer_view) -> hal.buffer_view
import @app.nothing()
export func @same(%t: hal.buffer_view) -> hal.buffer_view {
  return
}
export func @list(%l: list) -> list {
  return
}
export func @blob(%b: blob) -> blob {
  return
}
export func @number(%a: i32, %b: i64, %c: f32, %d: f64) -> (i32, i64, f32, f64) {
  call.import @app.number, %v0, %r0
  return
}
export func @tensor(%t: hal.buffer_view) -> hal.buffer_view {
  call.import @app.tensor, %v0, %r0
  return
}
export func @nothing() {
  call.import @app.nothing, %v0, %r0
  return
}
export func @loop() {
again:
  br again
}
"""


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory):
    """For tests that compile: programs of another run are not found."""
    try:
        find("baton-compile")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BATON_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("programs")


def assembled(folder, name, text):
    (folder / f"{name}.bvmasm").write_text(text)
    subprocess.run([find("baton-as"), folder / f"{name}.bvmasm", "-o", folder / f"{name}.bvm"], check=True, env=environment())
    return folder / f"{name}.bvm"


def compiled(folder, name, text):
    path = folder / f"{name}.bvm"
    try:
        baton.compile(text, output=path)
    except baton.UnavailableError as error:
        pytest.skip(f"there is no compiler: {error}")
    return path


@pytest.fixture(scope="session")
def math_file(folder):
    return compiled(folder, "math", MATH)


@pytest.fixture(scope="session")
def host_file(folder):
    return assembled(folder, "host", HOST)


@pytest.fixture(params=["local-sync", "local-task"])
def device(request):
    return request.param


@pytest.fixture
def math(math_file, device):
    return baton.load(math_file, device=device)


def app(**functions):
    """The module that HOST imports from, with these functions in place of those that do nothing of note."""
    return baton.module("app", {"number": lambda *numbers: numbers, "tensor": lambda tensor: tensor,
                                "nothing": lambda: None, **functions})


@pytest.fixture
def host(host_file, device):
    return baton.load(host_file, device=device, modules=[app()])


@pytest.fixture(scope="session")
def async_file(folder):
    return compiled(folder, "later", ASYNC)


@pytest.fixture(scope="session")
def sample_folder():
    path = os.environ.get("BATON_SAMPLES")
    if not path:
        pytest.skip("BATON_SAMPLES does not name the samples of a build tree")
    return path
