"""Functions of Python as imports: signatures, results, what they raise, and commands that record."""
import array
import concurrent.futures
import ctypes
import os
import struct
import traceback

import numpy as np
import pytest

import baton
from baton._modules import signature_text
from conftest import app, assembled


def load(host_file, device="local-sync", **functions):
    return baton.load(host_file, device=device, modules=[app(**functions)])


def test_numbers_and_tensors_go_both_ways(host_file, device):
    program = load(host_file, device, number=lambda a, b, c, d: (a + 1, b + 1, c * 2, d * 2),
                   tensor=lambda tensor: np.asarray(tensor) * 2)
    assert program.number(1, 2, 3.0, 4.0) == (2, 3, 6.0, 8.0)
    assert np.asarray(program.tensor(np.arange(3))).tolist() == [0, 2, 4]


def test_a_tensor_that_a_function_keeps_lives_on(host_file):
    kept = []
    program = load(host_file, tensor=lambda tensor: kept.append(tensor) or tensor)
    program.tensor(np.arange(1000, dtype=np.int64))
    del program
    assert np.asarray(kept[0]).sum() == 499500


class Oops(Exception):
    pass


@pytest.mark.parametrize("raised,code", [(Oops("why"), "UNKNOWN"), (ValueError("why"), "INVALID_ARGUMENT"),
                                         (IndexError("why"), "OUT_OF_RANGE"), (MemoryError("why"), "RESOURCE_EXHAUSTED"),
                                         (baton.AbortedError("why"), "ABORTED"), (KeyError("why"), "NOT_FOUND"),
                                         (TimeoutError("why"), "DEADLINE_EXCEEDED")])
def test_what_a_function_raises_is_the_cause(host_file, device, raised, code):
    def fail():
        raise raised

    program = load(host_file, device, nothing=fail)
    for _ in range(3):
        with pytest.raises(baton.StatusError, match="why") as error:
            program.nothing()
        assert error.value.__cause__ is raised and error.value.code == code
        assert any("app.nothing" in line for line in error.value.backtrace), error.value.backtrace
        assert any("host.nothing" in line for line in error.value.backtrace), error.value.backtrace
    assert program.blob(b"and goes on") == b"and goes on"


@pytest.mark.parametrize("said", ["half a character: \udcff", "nothing: \0 inside", "\u00e9\u6f22"])
def test_any_text_may_be_raised(host_file, said):
    def breaks():
        raise ValueError(said)

    program = baton.load(host_file, device="local-sync", modules=[app(nothing=breaks)])
    with pytest.raises(baton.InvalidArgumentError) as raised:
        program.nothing()
    told = said.encode(errors="backslashreplace").decode().replace("\0", "\\0")
    assert raised.value.message.startswith("ValueError: " + told)
    assert raised.value.__cause__.args == (said,)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_python_goes_through(host_file, stop):
    def end():
        raise stop("now")

    with pytest.raises(stop):
        load(host_file, nothing=end).nothing()


@pytest.mark.parametrize("numbers", [(1, 2, 3.0), (1, 2, 3.0, 4.0, 5), None, 7, [1, 2, 3.0, 4.0], ("a", 2, 3.0, 4.0),
                                     (2**40, 2, 3.0, 4.0)])
def test_results_of_another_kind_are_refused(host_file, numbers):
    with pytest.raises(baton.InvalidArgumentError):
        load(host_file, number=lambda *_: numbers).number(1, 2, 3.0, 4.0)


def test_a_result_where_there_is_none(host_file):
    with pytest.raises(baton.InvalidArgumentError, match="has no results"):
        load(host_file, nothing=lambda: 5).nothing()


def test_calls_nest(host_file, device):
    depth = []

    def deeper():
        depth.append(len(depth))
        if len(depth) < 20:
            program.nothing()

    program = load(host_file, device, nothing=deeper)
    program.nothing()
    assert depth == list(range(20))


def test_recursion_without_end_is_an_error(host_file):
    def deeper():
        program.nothing()

    program = load(host_file, nothing=deeper)
    with pytest.raises((baton.StatusError, RecursionError)):
        program.nothing()


@pytest.mark.parametrize("text,convention", [("() -> ()", "v_v"), ("(i32, f32) -> f64", "if_F"), ("(tensor)", "r<hal.buffer_view>_v"),
                                             ("(i64,list,blob)->(ref)", "Ir<list>r<blob>_r"), ("if_f", "if_f"),
                                             ("(custom.string) -> ()", "r<custom.string>_v")])
def test_signatures(text, convention):
    assert signature_text(text) == convention


@pytest.mark.parametrize("text", ["i32", "(i33) -> ()", "(i32 -> ()", "", "(int) -> float"])
def test_bad_signatures(text):
    with pytest.raises(ValueError):
        signature_text(text)


@pytest.mark.parametrize("functions, prepare, sentence", [
    (3, None, "are {name: function}, not an int"), ([len], None, "are {name: function}"), ({"f": (len,)}, None, "'app.f' is a function, or"),
    ({"f": (len, 3)}, None, "a signature is a text"), ({"f": 3}, None, "'app.f' is no function"), ({"f": len}, 3, "prepare= of module 'app' is no function")])
def test_what_is_no_module_is_said(functions, prepare, sentence):
    with pytest.raises(TypeError, match=sentence):
        baton.module("app", functions, prepare=prepare)


def test_none_is_no_array_and_no_kernel():
    with pytest.raises(TypeError, match="None where a tensor is wanted"):
        baton.device("local-sync").tensor(None)
    with pytest.raises(TypeError, match="not NoneType"):
        baton.KernelLibrary(None)
    with pytest.raises(TypeError, match="rank is an int, not a str"):
        baton.join_ranks(rank="x", ranks=2)


def test_a_signature_of_ones_own_is_checked_when_linking(host_file):
    program = baton.load(host_file, device="local-sync", modules=[
        app(nothing=(lambda: None, "() -> ()"), number=(lambda *n: n, "(i32, i64, f32, f64) -> (i32, i64, f32, f64)"))])
    assert program.number(1, 2, 3.0, 4.0) == (1, 2, 3.0, 4.0)
    with pytest.raises(baton.StatusError, match="app.nothing"):
        baton.load(host_file, device="local-sync", modules=[app(nothing=(lambda: 1, "() -> i32"))])
    with pytest.raises(TypeError):
        baton.module("app", {"nothing": 5})
    with pytest.raises(ValueError):
        baton.module("app", {})


COMMANDS = """
module @commands
import @hal.devices.get(i64) -> hal.device
import @hal.device.allocate(hal.device, i32, i32, i64) -> hal.buffer
import @hal.buffer_view.buffer(hal.buffer_view) -> hal.buffer
import @hal.command_buffer.create(hal.device, blob, i32, i32) -> hal.command_buffer
import @hal.command_buffer.finish(hal.command_buffer) -> hal.recording
import @hal.fence.create(hal.device) -> hal.fence
import @hal.fence.await(i32, (hal.fence)...) -> i32
import @hal.fence.check(hal.fence)
import @hal.queue.execute(hal.device, hal.fence, hal.fence, hal.recording, (hal.buffer, i64, i64)..., (i32)...)
import @py.work(hal.command_buffer, f32, i64, hal.buffer, i64, i64, i64, hal.buffer, i64, i64)
"""


MLIR = """
module @calls {
  func.func private @py.work(%scale: f32, %x: tensor<8xf32>) -> tensor<8xf32> attributes {iree.abi.streamable}
  func.func @run(%x: tensor<8xf32>) -> tensor<8xf32> {
    %two = arith.constant 2.0 : f32
    %y = call @py.work(%two, %x) : (f32, tensor<8xf32>) -> tensor<8xf32>
    return %y : tensor<8xf32>
  }
}
"""


@pytest.fixture(scope="session")
def command_file(folder):
    from conftest import compiled
    return compiled(folder, "calls", MLIR)


def run_command(command_file, device, work, prepare=None):
    program = baton.load(command_file, device=device, modules=[baton.module("py", {"work": work}, prepare=prepare)])
    return np.asarray(program.run(np.arange(8, dtype=np.float32)))


def test_a_command_calls_the_host_in_order(command_file, device):
    def work(commands, scale, x, y):
        def multiply(source, target):
            np.frombuffer(target, np.float32)[:] = scale * np.frombuffer(source, np.float32)

        assert x.nbytes == 32 and not x.is_written
        commands.host(multiply, x, y, name="multiply")

    prepared = []
    assert run_command(command_file, device, work, prepared.append).tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
    assert [one.name for one in prepared] == [device]


@pytest.mark.parametrize("device", ["local-sync", "local-task?workers=1", "local-task?workers=2", "vulkan"])
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("who", ["itself", "another thread"])
def test_what_the_host_does_for_a_command_may_run_programs_of_its_device(device, depth, who):
    """The one worker is in the host call, and runs what that waits for, or another thread does in its place."""
    if device == "vulkan" and not any((info.uri or "").startswith(device) for info in baton.devices()):
        pytest.skip("there is no Vulkan device")
    target = device.partition("-")[0]
    sums = baton.load(baton.compile("""func.func @sum(%x: tensor<?xf32>) -> tensor<?xf32> {
      %y = arith.addf %x, %x : tensor<?xf32>
      return %y : tensor<?xf32>
    }""", target=target), device=device)
    code = baton.compile("""func.func private @app.work(%x: tensor<4xf32>) -> tensor<4xf32> attributes {iree.abi.streamable}
    func.func @run(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = call @app.work(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }""", target=target)
    programs = []

    def around(level, threads):
        def work(source, target):
            inner = programs[level - 1].run if level else sums.sum
            given = np.array(np.frombuffer(source, np.float32))
            result = inner(given) if who == "itself" else threads.submit(inner, given).result(30)
            np.frombuffer(target, np.float32)[:] = np.asarray(result) + 1
        return work

    with concurrent.futures.ThreadPoolExecutor(depth) as threads:
        for level in range(depth):
            work = around(level, threads)
            module = baton.module("app", {"work": lambda commands, x, y, work=work: commands.host(work, x, y)})
            programs.append(baton.load(code, device=device, modules=[module]))
        assert np.asarray(programs[-1].run(np.arange(4, dtype=np.float32))).tolist() == [2 * x + depth for x in range(4)]


def test_a_command_copies_fills_and_updates(command_file, device):
    def work(commands, scale, x, y):
        commands.copy_buffer(x.part(0, 8), y.part(0, 8))
        commands.fill_buffer(y.part(8, 16), struct.pack("f", scale))
        commands.update_buffer(y.part(24, 8), struct.pack("2f", 8, 9))
        commands.barrier()

    assert run_command(command_file, device, work).tolist() == [0, 1, 2, 2, 2, 2, 8, 9]


class OnlyDlpack:
    """An array of another framework, without a buffer."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **wishes):
        return self.array.__dlpack__(**wishes)

    def __dlpack_device__(self):
        return self.device


EIGHT = np.arange(8, dtype=np.float32) * 3


@pytest.mark.parametrize("source", [
    EIGHT, EIGHT.reshape(2, 4), bytearray(EIGHT), memoryview(EIGHT), memoryview(EIGHT).cast("B"), array.array("f", EIGHT),
    (ctypes.c_float * 8)(*EIGHT), EIGHT.astype("<f4"), EIGHT.view(np.complex64), EIGHT.view(np.int16), OnlyDlpack(EIGHT),
    EIGHT[None, :, None], EIGHT.view("S4"), EIGHT.view("m8[s]")], ids=lambda source: type(source).__name__)
def test_an_update_takes_whatever_has_bytes(command_file, device, source):
    def work(commands, scale, x, y):
        commands.update_buffer(y, source)

    assert run_command(command_file, device, work).tolist() == EIGHT.tolist()


def updated(command_file, device, source):
    return run_command(command_file, device, lambda commands, scale, x, y: commands.update_buffer(y, source)).view(np.uint16).tolist()


def test_an_update_takes_arrays_of_jax(command_file, device):
    half = pytest.importorskip("ml_dtypes").bfloat16
    assert updated(command_file, device, np.arange(16).astype(half)) == np.arange(16).astype(half).view(np.uint16).tolist()
    jnp = pytest.importorskip("jax.numpy")
    assert updated(command_file, device, jnp.arange(16, dtype=jnp.bfloat16)) == np.arange(16).astype(half).view(np.uint16).tolist()
    assert updated(command_file, device, jnp.asarray(EIGHT)) == EIGHT.view(np.uint16).tolist()


def test_an_update_takes_tensors_of_pytorch(command_file, device):
    half, torch = pytest.importorskip("ml_dtypes").bfloat16, pytest.importorskip("torch")
    assert updated(command_file, device, torch.arange(16, dtype=torch.bfloat16)) == np.arange(16).astype(half).view(np.uint16).tolist()
    assert updated(command_file, device, torch.from_numpy(EIGHT)) == EIGHT.view(np.uint16).tolist()


def test_a_fill_takes_whatever_has_bytes(command_file, device):
    for pattern in (np.float32(3), np.array(3, np.float32), np.array([3], np.float32), bytearray(struct.pack("f", 3)), ctypes.c_float(3)):
        def work(commands, scale, x, y):
            commands.fill_buffer(y, pattern)

        assert run_command(command_file, device, work).tolist() == [3] * 8


@pytest.mark.parametrize("source, sentence", [
    (EIGHT[::2], "not an ndarray that is not dense and row-major; copy it first"),
    (EIGHT.reshape(2, 4).T, "not an ndarray that is not dense and row-major"), (memoryview(EIGHT)[::2], "not a memoryview that is not dense"),
    (OnlyDlpack(EIGHT[::2]), "not an OnlyDlpack that is not dense"),
    (OnlyDlpack(EIGHT, device=(2, 0)), "takes bytes that lie in the host's memory, not an OnlyDlpack on a device"),
    (3, "takes bytes, or an array that has a buffer or DLPack, not an int"), ("text", "not a str"), (None, "not None"), ([1.0], "not a list"),
], ids=lambda value: type(value).__name__)
def test_what_an_update_does_not_take(command_file, device, source, sentence):
    for verb in ("update_buffer", "fill_buffer"):
        def work(commands, scale, x, y):
            getattr(commands, verb)(y, source)

        with pytest.raises(baton.InvalidArgumentError, match=verb) as error:
            run_command(command_file, device, work)
        assert sentence in str(error.value), error.value


@pytest.mark.parametrize("results", ["tensor", "tensor, i32"])
def test_a_function_that_returns_none_for_a_tensor_is_told_at_once(folder, device, results):
    from conftest import compiled
    types = results.replace("tensor", "tensor<?xf32>")
    program = baton.load(compiled(folder, "none_" + str(len(results)), f"""
    module @none {{
      func.func private @py.make(%x: tensor<?xf32>) -> ({types})
      func.func @run(%x: tensor<?xf32>) -> tensor<?xf32> {{
        %y{":2" if "i32" in results else ""} = call @py.make(%x) : (tensor<?xf32>) -> ({types})
        %z = arith.addf %x, %y{"#0" if "i32" in results else ""} : tensor<?xf32>
        return %z : tensor<?xf32>
      }}
    }}"""), device=device, modules=[baton.module("py", {"make": lambda x: (None, 3) if "i32" in results else None})])
    with pytest.raises(baton.InvalidArgumentError, match="it returned None as result 1, where a tensor is wanted\n  in Python function 'py.make'"):
        program.run(EIGHT)
    with pytest.raises(TypeError, match="None where a tensor is wanted\n  in argument 1 of"):
        program.run(None)


def test_names_of_before_are_still_taken(command_file, device):
    with pytest.warns(DeprecationWarning, match="baton.CommandBuffer"):
        assert baton.Recording is baton.CommandBuffer
    with pytest.raises(AttributeError, match="no attribute 'Recorder'"):
        baton.Recorder

    def work(commands, scale, x, y):
        assert isinstance(commands, baton.CommandBuffer)
        commands.copy(x.part(0, 8), y.part(0, 8))
        commands.fill(y.part(8, 16), struct.pack("f", scale))
        commands.update(y.part(24, 8), struct.pack("2f", 8, 9))

    assert run_command(command_file, device, work).tolist() == [0, 1, 2, 2, 2, 2, 8, 9]


def test_foreign_work_runs_at_once_where_there_are_no_streams(command_file, device):
    def work(commands, scale, x, y):
        def library(stream, source, target):
            assert stream is None and source.nbytes == 32
            np.frombuffer(target.view, np.float32)[:] = np.frombuffer(source.view, np.float32) + scale

        commands.foreign(library, x, y)

    assert run_command(command_file, device, work).tolist() == [2, 3, 4, 5, 6, 7, 8, 9]


def test_a_command_dispatches_a_kernel(command_file, device, sample_folder):
    import glob
    images = {f"embedded-elf-{architecture}": open(path, "rb").read()
              for architecture in ("x86_64", "aarch64")
              for path in glob.glob(f"{sample_folder}/custom_command/custom_command_blas_kernels/*{architecture}*.elf")}
    if not images:
        pytest.skip("the sample's kernels are not built")
    kernels = {}

    def prepare(on):
        kernels[on.name] = on.executable(images, [("saxpy", (64, 1, 1))], name="blas")

    def work(commands, scale, x, y):
        commands.fill_buffer(y, b"\0\0\0\0")
        commands.barrier()
        commands.dispatch(kernels[commands.device.name], "saxpy", 1, [x, y], [8, scale])

    assert run_command(command_file, device, work, prepare).tolist() == [0, 2, 4, 6, 8, 10, 12, 14]


def test_what_a_command_does_wrong(command_file, device):
    later = []

    def keeps(commands, scale, x, y):
        commands.copy_buffer(x, y)
        later.extend([commands, x, y])

    assert run_command(command_file, device, keeps).tolist() == list(range(8))
    with pytest.raises(baton.FailedPreconditionError, match="until the function"):
        later[0].copy(later[1], later[2])

    def outside(commands, scale, x, y):
        commands.copy_buffer(x.part(16, 32), y)

    with pytest.raises(baton.StatusError):
        run_command(command_file, device, outside)

    def returns(commands, scale, x, y):
        commands.copy_buffer(x, y)
        return 1

    with pytest.raises(baton.InvalidArgumentError, match="no results"):
        run_command(command_file, device, returns)

    def raises(commands, scale, x, y):
        raise Oops("while recording")

    with pytest.raises(baton.StatusError, match="while recording") as error:
        run_command(command_file, device, raises)
    assert isinstance(error.value.__cause__, Oops)


@pytest.mark.parametrize("kind", ["host", "foreign"])
@pytest.mark.parametrize("raised,code", [(Oops("in the work"), "UNKNOWN"), (ValueError("in the work"), "INVALID_ARGUMENT"),
                                         (baton.DataLossError("in the work"), "DATA_LOSS")])
def test_what_recorded_work_raises_is_the_cause(command_file, device, kind, raised, code):
    """Whatever thread runs it: with its traceback, and each failure with its own."""
    def work(commands, scale, x, y):
        def breaks(*views):
            raise raised

        getattr(commands, kind)(breaks, x, y)

    for _ in range(3):
        with pytest.raises(baton.StatusError, match="in the work") as error:
            run_command(command_file, device, work)
        assert error.value.__cause__ is raised and error.value.code == code
        assert traceback.extract_tb(raised.__traceback__)[-1].name == "breaks"


def test_what_work_raises_in_threads_comes_to_its_caller(command_file, device):
    def call(number):
        def breaks(*views):
            raise Oops(f"number {number}")

        with pytest.raises(baton.StatusError, match=f"number {number}") as error:
            run_command(command_file, device, lambda commands, scale, x, y: commands.host(breaks, x, y))
        return number, str(error.value.__cause__)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for number, told in pool.map(call, range(40)):
            assert told == f"number {number}"


def test_what_ends_python_goes_through_recorded_work(command_file, device):
    def breaks(*views):
        raise SystemExit(7)

    with pytest.raises(SystemExit) as stop:
        run_command(command_file, device, lambda commands, scale, x, y: commands.host(breaks, x, y))
    assert stop.value.code == 7


@pytest.mark.parametrize("write", [
    lambda commands, x, y: commands.fill_buffer(x, b"\0"),
    lambda commands, x, y: commands.update_buffer(x, bytes(32)),
    lambda commands, x, y: commands.copy_buffer(y, x),
    lambda commands, x, y: commands.copy_buffer(y.part(0, 4), x.part(4, 4)),
], ids=["fill", "update", "copy", "copy of parts"])
def test_a_command_writes_nothing_that_it_was_given_to_read(command_file, device, write):
    def work(commands, scale, x, y):
        commands.copy_buffer(x, y)
        commands.barrier()
        write(commands, x, y)

    with pytest.raises(baton.PermissionDeniedError, match=r"given to read; .* ties to one \(-> %x\)"):
        run_command(command_file, device, work)


@pytest.mark.parametrize(("offset", "nbytes"), [(0, 33), (32, 1), (33, 0), (8, 2**64 - 8), (2**64 - 8, 16)])
def test_a_part_lies_inside_of_its_binding(command_file, device, offset, nbytes):
    parts = []

    def work(commands, scale, x, y):
        parts.append((x.part(0, 32).nbytes, x.part(8, 8).part(8, 0).offset - x.offset))
        y.part(offset, nbytes)

    with pytest.raises(baton.OutOfRangeError, match=rf"part\({offset}, {nbytes}\) of a binding of 32 bytes"):
        run_command(command_file, device, work)
    assert parts == [(32, 16)]


def test_a_host_function_that_raises_fails_the_call(command_file, device):
    def work(commands, scale, x, y):
        def fail(source, target):
            raise Oops("on the device")

        commands.host(fail, x, y)

    with pytest.raises(baton.StatusError, match="Oops: on the device"):
        run_command(command_file, device, work)


@pytest.mark.parametrize("keep", [lambda view: np.frombuffer(view, np.float32), np.asarray, memoryview, lambda view: view])
def test_a_view_that_a_host_function_keeps_is_refused(command_file, device, keep):
    kept = []

    def work(commands, scale, x, y):
        commands.host(lambda source, target: kept.append(keep(target)), x, y)

    with pytest.raises(baton.StatusError, match="BufferError"):
        run_command(command_file, device, work)


def test_plugins_and_files_are_modules(sample_folder, folder):
    program = baton.load(f"{sample_folder}/custom_command/saxpy.bvm", device="local-sync",
                         modules=[f"{sample_folder}/custom_command/blas.so"])
    result, total = program.saxpy(np.ones(8, np.float32), np.ones(8, np.float32))
    assert np.asarray(result).tolist() == [3] * 8 and float(np.asarray(total).reshape(())) == 24
    with pytest.raises(baton.StatusError):
        baton.load(f"{sample_folder}/custom_command/saxpy.bvm", modules=[str(folder / "absent.so")])


def test_assembled_is_used(folder):
    assert assembled(folder, "tiny", "module @tiny\nexport func @f() {\n  return\n}\n").exists()


def test_functions_of_tvm_ffi_are_imports(sample_folder):
    """A library of TVM-FFI is a module as it stands, beside TVM-FFI's own frontend in the process."""
    tvm_ffi = pytest.importorskip("tvm_ffi")
    library = f"{sample_folder}/kernels/tvm_ffi/add_one.so"
    if not os.path.exists(library):
        pytest.skip("the sample kernels/tvm_ffi was not built")
    x = np.arange(1, 5, dtype=np.float32)
    for name in ("called", "recorded"):
        program = baton.load(f"{sample_folder}/kernels/tvm_ffi/{name}.bvm", device="local-task", modules=[library])
        assert np.asarray(program.main(x)).tolist() == [4, 6, 8, 10]
    with pytest.raises(ValueError, match="neither name, runtime nor a function"):
        baton.load(f"{sample_folder}/kernels/tvm_ffi/called.bvm", device="local-task", modules=[f"{library}?nme=x"])
    y = tvm_ffi.from_dlpack(np.zeros(4, np.float32))
    tvm_ffi.load_module(library).add_one(tvm_ffi.from_dlpack(x), y)
    assert np.from_dlpack(y).tolist() == [2, 3, 4, 5]
