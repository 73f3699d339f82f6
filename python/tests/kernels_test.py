"""KernelLibrary on the CPU: kernels of a portable ELF file, launched on devices and recorded by commands."""
import ctypes
import gc
import glob
import platform
import threading

import numpy as np
import pytest

import baton

SCALE = """func.func private @app.saxpy(%x: tensor<8xf32>) -> tensor<8xf32> attributes {iree.abi.streamable}
func.func @run(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = call @app.saxpy(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
"""


@pytest.fixture(scope="module")
def elf_file(sample_folder):
    found = glob.glob(f"{sample_folder}/custom_command/custom_command_blas_kernels/*{platform.machine()}*.elf")
    if not found:
        pytest.skip("the sample's kernels are not built")
    return found[0]


@pytest.fixture(scope="module")
def elf(elf_file):
    with open(elf_file, "rb") as file:
        return file.read()


@pytest.fixture(params=["file", "bytes", "bytearray", "memoryview", "variants"])
def any_library(request, elf_file, elf):
    return baton.KernelLibrary({"file": elf_file, "bytes": elf, "bytearray": bytearray(elf), "memoryview": memoryview(elf),
                                "variants": {"cuda-ptx": b"no code", f"embedded-elf-{platform.machine()}": elf}}[request.param])


@pytest.fixture(scope="module")
def saxpy(elf):  # y = alpha * x + y, of (x, y, count, alpha)
    return baton.KernelLibrary(elf)["saxpy"]


def arrays():
    return np.arange(8, dtype=np.float32), np.ones(8, np.float32)


EXPECTED = [1, 3, 5, 7, 9, 11, 13, 15]


def test_a_library_of_every_form(any_library, device):
    kernel = any_library["saxpy"]
    assert kernel.name == "saxpy" and "saxpy" in repr(kernel)
    x, y = arrays()
    kernel.launch(1, None, x, y, 8, 2.0, device=device)
    assert y.tolist() == EXPECTED


@pytest.mark.parametrize("grid", [1, (1,), (1, 1), [1, 1, 1], np.int64(1)])
def test_grids(saxpy, device, grid):
    x, y = arrays()
    saxpy.launch(grid, (64, 1, 1), x, y, 8, 2.0, device=baton.device(device))
    assert y.tolist() == EXPECTED


@pytest.mark.parametrize("grid", [0, (4, 0)])
def test_an_empty_grid_does_nothing(saxpy, device, grid):
    x, y = arrays()
    saxpy.launch(grid, None, x, y, 8, 2.0, device=device)
    assert y.tolist() == [1] * 8


@pytest.mark.parametrize(("count", "factor"), [
    (np.uint32(8), np.float32(2)), (ctypes.c_uint32(8), ctypes.c_float(2)), (b"\x08\0\0\0", np.float32(2).tobytes()),
    (np.int64(8 | 1 << 62) & 15, 2.0)])
def test_scalars_say_what_they_are(saxpy, device, count, factor):
    x, y = arrays()
    count = np.int32(count) if isinstance(count, np.int64) else count
    saxpy.launch(1, None, x, y, count, factor, device=device)
    assert y.tolist() == EXPECTED


def test_tensors_of_baton_say_where(saxpy, device):
    opened = baton.device(device)
    x, y = arrays()
    source, target = opened.tensor(x), opened.tensor(y)
    saxpy.launch(1, None, source, target, 8, 2.0)
    assert y.tolist() == target.tolist() == EXPECTED
    saxpy.launch(1, None, source, target, 8, 2.0, device="local-sync" if device == "local-task" else "local-task")
    assert y.tolist() == [1 + 4 * number for number in range(8)]


def test_everything_that_has_memory(saxpy, device):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    import array
    x, y = arrays()
    target = array.array("f", y)
    saxpy.launch(1, None, jax.numpy.asarray(x), target, 8, 2.0, device=device)
    assert list(target) == EXPECTED
    saxpy.launch(1, None, memoryview(x), y, 8, 2.0, device=device)
    assert y.tolist() == EXPECTED
    x.flags.writeable = False  # Then it is read.
    saxpy.launch(1, None, x, y, 8, 2.0, device=device)
    assert y[7] == 29


def test_tensors_of_pytorch(saxpy, device):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x, y = torch.arange(8.0), torch.ones(8)
    saxpy.launch(1, None, x, y, 8, 2.0, device=device)
    assert y.tolist() == EXPECTED
    with pytest.raises(TypeError, match="dense"):
        saxpy.launch(1, None, torch.arange(16.0)[::2], y, 8, 2.0, device=device)


def test_it_need_not_be_waited_for(saxpy, device):
    opened = baton.device(device)
    x, y = np.arange(1 << 16, dtype=np.float32), np.ones(1 << 16, np.float32)
    saxpy.launch(1 << 10, None, x, y, 1 << 16, 2.0, device=opened, wait=False)
    del x  # The work keeps what it needs.
    gc.collect()
    opened.wait()
    np.testing.assert_array_equal(y, 1 + 2 * np.arange(1 << 16, dtype=np.float32))


def test_what_is_not_there_yet_is_waited_for(saxpy, async_file):
    program = baton.load(async_file, device="local-task")
    for _ in range(20):
        later = program.twice(np.ones(8, np.float32))
        y = np.ones(8, np.float32)
        saxpy.launch(1, None, later, y, 8, 2.0, device="local-task")
        assert y.tolist() == [5] * 8


WRONG = [
    (lambda x, y: (x, y), ValueError, "takes 2 constants; 0 given"),
    (lambda x, y: (x, y, 8, 2.0, 3), ValueError, "takes 2 constants; 3 given"),
    (lambda x, y: (x, 8, 2.0), ValueError, "binding"),
    (lambda x, y: (x[::2], y, 8, 2.0), TypeError, "argument 1 of kernel 'saxpy'"),
    (lambda x, y: (x, y.astype(">f4"), 8, 2.0), TypeError, "argument 2"),
    (lambda x, y: ("x", y, 8, 2.0), TypeError, "a str where a kernel"),
    (lambda x, y: ([1.0], y, 8, 2.0), TypeError, "a list where"),
    (lambda x, y: (object(), y, 8, 2.0), TypeError, "an? object where"),
    (lambda x, y: (x, y, 1 << 32, 2.0), OverflowError, "argument 3"),
    (lambda x, y: (x, y, -(1 << 31) - 1, 2.0), OverflowError, "4 bytes"),
    (lambda x, y: (x, y, 1 << 80, 2.0), OverflowError, "4 bytes"),
    (lambda x, y: (x, y, 8, 1e300), OverflowError, "argument 4"),
    (lambda x, y: (x, y, np.int64(8), 2.0), ValueError, "takes 2 constants; 3 given"),
]


@pytest.mark.parametrize(("arguments", "error", "text"), WRONG)
def test_wrong_arguments_are_a_sentence(saxpy, device, arguments, error, text):
    x, y = arrays()
    with pytest.raises(error, match=text):
        saxpy.launch(1, None, *arguments(x, y), device=device)
    assert y.tolist() == [1] * 8


@pytest.mark.parametrize(("said", "error"), [
    ({}, TypeError), ({"device": 3}, TypeError), ({"device": "nowhere"}, baton.StatusError), ({"stream": "s"}, TypeError),
    ({"stream": -1}, TypeError), ({"stream": True}, TypeError), ({"stream": 0}, baton.UnimplementedError),
    ({"stream": 0, "device": "local-sync"}, TypeError), ({"device": "local-sync", "shared_bytes": -1}, TypeError),
    ({"device": "local-sync", "unknown": 1}, TypeError)])
def test_wrong_places(saxpy, said, error):
    with pytest.raises(error):
        saxpy.launch(1, None, 8, 2.0, **said)


@pytest.mark.parametrize(("grid", "error"), [((1, 2, 3, 4), ValueError), ((), ValueError), (-1, ValueError), (1 << 32, ValueError),
                                             ("1", TypeError), (1.5, TypeError), (None, TypeError), ((1, None), TypeError)])
def test_wrong_grids(saxpy, grid, error):
    with pytest.raises(error):
        saxpy.launch(grid, None, *arrays(), 8, 2.0, device="local-sync")
    with pytest.raises(error):
        saxpy.launch(1, grid if grid is not None else 1.5, *arrays(), 8, 2.0, device="local-sync")


def test_wrong_code(tmp_path, elf, device):
    for code, error in ((b"", ValueError), (b"no code", ValueError), ({}, ValueError), ({"cuda-ptx": 3}, TypeError), (3, TypeError),
                        (tmp_path / "missing", LookupError), (tmp_path, baton.StatusError)):
        with pytest.raises(error):
            baton.KernelLibrary(code)
    library = baton.KernelLibrary({f"embedded-elf-{platform.machine()}": elf[:100]})
    with pytest.raises(baton.StatusError):
        library["saxpy"].launch(1, None, *arrays(), 8, 2.0, device=device)
    with pytest.raises(LookupError, match="nothing"):
        baton.KernelLibrary(elf)["nothing"]
    with pytest.raises(TypeError):
        baton.KernelLibrary(elf)[0]


def test_what_only_cuda_has_says_so(elf, saxpy):
    library = baton.KernelLibrary(elf)
    for ask in (lambda: saxpy.parameter_sizes, lambda: saxpy.occupancy(64), lambda: library.variable("x")):
        with pytest.raises(baton.StatusError):
            ask()
    with pytest.raises(TypeError, match="list of texts"):
        baton.KernelLibrary.compile("", options="-DX")


def test_a_kernel_keeps_its_library(elf, device):
    kernel = baton.KernelLibrary(elf, name="short")["saxpy"]
    gc.collect()
    x, y = arrays()
    kernel.launch(1, None, x, y, 8, 2.0, device=device)
    assert y.tolist() == EXPECTED


def test_threads_share_a_kernel(saxpy, device):
    opened, failed = baton.device(device), []

    def work():
        for _ in range(100):
            x, y = arrays()
            saxpy.launch(1, None, x, y, 8, 2.0, device=opened)
            if y.tolist() != EXPECTED:
                failed.append(y)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def recorded(work, device, folder):
    path = folder / "scale.bvm"
    try:
        if not path.exists():
            baton.compile(SCALE, output=path)
    except baton.UnavailableError as error:
        pytest.skip(f"there is no compiler: {error}")
    return baton.load(path, device=device, modules=[baton.module("app", {"saxpy": work})])


def test_a_command_records_a_kernel(saxpy, device, folder):
    bias = baton.device(device).tensor(np.full(8, 100, np.float32))

    def work(commands, x, y):
        commands.fill_buffer(y, b"\0\0\0\0")
        commands.barrier()
        commands.kernel(saxpy, 1, None, x, y, 8, 2.0)
        commands.barrier()
        commands.kernel(saxpy, 1, None, bias, y, np.uint32(8), np.float32(1))

    program = recorded(work, device, folder)
    for factor in (1, 3):
        assert program.run(factor * np.arange(8, dtype=np.float32)).tolist() == [100 + 2 * factor * i for i in range(8)]


@pytest.mark.parametrize(("arguments", "text"), [
    (lambda x, y: (x, y), "constants"), (lambda x, y: (x, y, 8, 1 << 40), "argument 4"),
    (lambda x, y: (x, np.ones(8, np.float32), 8, 2.0), "argument 2")])
def test_what_a_command_records_wrong(saxpy, device, folder, arguments, text):
    kept = []

    def work(commands, x, y):
        kept.extend([commands, x, y])
        commands.kernel(saxpy, 1, None, *arguments(x, y))

    with pytest.raises(baton.StatusError, match=text):
        recorded(work, device, folder).run(np.ones(8, np.float32))
    with pytest.raises(baton.FailedPreconditionError, match="until the function"):
        kept[0].kernel(saxpy, 1, None, kept[1], kept[2], 8, 2.0)
    with pytest.raises(TypeError, match="belongs to a command buffer"):
        saxpy.launch(1, None, kept[1], kept[2], 8, 2.0, device=device)
