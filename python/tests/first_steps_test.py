"""What somebody tries first: numbers of every type that a function declares, one thing where several may stand, what was not
compiled, types that nothing takes. Each gives the right answer or a sentence in the words of who calls."""
import subprocess
import sys

import numpy as np
import pytest

import baton

INTEGERS = {"i1": (0, 1), "i8": (-128, 255), "i16": (-(1 << 15), (1 << 16) - 1), "i32": (-(1 << 31), (1 << 31) - 1),
            "i64": (-(1 << 63), (1 << 63) - 1), "index": (-(1 << 63), (1 << 63) - 1)}
FLOATS = {"f16": 65504.0, "bf16": 3.3e38, "f32": 3.4e38, "f64": 1.7e308}
SCALARS = "".join(f"func.func @{name}(%x: {name}, %t: tensor<?x{'i64' if name == 'index' else name}>) -> ({name}, {name}) "
                  f"{{ return %x, %x : {name}, {name} }}\n" for name in [*INTEGERS, *FLOATS])
SUMS = "".join(f"func.func @sum_{name}(%x: {name}) -> {name} {{ %y = arith.addf %x, %x : {name} return %y : {name} }}\n" for name in FLOATS)
OTHERS = """
func.func @complex(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }
func.func @wide(%x: tensor<?xi64>) -> tensor<?xi64> { return %x : tensor<?xi64> }
func.func @pairs(%x: tensor<?xcomplex<f32>>) -> tensor<?xcomplex<f32>> { return %x : tensor<?xcomplex<f32>> }
func.func @brains(%x: tensor<?xbf16>) -> tensor<?xbf16> { return %x : tensor<?xbf16> }
func.func @halves(%x: tensor<?xf16>) -> tensor<?xf16> { return %x : tensor<?xf16> }
func.func @doubles(%x: tensor<?xf64>) -> tensor<?xf64> { return %x : tensor<?xf64> }
"""


@pytest.fixture(scope="module")
def program():
    try:
        return baton.load(baton.compile(SCALARS + SUMS + OTHERS), device="local-sync")
    except baton.UnavailableError as error:
        pytest.skip(f"there is no compiler: {error}")


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_that_fit_and_do_not(program, name):
    least, most = INTEGERS[name]
    function, empty = program[name], np.zeros(0, {"i1": bool, "index": np.int64}.get(name) or f"int{name[1:]}")
    wraps = least < 0 and most > (1 << (int(name[1:]) - 1) if name[1:].isdigit() else 63)
    for value in {least, most, 0, 1}:
        got = function(value, empty)
        assert got == ((value,) * 2) or wraps and got[0] & most == value & most
    for value in (least - 1, most + 1):
        with pytest.raises(OverflowError, match=f"{value} is no "):
            function(value, empty)
    for value in (1.0, np.float32(1), "1", None, 1j, [1]):
        with pytest.raises(TypeError, match="argument 1"):
            function(value, empty)
    for value in (True, np.bool_(True), np.int8(1), np.uint64(1), np.array(1)):
        assert function(value, empty)[0] == 1


@pytest.mark.parametrize("name", FLOATS)
def test_floats_are_numbers_whatever_their_size(program, name):
    assert program[f"sum_{name}"](1.5) == 3.0 and program[f"sum_{name}"](3) == 6.0
    assert program[f"sum_{name}"](np.float32(-0.25)) == -0.5
    largest = program[f"sum_{name}"](FLOATS[name] / 2)
    assert largest == pytest.approx(FLOATS[name], rel=1e-2) and isinstance(largest, float)
    for value in (float("inf"), float("-inf")):
        assert program[f"sum_{name}"](value) == value
    assert np.isnan(program[f"sum_{name}"](float("nan")))
    if name != "f64":
        with pytest.raises(OverflowError, match="is no"):
            program[f"sum_{name}"](1e300)
    for value in ("1", None, 1j):
        with pytest.raises(TypeError, match="argument 1"):
            program[f"sum_{name}"](value)


def test_lists_refuse_what_does_not_fit(program, recwarn):
    with pytest.raises(OverflowError, match="no f32"):
        program.complex([1e300, 1])
    with pytest.raises(OverflowError, match="fits no i64"):
        program.wide([1 << 70])
    assert program.complex([float("inf"), float("nan")]).tolist()[0] == float("inf")
    assert not recwarn.list
    with pytest.raises(TypeError, match="None where a tensor is wanted"):
        program.complex(None)


BIG = 1 << 70  # No integer of NumPy's; a number of every float but f16.


@pytest.mark.parametrize("name", ["complex", "brains", "doubles", "pairs", "halves"])
def test_large_ints_are_numbers_of_floats(program, name):
    function = program[name]
    for given in ([BIG, 1], [BIG, 0.5], [1 << 63, -1], [True, -BIG]):
        if name == "halves":
            with pytest.raises(OverflowError, match="no f16"):
                function(given)
        else:
            assert [complex(each) for each in np.asarray(function(given)).tolist()] == [complex(each) for each in given]
    with pytest.raises(OverflowError, match="no "):
        function([1 << 1100, 1])
    for given in ([BIG, "1"], [BIG, None], *([[BIG, 1j]] if name != "pairs" else [])):
        with pytest.raises(TypeError, match="argument 1"):
            function(given)
    assert np.asarray(program.pairs([BIG, 1j])).tolist() == [BIG, 1j]


def test_large_ints_of_both_signs(program):
    """NumPy takes floats for these, which are no numbers of an i64."""
    for given in ([1 << 63, -1], [[1 << 63], [1]][0] + [0], [-(1 << 63) - 1, 1], [BIG, 0.5]):
        with pytest.raises(OverflowError):
            program.wide(given)
    with pytest.raises(TypeError):
        program.wide([1.0, 2])
    assert program.wide([(1 << 63) - 1, -(1 << 63)]).tolist() == [(1 << 63) - 1, -(1 << 63)]


DECLARED = {  # A user's own declaration: what tells the types of a tensor, and of an i8.
    "(%x: tensor<?xf32>, %n: i8) -> (tensor<?xf32>, i8)": True,
    "sync func @f(%x: tensor<?xf32> {a = 0 : i64}, %n: i8 {b}) -> (%y: tensor<?xf32> {a = 0 : i64}, %m: i8 {b})": True,
    "@f(%x: tensor<?xf32> {a = 0 : i64, c = [1, 2]}, %n: i8) -> (%y: tensor<?xf32>, %m: i8)": True,
    "@f(tensor<?xf32> {a = 0 : i64}, i8 {a = \\22, (%x: i1) -> <\\22}) -> (tensor<?xf32>, i8)": True,
    "@f(%x: tensor<?xf32, affine_map<(d0) -> (d0)>> {a = affine_map<(d0, d1) -> (d1)>}, %n:i8)->(tensor<?xf32>,i8 )": True,
    "func f(Tensor x, int n)": False,
    "an x (and an n": False,
    "f(%, %) -> (%": False,
    "": False,
}


@pytest.mark.parametrize("declaration", DECLARED)
def test_declarations_of_the_users_own(declaration):
    function = baton.load(baton.compile(f"""
      func.func @f(%x: tensor<?xf32>, %n: i8) -> (tensor<?xf32>, i8) attributes {{iree.abi.declaration = "{declaration}"}} {{
        return %x, %n : tensor<?xf32>, i8
      }}"""), device="local-sync").f
    x, n = function(np.array([1, 2], np.float32), 7)
    assert x.tolist() == [1, 2] and n == 7
    if DECLARED[declaration]:
        assert function([1, 2], 7)[0].tolist() == [1, 2]
        with pytest.raises(OverflowError, match="300 is no i8"):
            function([1, 2], 300)


def test_results_are_read_as_arrays_are(program):
    result = program.complex([1, 2])
    assert result[1] == 2 and [float(each) for each in result] == [1, 2] and result[::-1].tolist() == [2, 1]
    assert len(result) == 2


def test_one_where_several_may_stand(program, tmp_path):
    code = baton.compile("func.func private @app.f(i32) -> i32\nfunc.func @g(%x: i32) -> i32 { %y = call @app.f(%x) : (i32) -> i32 return %y : i32 }")
    assert baton.load(code, modules=baton.module("app", {"f": lambda x: x + 1})).g(4) == 5
    with pytest.raises(baton.NotFoundError, match="'absent.so'"):
        baton.load(code, modules="absent.so")
    with pytest.raises(baton.NotFoundError, match="'absent.npz'"):
        baton.load(code, modules=baton.module("app", {"f": lambda x: x}), parameters="absent.npz")


def test_what_was_not_compiled_says_so(tmp_path):
    with pytest.raises(ValueError, match=r"load\(compile\(...\)\)"):
        baton.load("func.func @f() {\n return }")
    for name, text in (("f.mlir", "func.func @f() { return }"), ("g.mlir", "// ü" * 300), ("h.txt", "// A program.\nfunc.func @f() { return }"),
                       ("i", "module @i attributes {a} {\n}")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=f"{name}' is the text of a program"):
            baton.load(str(tmp_path / name))
    with pytest.raises(baton.NotFoundError, match="absent.mlir"):
        baton.load("absent.mlir")


def test_files_are_what_is_in_them(tmp_path):
    """Whatever their names look like."""
    code = baton.compile("func.func @f() -> i32 { %n = arith.constant 3 : i32 return %n : i32 }")
    for name in ("f.mlir", "two\nlines.bvm", "f.so", "f?a=b", "func.func"):
        (tmp_path / name).write_bytes(code)
        assert baton.load(str(tmp_path / name)).f() == 3
        assert baton.load(tmp_path / name).f() == 3
    for name in ("a plugin\n.so", "plugin.mlir"):
        (tmp_path / name).write_bytes(b"\x7fELF")
        for end in ("", "?key=two\nlines", "@entry?key=a.mlir"):
            with pytest.raises(baton.StatusError) as raised:
                baton.load(code, modules=[str(tmp_path / name) + end])
            assert "the text of a program" not in str(raised.value)


WRONG = {
    "a device": lambda code: baton.load(code, device=3),
    "devices": lambda code: baton.load(code, device=[3]),
    "a module": lambda code: baton.load(code, modules=[lambda: 1]),
    "a program": lambda _: baton.load(3),
    "a module's name": lambda _: baton.module(3, {"f": print}),
    "no name": lambda _: baton.module("", {"f": print}),
    "a function's name": lambda _: baton.module("app", {3: print}),
    "a format": lambda _: baton.device("local-sync").executable({3: b""}),
    "an entry point": lambda _: baton.device("local-sync").executable({"embedded-elf-x86_64": b"x"}, entry_points=[(3, (1, 1, 1))]),
    "a kernel's format": lambda _: baton.KernelLibrary({3: b""}),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_types_are_type_errors_in_words(what):
    code = baton.compile("func.func @f() { return }")
    with pytest.raises(TypeError) as raised:
        WRONG[what](code)
    assert "bad_cast" not in str(raised.value) and str(raised.value)


def test_what_is_no_binding_is_named(program):
    code = baton.compile("""
      func.func private @app.c(%n: i32, %x: tensor<4xf32>) -> tensor<4xf32> attributes {iree.abi.streamable}
      func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
        %n = arith.constant 3 : i32
        %y = call @app.c(%n, %x) : (i32, tensor<4xf32>) -> tensor<4xf32>
        return %y : tensor<4xf32>
      }""")

    def command(commands, n, x, y):
        commands.host(print, n, x)

    with pytest.raises(baton.InvalidArgumentError, match="TypeError: a Binding of the command is wanted, not an int"):
        baton.load(code, modules=[baton.module("app", {"c": command})]).f([1, 2, 3, 4])


def test_commands_read_what_may_only_be_read():
    """Arrays of JAX, read-only ones and copies are arguments of commands like any other; a result may be written and read."""
    code = baton.compile("""
      func.func private @app.double(%x: tensor<4xf32>) -> tensor<4xf32> attributes {iree.abi.streamable}
      func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
        %y = call @app.double(%x) : (tensor<4xf32>) -> tensor<4xf32>
        return %y : tensor<4xf32>
      }""")
    seen = []

    def command(commands, x, y):
        seen.extend([x.is_written, y.is_written, repr(y)])
        commands.fill_buffer(y, b"\0\0\0\0")
        commands.barrier()

        def add(source, target):
            assert source.readonly and not target.readonly
            np.frombuffer(target, np.float32)[:] += 2 * np.frombuffer(source, np.float32)

        commands.host(add, x, y)

    frozen = np.arange(4, dtype=np.float32)
    frozen.flags.writeable = False
    arrays = [np.arange(4, dtype=np.float32), frozen, np.arange(8, dtype=np.float32)[:4], np.arange(0, 8, 2, dtype=np.float32) / 2,
              memoryview(frozen.tobytes()).cast("f"), [0, 1, 2, 3]]
    try:
        import jax.numpy as jnp
        arrays.append(jnp.arange(4, dtype=jnp.float32))
    except ImportError:
        pass
    for device in ("local-sync", "local-task"):
        f = baton.load(code, device=device, modules=[baton.module("app", {"double": command})]).f
        for array in arrays:
            assert f(array).tolist() == [0, 2, 4, 6]
    assert seen[:2] == [False, True] and seen[2].startswith("<baton.Binding of")


def test_the_command_line_of_the_package():
    def run(*arguments):
        return subprocess.run([sys.executable, "-m", "baton", *arguments], capture_output=True, text=True, check=False)

    assert (run("--version").stdout, run("--version").returncode) == (f"baton {baton.__version__}\n", 0)
    assert run("--help").stdout.startswith("usage:") and run("--help").returncode == 0
    assert run().returncode == 1 and not run().stdout
