"""baton.triton: kernels of Triton's, compiled without a GPU, in programs and in libraries."""
import importlib.util
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import baton
import baton.triton
from baton._tools import environment, find

HAS_TRITON = importlib.util.find_spec("triton") is not None
needs_triton = pytest.mark.skipif(not HAS_TRITON, reason="Triton's wheel is not here (python/requirements/gpu.txt)")
CUBINS = pathlib.Path(__file__).resolve().parents[2] / "tests/modules/kernel_library/triton"


def committed(name, signature):
    """A kernel that a version of Triton compiled before."""
    metadata = (CUBINS / f"{name}.json").read_text()
    told = json.loads(metadata)
    return baton.triton.TritonKernel(told["name"], str(told["target"]["arch"]), (CUBINS / f"{name}.cubin").read_bytes(), metadata.strip(), signature,
                                     "")


def kernels():
    import triton
    import triton.language as tl

    @triton.jit
    def scale(x, factor, count, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = at < count
        tl.store(x + at, tl.load(x + at, mask=inside) * factor, mask=inside)

    return scale


@pytest.mark.parametrize("version", ["3_2", "3_3", "3_4", "3_5", "3_6", "3_7", "3_8", "3_9"])
def test_kernels_of_every_version_become_executables(version, tmp_path):
    for name, signature, words in (("scale_add", "*fp32,*fp32,fp32,i32", 2), ("row_sums", "i32,*fp32,*fp32", 1)):
        text = committed(f"{name}_{version}", signature).executable(tmp_path / name)
        hidden = {"3_2": 0, "3_3": 1, "3_4": 1}.get(version, 2)
        assert f"constants = {words + 2 * hidden}, bindings" in text and f"{name}.cubin" in text
        assert baton.compile(text, target="cuda")


def test_what_does_not_fit_is_a_sentence(tmp_path):
    kernel = committed("scale_add_3_9", "*fp32,i32")
    with pytest.raises(baton.InvalidArgumentError, match="takes 4 arguments of .8, 8, 4, 4. bytes; the signature has 2"):
        kernel.executable(tmp_path)
    with pytest.raises(baton.UnimplementedError, match="Argument 0 of kernel 'scale_add' is a tensordesc<fp16.32, 64.> and holds an address"):
        committed("scale_add_3_9", "tensordesc<fp16[32, 64]>,*fp32,i32").executable(tmp_path)
    with pytest.raises(baton.InvalidArgumentError, match="1 to 3 extents, and not 4"):
        committed("scale_add_3_9", "*fp32,*fp32,fp32,i32").executable(tmp_path, grid_rank=4)


def test_without_triton_it_says_what_to_install():
    code = "import sys; sys.modules['triton'] = None; import baton.triton\ntry: baton.triton.compile(print, {})\nexcept baton.UnavailableError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", "import baton\n" + code], capture_output=True, text=True, check=True)
    assert "Triton's compiler is not here" in done.stdout and "pip install triton" in done.stdout


@needs_triton
def test_a_kernel_is_compiled_without_a_gpu_and_dispatched_by_a_program(tmp_path):
    kernel = baton.triton.compile(kernels(), {"x": "*fp32", "factor": "fp32", "count": "i32"}, {"BLOCK": 256}, arch="80", num_warps=8)
    assert repr(kernel) == "<baton.triton.TritonKernel scale(*fp32,fp32,i32) for sm_80>"
    text = kernel.executable(tmp_path)
    assert 'target_arch = "sm_80"' in text and "workgroup_size = [256 :" in text
    functions = """
func.func @main(%x: tensor<300xf32>) -> tensor<300xf32> {
  %programs = arith.constant 2 : index
  %count = arith.constant 300 : i32
  %factor = arith.constant 2.0 : f32
  %none = arith.constant 0 : i64
  %y = flow.dispatch @scale::@scale[%programs](%factor, %count, %none, %none, %x) : (f32, i32, i64, i64, tensor<300xf32>) -> %x
  return %y : tensor<300xf32>
}"""
    if "constants = 6" in text:  # Two scratch pointers, since Triton 3.5.
        program = tmp_path / "program.bvm"
        baton.compile(text + functions, target="cuda", output=program)
        done = subprocess.run([find("baton-run-module"), program, "--device=null", "--device_trace=-", "--function=main", "--input=300xf32=1"],
                              capture_output=True, text=True, check=True, env=environment())
        assert "dispatch entry_point=scale.scale grid=(2, 1, 1)" in done.stdout


@needs_triton
def test_signatures_are_checked_before_triton_sees_them():
    scale = kernels()
    compiled = baton.triton.compile(scale, "*fp32, fp32, i32", {"BLOCK": 64})
    assert compiled.signature == "*fp32,fp32,i32" and compiled.arch == "90"
    for signature, constants, said in (({"x": "*fp32", "count": "i32"}, {"BLOCK": 64}, "parameter 'factor' of kernel 'scale' is neither"),
                                       ({"x": "*fp32", "y": "*fp32"}, {"BLOCK": 64}, "has no parameter 'y'; it has x, factor, count, BLOCK"),
                                       ("*fp32,i32", {"BLOCK": 64}, "3 parameters that are no constants .x, factor, count.; the signature has 2"),
                                       ("*fp32,fp32,i32", {"BLOK": 64}, "has no parameter 'BLOK'")):
        with pytest.raises(baton.InvalidArgumentError, match=said):
            baton.triton.compile(scale, signature, constants)
    with pytest.raises(baton.InvalidArgumentError, match="arch='sm_90' is no compute capability"):
        baton.triton.compile(scale, "*fp32,fp32,i32", {"BLOCK": 64}, arch="sm_90")
    with pytest.raises(TypeError, match="a function under @triton.jit is wanted, not a builtin_function"):
        baton.triton.compile(print, "*fp32")


@needs_triton
def test_what_tuners_choose_is_a_constant():
    import triton
    tuned = triton.heuristics({"BLOCK": lambda arguments: 256})(kernels())
    assert baton.triton.compile(tuned, "*fp32,fp32,i32", {"BLOCK": 64}).signature == "*fp32,fp32,i32"
    with pytest.raises(baton.InvalidArgumentError, match="4 parameters that are no constants .x, factor, count, BLOCK.; the signature has 3"):
        baton.triton.compile(tuned, "*fp32,fp32,i32")


@needs_triton
def test_a_library_of_it_is_launched():
    if not any((info.uri or "").startswith("cuda") for info in baton.devices()):
        pytest.skip("no CUDA device")
    device = baton.device("cuda")
    x = device.tensor(np.arange(300, dtype=np.float32))
    kernel = baton.triton.compile(kernels(), "*fp32,fp32,i32", {"BLOCK": 256})
    kernel.library()["scale"].launch(2, None, x, 3.0, 300, device=device)
    assert np.array_equal(np.asarray(x), 3 * np.arange(300, dtype=np.float32))
