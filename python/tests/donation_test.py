"""Arguments that a function consumes: written in place where their memory is nobody else's, and in a copy where it is somebody's.

Of every kind of array, on every kind of device; by baton.jax.jit with donated arguments, and by a program's own functions."""
import os
import subprocess
import sys

import numpy as np
import pytest

import baton
from conftest import assembled

COUNT = 1 << 15  # Twice what jit hands over by JAX's identity.
CONSUMING = f"""
module @consuming {{
  func.func @first(%x: tensor<{COUNT}xf32> {{iree.abi.consume}}, %y: tensor<{COUNT}xf32>) -> (tensor<{COUNT}xf32> {{iree.abi.tied = 0 : i64}}, tensor<1xf32>) {{
    %one = arith.constant dense<1.0> : tensor<1xf32>
    %was = tensor.extract_slice %x[0] [1] [1] : tensor<{COUNT}xf32> to tensor<1xf32>
    %is = arith.addf %was, %one : tensor<1xf32>
    %z = tensor.insert_slice %is into %x[0] [1] [1] : tensor<1xf32> into tensor<{COUNT}xf32>
    %y0 = tensor.extract_slice %y[0] [1] [1] : tensor<{COUNT}xf32> to tensor<1xf32>
    return %z, %y0 : tensor<{COUNT}xf32>, tensor<1xf32>
  }}
  func.func @both(%x: tensor<4xf32> {{iree.abi.consume}}, %n: i32, %y: tensor<4xf32> {{iree.abi.consume}})
      -> (tensor<4xf32> {{iree.abi.tied = 0 : i64}}, tensor<4xf32> {{iree.abi.tied = 2 : i64}}) {{
    %a = arith.addf %x, %y : tensor<4xf32>
    %b = arith.negf %y : tensor<4xf32>
    return %a, %b : tensor<4xf32>, tensor<4xf32>
  }}
  func.func @neither(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {{
    %a = arith.addf %x, %y : tensor<4xf32>
    return %a : tensor<4xf32>
  }}
}}
"""


def has(name):
    return any((info.uri or "").startswith(name) for info in baton.devices())


def load_for(device, source):
    if not has(device):
        pytest.skip(f"there is no {device} device")
    try:
        return baton.load(baton.compile(source, target=device), device=device)
    except baton.UnavailableError as error:
        pytest.skip(f"there is no compiler: {error}")


@pytest.fixture(scope="module", params=["local-sync", "local-task", "vulkan"])
def program(request):
    return load_for(request.param, CONSUMING)


def is_host(program):
    return program._native.devices[0].name.startswith("local")


# ---- A program's own functions --------------------------------------------------------------------------------------


def dense():
    return np.zeros(COUNT, np.float32)


def read_only():
    array = dense()
    array.flags.writeable = False
    return array


KINDS = {  # Of an argument: how it is made, and whether the host's devices write in it.
    "dense": (dense, True),
    "read-only": (read_only, False),
    "of bytes": (lambda: memoryview(bytes(4 * COUNT)).cast("f"), False),
    "a buffer": (lambda: memoryview(bytearray(4 * COUNT)).cast("f"), True),
    "strided": (lambda: np.zeros(2 * COUNT, np.float32)[::2], False),
    "reversed": (lambda: dense()[::-1], False),
    "broadcast": (lambda: np.broadcast_to(np.float32(0), COUNT), False),
    "misaligned": (lambda: np.zeros(4 * COUNT + 1, np.uint8)[1:].view(np.float32), False),
    "a part": (lambda: np.zeros(3 * COUNT, np.float32)[COUNT:2 * COUNT], True),
    "a list": (lambda: [0.0] * COUNT, False),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_may_not_be_written_is_copied(program, kind):
    make, is_written = KINDS[kind]
    x, y = make(), np.full(COUNT, 7, np.float32)
    result, seen = program.first(x, y)
    assert np.asarray(result).ravel()[0] == 1 and float(seen) == 7
    wanted = 1 if is_written and is_host(program) else 0
    assert np.asarray(x, np.float32)[0] == wanted
    if is_written and is_host(program):
        assert np.shares_memory(np.asarray(result), np.asarray(x))


def test_tensors_are_written_in_place_again_and_again(program):
    x, y = np.zeros(COUNT, np.float32), np.zeros(COUNT, np.float32)
    first, _ = program.first(x, y)
    second, _ = program.first(first, y)
    third, _ = program.first(second, y)
    assert np.asarray(third)[0] == 3 and np.asarray(second)[0] == 3  # One memory.
    if is_host(program):
        assert np.shares_memory(np.asarray(third), x)


def test_tensors_that_may_only_be_read_are_copied(program):
    frozen = program._native.devices[0].tensor(read_only())
    result, _ = program.first(frozen, dense())
    assert np.asarray(result)[0] == 1 and (np.asarray(frozen)[0] == 0 or not is_host(program))


OVERLAPS = {  # Two arguments of `both`, and which of them are named.
    "one array": lambda: (np.zeros(4, np.float32),) * 2,
    "parts": lambda: (lambda whole: (whole[:4], whole[3:7]))(np.zeros(8, np.float32)),
    "the other way": lambda: (lambda whole: (whole[3:7], whole[:4]))(np.zeros(8, np.float32)),
    "a buffer of it": lambda: (lambda whole: (whole, memoryview(whole)))(np.zeros(4, np.float32)),
}


@pytest.mark.parametrize("kind", OVERLAPS)
def test_memory_that_is_consumed_is_no_other_argument(program, kind):
    x, y = OVERLAPS[kind]()
    if is_host(program):
        with pytest.raises(baton.InvalidArgumentError, match="argument [13] is consumed.*argument [13] lies, too"):
            program.both(x, 1, y)
    tensor = program.neither(np.ones(4, np.float32), np.ones(4, np.float32))
    with pytest.raises(ValueError, match="argument 3 is consumed.*argument 1 lies|argument 1 is consumed.*argument 3 lies"):
        program.both(tensor, 1, tensor)
    assert np.asarray(program.neither(tensor, tensor)).tolist() == [4] * 4  # Who consumes nothing may be given one twice.
    assert np.asarray(tensor).tolist() == [2] * 4  # The call that was refused wrote nothing.


LISTS = """
module @lists
export func @f(%x: hal.buffer_view, %l: list) -> hal.buffer_view {
  attribute "abi.consumes" = "0"
  return
}
export func @same(%l: list) -> list {
  return
}
"""


def test_lists_hold_memory_that_is_consumed(tmp_path, device):
    program = baton.load(assembled(tmp_path, "lists", LISTS), device=device)
    x = np.zeros(4, np.float32)
    own = baton.device(device).tensor(np.zeros(4, np.float32))
    for consumed, other in ((x, x), (x, x[1:2]), (own, own), (x, memoryview(x))):
        for held in ([other], [1, [None, (other, 2)]], [np.ones(4, np.float32), other, other], program.same([other])):
            with pytest.raises(ValueError, match="argument 1 is consumed.*argument 2 lies, too"):
                program.f(consumed, held)
    for held in ([], None, [1, 2.5, b"x"], [np.ones(4, np.float32)] * 2):
        assert program.f(x, held).tolist() == [0] * 4


def test_neighbours_are_no_overlap(program):
    whole = np.zeros(8, np.float32)
    a, b = program.both(whole[:4], 1, whole[4:])
    assert np.asarray(a).tolist() == [0] * 4 and np.asarray(b).tolist() == [0] * 4
    a, b = program.both(np.zeros(4, np.float32), 1, [1, 2, 3, 4])
    assert np.asarray(a).tolist() == [1, 2, 3, 4] and np.asarray(b).tolist() == [-1, -2, -3, -4]


def test_jax_arrays_are_never_written(program):
    jnp = pytest.importorskip("jax.numpy", reason="JAX is not installed")
    x = jnp.zeros(COUNT, jnp.float32)
    result, _ = program.first(x, np.ones(COUNT, np.float32))
    assert np.asarray(result)[0] == 1 and x[0] == 0


# What JAX calls them: the types of a program whose arrays of JAX come by the buffer protocol, and by a capsule.
TYPES = {"bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "uint8": "i8", "uint16": "i16", "uint32": "i32", "float16": "f16",
         "bfloat16": "bf16", "float32": "f32", "complex64": "complex<f32>"}
SETTING = "".join(f"""
  func.func @set_{name}(%x: tensor<4x{type_}> {{iree.abi.consume}}, %y: tensor<1x{type_}>) -> (tensor<4x{type_}> {{iree.abi.tied = 0 : i64}}) {{
    %z = tensor.insert_slice %y into %x[0] [1] [1] : tensor<1x{type_}> into tensor<4x{type_}>
    return %z : tensor<4x{type_}>
  }}""" for name, type_ in TYPES.items())


@pytest.fixture(scope="module", params=["local-sync", "local-task", "vulkan"])
def setting(request):
    return load_for(request.param, SETTING)


@pytest.mark.parametrize("dtype", TYPES)
def test_jax_arrays_of_every_type_are_never_written(setting, dtype):
    jnp = pytest.importorskip("jax.numpy", reason="JAX is not installed")
    x = jnp.zeros(4, dtype)
    view = np.asarray(x)
    for _ in range(2):
        result = setting[f"set_{dtype}"](x, jnp.ones(1, dtype))
        assert np.asarray(result).astype(complex).tolist() == [1, 0, 0, 0]
        assert x.astype(complex).tolist() == [0] * 4 and view.astype(complex).tolist() == [0] * 4


@pytest.mark.parametrize("dtype", TYPES)
def test_commands_may_only_read_jax_arrays_of_every_type(dtype):
    jnp = pytest.importorskip("jax.numpy", reason="JAX is not installed")
    tensor = f"tensor<4x{TYPES[dtype]}>"
    code = baton.compile(f"""
      func.func private @app.look(%x: {tensor}) -> {tensor} attributes {{iree.abi.streamable}}
      func.func @f(%x: {tensor}) -> {tensor} {{
        %y = call @app.look(%x) : ({tensor}) -> {tensor}
        return %y : {tensor}
      }}""")
    seen = []
    look = baton.module("app", {"look": lambda commands, x, y: commands.host(lambda a, b: seen.extend([a.readonly, b.readonly]), x, y)})
    baton.load(code, device="local-sync", modules=[look]).f(jnp.zeros(4, dtype))
    assert seen == [True, False]


def test_torch_tensors_are_written_in_place(program):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x = torch.zeros(COUNT)
    result, _ = program.first(x, torch.ones(COUNT))
    assert np.asarray(result)[0] == 1 and x[0] == (1 if is_host(program) else 0)


def test_random_overlaps():
    """find_overlap against all pairs."""
    device = baton.device("local-sync")
    source = np.random.default_rng(7)
    memory = np.zeros(64, np.int8)
    for _ in range(400):
        parts = [(int(a), int(a + n)) for a, n in zip(source.integers(0, 40, 4), source.integers(0, 12, 4))]
        tensors = [device.tensor(memory[a:b]) for a, b in parts]
        wanted = any(max(p[0], q[0]) < min(p[1], q[1]) for i, p in enumerate(parts) for q in parts[:i])
        assert baton.Tensor._share_memory(tensors) == wanted, parts


FAKE = """
module @fake {
  func.func @swap(%x: tensor<8xf32> {iree.abi.consume}, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32> {iree.abi.tied = 0 : i64}) {
    return %y, %x : tensor<8xf32>, tensor<8xf32>
  }
}
"""


def test_on_the_fake_gpu():
    environment = dict(os.environ)
    folder = environment.pop("BATON_FAKE_CUDA", None)
    if has("cuda"):
        pytest.skip("test_cuda_in_place runs on this machine's GPU, or is run on the fake one")
    if not folder:
        pytest.skip("BATON_FAKE_CUDA does not name the folder of the fake libcuda.so.1")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-k", "cuda_in_place", __file__],
                          check=False, capture_output=True, text=True, timeout=120, env={**environment, "LD_LIBRARY_PATH": folder})
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_cuda_in_place():
    if not has("cuda"):
        pytest.skip("there is no CUDA device")
    swap = baton.load(baton.compile(FAKE, target="cuda"), device="cuda").swap
    x, y = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
    was_y, was_x = swap(x, y)
    assert np.asarray(was_x).tolist() == x.tolist() and np.asarray(was_y).tolist() == y.tolist()
    again, same = swap(was_x, was_y)
    assert baton.Tensor._share_memory([same, was_x]) and baton.Tensor._share_memory([again, was_y])
    with pytest.raises(ValueError, match="argument 1 is consumed.*argument 2 lies"):
        swap(was_x, was_x)
    loan = was_x._lend()  # Somebody has it: what is consumed is a copy.
    held = loan.__dlpack__(stream=1)
    _, copied = swap(loan, y)
    assert not baton.Tensor._share_memory([copied, was_x]) and np.asarray(copied).tolist() == x.tolist()
    del held
    _, same = swap(loan, y)
    assert baton.Tensor._share_memory([same, was_x])


# ---- baton.jax.jit --------------------------------------------------------------------------------------------------

SIZES = [(), (4,), (COUNT,), (0,), (3, 5)]


@pytest.fixture(scope="module")
def bjit(own_cache):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jax.config.update("jax_enable_x64", False)
    import baton.jax
    return baton.jax.jit


def place(array):
    return array.unsafe_buffer_pointer()


def raised(array, by=1):
    """An update of the first element: what a compiled program does in the memory of what it consumes."""
    if not array.size:
        return array
    return array.at[(0,) * array.ndim].add(by)


@pytest.mark.parametrize("shape", SIZES, ids=str)
def test_a_loop_works_in_one_memory(bjit, shape, device):
    import jax.numpy as jnp
    step = bjit(lambda state, by: (raised(state, by), by * 2), donate_argnums=0, device=device)
    state, by = jnp.zeros(shape), jnp.ones(())
    places = set()
    for turn in range(5):
        before = state
        state, _ = step(state, by)
        assert before.is_deleted() and not by.is_deleted()
        wanted = np.zeros(shape)
        wanted.reshape(-1)[:1] = turn + 1
        assert np.array(state).tolist() == wanted.tolist()
        places.add(place(state))
    assert len(places) == 1 or not state.size or not shape  # A number is computed anew.


def test_an_array_of_jaxs_own_is_written_where_it_is(bjit, device):
    import jax.numpy as jnp
    x = jnp.arange(COUNT, dtype=jnp.float32)
    was = place(x)
    y = bjit(lambda x: x.at[5].add(1), donate_argnums=0, device=device)(x)
    assert place(y) == was and x.is_deleted() and float(y[5]) == 6


HELD = {  # What else has the memory of an array: the program must not write there.
    "NumPy's view": np.asarray,
    "DLPack's view": np.from_dlpack,
}


@pytest.mark.parametrize("holder", HELD)
@pytest.mark.parametrize("shape", SIZES, ids=str)
@pytest.mark.parametrize("is_from_program", [False, True])
def test_whoever_has_a_view_keeps_what_is_in_it(bjit, holder, shape, is_from_program):
    import jax.numpy as jnp
    bump = bjit(raised, donate_argnums=0)
    x = jnp.zeros(shape)
    if is_from_program:
        x = bump(x)
    view = HELD[holder](x)
    was = view.copy()
    y = bump(x)
    assert x.is_deleted()
    np.testing.assert_array_equal(view, was)
    np.testing.assert_array_equal(np.asarray(y), raised(jnp.asarray(was)))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("count", [4, 1 << 17])
@pytest.mark.parametrize("is_from_program", [False, True])
def test_views_of_every_type_are_kept(bjit, dtype, count, is_from_program):
    import jax.numpy as jnp
    change = bjit(lambda x, to: x.at[0].set(to), donate_argnums=0)
    x, zero, one = jnp.zeros(count, dtype), jnp.zeros((), dtype), jnp.ones((), dtype)
    if is_from_program:
        x = change(x, zero)
    view, given = np.asarray(x), x
    y = change(x, one)
    assert given.is_deleted() and not view.any() and y.dtype == dtype and y[:2].tolist() == [1, 0]
    was = place(y)
    for _ in range(3):
        y = change(y, one)  # Of this nobody has a view.
    assert y[:2].tolist() == [1, 0] and (place(y) == was or dtype in ("bool", "complex64"))  # Those two are computed by way of others.


def test_where_jax_compiles_nothing(bjit):
    """Under disable_jit() JAX's identity gives the array that it was given."""
    import jax
    import jax.numpy as jnp
    bump = bjit(raised, donate_argnums=0)
    for count in (4, COUNT):
        bump(jnp.zeros(count))
        x, kept = jnp.zeros(count), jnp.zeros(count)
        view = np.asarray(x)
        with jax.disable_jit():
            y = bump(x)
            assert x.is_deleted() and not view.any() and float(y[0]) == 1
            assert float(bump(bump(kept))[0]) == 2


STATES = {  # Of a donated array before a call that is refused.
    "small": lambda bump, jnp: jnp.zeros(4),
    "large": lambda bump, jnp: jnp.zeros(COUNT),
    "from a program": lambda bump, jnp: bump(jnp.zeros(COUNT), 0),
    "small, from a program": lambda bump, jnp: bump(jnp.zeros(4), 0),
}
REFUSED = {  # Another argument of the call, beside an int32.
    "an int that does not fit": (1 << 40, OverflowError),
    "an int that does not fit, donated": (1 << 40, OverflowError),
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("refused", REFUSED)
def test_a_call_that_is_refused_takes_nothing(bjit, state, refused):
    import jax.numpy as jnp
    donated = (0, 1) if "donated" in refused else 0
    for function in (lambda x, n: raised(x, n), lambda n, x: raised(x, n)):
        order = (lambda x, n: (x, n)) if function.__code__.co_varnames[0] == "x" else (lambda x, n: (n, x))
        where = donated if isinstance(donated, tuple) else order(0, 1)[0]
        ours = bjit(function, donate_argnums=where)
        x = STATES[state](lambda x, n: ours(*order(x, n)), jnp)
        ours(*order(jnp.zeros(x.size), 0))  # What refuses from here on is the call of a program that is there.
        was = place(x)
        value, error = REFUSED[refused]
        for _ in range(2):
            with pytest.raises(error):
                ours(*order(x, value))
            assert not x.is_deleted() and float(x[0]) == 0
        y = ours(*order(x, 3))
        assert x.is_deleted() and float(y[0]) == 3 and (x.size == 4 or place(y) == was)


def test_what_fails_later_is_said_as_it_is(bjit, monkeypatch):
    """A TypeError about an array that was handed over is no word about an earlier call."""
    import jax.numpy as jnp
    from baton import _jax_arrays
    bump = bjit(raised, donate_argnums=0)
    bump(jnp.zeros(COUNT))

    def refuse(self, **_):
        raise TypeError("no capsule today")

    with monkeypatch.context() as patch:
        patch.setattr(_jax_arrays._Writable, "__dlpack__", refuse)
        with pytest.raises(TypeError, match="no capsule today"):
            bump(jnp.zeros(COUNT))
    assert float(bump(jnp.zeros(COUNT))[0]) == 1


def test_what_is_handed_over_is_an_array_of_numpy_too():
    """As devices that take copies of the host's arrays ask for it."""
    jnp = pytest.importorskip("jax.numpy", reason="JAX is not installed")
    from baton import _jax_arrays
    for dtype in TYPES:
        array = np.asarray(_jax_arrays._Writable(jnp.ones(3, dtype)))
        assert array.dtype == jnp.dtype(dtype) and array.astype(complex).tolist() == [1] * 3
    if has("vulkan"):
        add = baton.load(baton.compile(SETTING, target="vulkan"), device="vulkan").set_bfloat16
        result = add(_jax_arrays._Writable(jnp.zeros(4, jnp.bfloat16)), jnp.ones(1, jnp.bfloat16))
        assert np.asarray(result).astype(float).tolist() == [1, 0, 0, 0]


def test_only_what_can_be_donated_again_is_kept(bjit):
    import gc
    import jax.numpy as jnp
    from baton import _jax_arrays
    gc.collect()
    before = len(_jax_arrays._loans)
    step = bjit(lambda x: (x + 1, x.sum(), x.reshape(2, -1), (x * 2).astype(jnp.int32)), donate_argnums=0)
    results = step(jnp.zeros(COUNT))
    assert len(_jax_arrays._loans) == before + 1
    again = step(results[0])
    assert float(again[1]) == COUNT and len(_jax_arrays._loans) == before + 1


def test_an_alias_of_jax_is_deleted_with_it(bjit):
    import jax
    import jax.numpy as jnp
    bump = bjit(raised, donate_argnums=0)
    for x in (jnp.zeros(COUNT), bump(jnp.zeros(COUNT))):
        alias, derived = jax.device_put(x), x + 5
        y = bump(x)
        assert float(y[0]) in (1, 2) and float(derived[0]) in (5, 6)
        assert alias.is_deleted() or float(alias[0]) == float(y[0]) - 1


def test_arrays_of_numpy_and_numbers_are_never_written(bjit):
    import jax.numpy as jnp
    aligned = np.zeros(COUNT + 16, np.float32)
    aligned = aligned[-aligned.ctypes.data % 64 // 4:][:COUNT]
    step = bjit(lambda x, n: (x + n, n + 1), donate_argnums=(0, 1))
    y, n = step(aligned, 3)
    assert aligned[0] == 0 and float(y[0]) == 3 and int(n) == 4
    y, n = step(y, n)
    assert float(y[0]) == 7 and int(n) == 5
    # Results are no memory of the caller's, whether it is donated or not: NumPy's arrays change, JAX's don't.
    for options in ({}, {"donate_argnums": 0}):
        for function in (lambda x: x, lambda x: x.reshape(2, -1), lambda x: (x, x + 1), lambda x: x[:16]):
            aligned[:] = 1
            result = bjit(function, **options)(aligned)
            aligned[:] = 5
            assert float(jnp.ravel(result[0] if isinstance(result, tuple) else result)[0]) == 1


def test_by_name_in_trees_and_beside_static_ones(bjit):
    import jax
    import jax.numpy as jnp

    def step(state, batch, scale, mode="add"):
        moved = jax.tree.map(lambda leaf: raised(leaf, batch.sum()) if mode == "add" else raised(leaf, leaf.sum()), state)
        return moved, scale * batch

    def fresh():
        return {"a": jnp.ones(COUNT), "b": [jnp.zeros((2, 3)), (jnp.float32(4), None)]}

    for options, call in (({"donate_argnums": 0, "static_argnums": 3}, lambda f, s, m: f(s, jnp.ones(3), 2.0, m)),
                          ({"donate_argnames": "state", "static_argnames": "mode"}, lambda f, s, m: f(state=s, batch=jnp.ones(3), scale=2.0, mode=m)),
                          ({"donate_argnames": ("state", "batch"), "static_argnames": "mode"}, lambda f, s, m: f(s, scale=2.0, batch=jnp.ones(3), mode=m))):
        for mode in ("add", "double"):
            ours, state, plain = bjit(step, **options), fresh(), fresh()
            for _ in range(3):
                given = jax.tree.leaves(state)
                where = [place(leaf) for leaf in given]
                state, _ = call(ours, state, mode)
                plain, _ = call(step, plain, mode)
                assert all(leaf.is_deleted() for leaf in given)
                assert jax.tree.structure(state) == jax.tree.structure(plain)
                for mine, right in zip(jax.tree.leaves(state), jax.tree.leaves(plain)):
                    np.testing.assert_array_equal(np.asarray(mine).copy(), right)
            assert all(was == place(leaf) for was, leaf in zip(where, jax.tree.leaves(state)) if leaf.ndim)


def test_donated_twice_or_given_beside(bjit):
    import jax.numpy as jnp
    both, one = bjit(lambda x, y: (x + 1, y + 2), donate_argnums=(0, 1)), bjit(lambda x, y: (x + 1, x + y), donate_argnums=0)
    for make in (lambda: jnp.zeros(4), lambda: jnp.zeros(COUNT), lambda: one(jnp.zeros(COUNT), jnp.zeros(COUNT))[0]):
        for function in (both, one):
            x = make()
            with pytest.raises(RuntimeError, match="given to the same call twice"):
                function(x, x)
            assert not x.is_deleted()
        x = make()
        first, second = one(x, x + 1)
        with pytest.raises(RuntimeError, match="was donated to an earlier call"):
            one(x, first)
        assert not first.is_deleted()
    deep = bjit(lambda tree: tree["a"] + tree["b"][0], donate_argnums=0)
    x = jnp.zeros(4)
    with pytest.raises(RuntimeError, match="twice"):
        deep({"a": x, "b": [x]})


def test_results_of_one_memory_are_not_written_by_the_next_call(bjit):
    import jax.numpy as jnp
    for function in (lambda x: (x + 1, x + 1), lambda x: (x, x), lambda x: (x, x.reshape(2, -1)), lambda x: (jnp.zeros(COUNT), jnp.zeros(COUNT)),
                     lambda x: (x, x + 1), lambda x: (x[:COUNT // 2], x)):
        step, bump = bjit(function, donate_argnums=0), bjit(lambda x: x.at[0].add(10), donate_argnums=0)
        first, second = step(jnp.ones(COUNT))
        kept = np.asarray(second).copy()
        bumped = bump(first)
        np.testing.assert_array_equal(np.asarray(second), kept)
        assert float(jnp.ravel(bumped)[0]) == np.ravel(function(jnp.ones(COUNT))[0])[0] + 10


def test_keys_weak_types_and_other_leaves(bjit):
    import jax
    import jax.numpy as jnp
    for make in (lambda: jax.random.key(3), lambda: jnp.asarray(2.0).astype(jnp.bfloat16), lambda: jnp.int8(3), lambda: jnp.array([True, False]),
                 lambda: jnp.array([1j, 2]), lambda: 5, lambda: 2.5, lambda: np.float32(3), lambda: np.arange(3)):
        same = bjit(lambda x: x, donate_argnums=0)
        x = make()
        for _ in range(3):
            x = same(x)
        wanted = jnp.asarray(make()) if not jax.dtypes.issubdtype(getattr(make(), "dtype", None), jax.dtypes.prng_key) else make()
        assert x.dtype == wanted.dtype and (x == wanted).all()


def test_a_donated_argument_that_no_result_fits(bjit):
    import jax.numpy as jnp
    with pytest.warns(UserWarning, match="donated buffers were not usable"):
        total = bjit(lambda x: x.sum(), donate_argnums=0)
        x = jnp.ones(COUNT)
        assert float(total(x)) == COUNT and x.is_deleted()


def test_commands_write_in_place(bjit):
    import jax
    import jax.numpy as jnp

    def add(memory):
        np.frombuffer(memory, np.float32)[:] += np.float32(3)

    module = baton.module("py", {"bump": lambda commands, x: commands.host(add, x)})
    call = bjit(lambda x: jax.ffi.ffi_call("py.bump", jax.ShapeDtypeStruct(x.shape, x.dtype), input_output_aliases={0: 0})(x),
                libraries=[module], donate_argnums=0)
    x = jnp.ones(COUNT)
    places = set()
    for turn in range(4):
        x = call(x)
        places.add(place(x))
        assert float(x[0]) == 4 + 3 * turn
    assert len(places) == 1


def test_threads_donate_one_array_once(bjit):
    import concurrent.futures
    import jax.numpy as jnp
    bump = bjit(raised, donate_argnums=0)
    bump(jnp.zeros(COUNT))

    def attempt(x):
        try:
            return bump(x)
        except RuntimeError:
            return None

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for turn in range(20):
            x = bump(jnp.zeros(COUNT)) if turn % 2 else jnp.ones(COUNT)
            got = [each for each in pool.map(attempt, [x] * 4) if each is not None]
            assert [float(each[0]) for each in got] == [2] and x.is_deleted()


def test_memory_is_let_go_of(bjit):
    import gc
    import jax.numpy as jnp
    from baton import _jax_arrays
    step = bjit(lambda x: (raised(x), x * 2), donate_argnums=0)
    x = jnp.zeros(COUNT)
    for _ in range(20):
        x, _ = step(x)
    del x
    gc.collect()
    assert not [reference for reference, _ in _jax_arrays._loans.values() if reference() is None]
    assert len(_jax_arrays._loans) <= 2
