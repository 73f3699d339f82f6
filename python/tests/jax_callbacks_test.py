"""Callbacks into Python in functions of baton.jax.jit: what they get, what they give, how often and in which order they are called, each
compared with jax.jit of the same function."""
import functools
import gc
import threading
import weakref

import numpy as np
import pytest

import baton

jax = pytest.importorskip("jax", reason="JAX is not installed")
pytest.importorskip("baton.jax", reason="baton.jax is not in this tree")
from jax.experimental import io_callback  # noqa: E402

jnp, lax = jax.numpy, jax.lax
pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(autouse=True)
def narrow():
    jax.config.update("jax_enable_x64", False)


def bjit(*arguments, **keywords):
    import baton.jax
    keywords.setdefault("device", "local-task")
    return baton.jax.jit(*arguments, **keywords)


def like(x, dtype=None):
    return jax.ShapeDtypeStruct(jnp.shape(x), dtype or jnp.asarray(x).dtype)


X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


def same(mine, theirs):
    assert jax.tree.structure(mine) == jax.tree.structure(theirs)
    for one, other in zip(jax.tree.leaves(mine), jax.tree.leaves(theirs)):
        one, other = np.asarray(one), np.asarray(other)
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if one.dtype.kind in "fc":
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
        else:
            assert one.tobytes() == other.tobytes()


def agree(make, *arguments, times=2, ordered=True, **options):
    """`make(log)` is a function whose callbacks append to the list; results and lists are those of JAX, which orders those of one ordered
    kind alone."""
    mine, theirs = [], []
    fast, slow = bjit(make(mine), **options), jax.jit(make(theirs))
    for _ in range(times):
        same(fast(*arguments), slow(*arguments))
        jax.effects_barrier()
    assert theirs
    same(*((mine, theirs) if ordered else (sorted(each, key=repr) for each in (mine, theirs))))


def noting(log, *more):
    def note(*arrays, **named):
        log.append(([np.array(each) for each in arrays], {name: np.array(each) for name, each in named.items()}, *more))
    return note


# Kinds --------------------------------------------------------------------------------------------------------------------


def a_device(name):
    """One of that name, or a reason to skip."""
    found = [info.uri for info in baton.devices() if (info.uri or "").startswith(name)]
    if not found:
        pytest.skip(f"there is no {name} device: {[info.facts.get('unavailable') for info in baton.devices() if info.description == name]}")
    return found[0]


@pytest.mark.parametrize("device", ["local-sync", "local-task", "vulkan", "cuda"])
@pytest.mark.parametrize("ordered", [False, True])
def test_each_kind_is_called_with_what_was_computed(device, ordered):
    def make(log):
        def function(x):
            y = jnp.tanh(x) + 1
            jax.debug.callback(noting(log, "debug"), y, total=y.sum(), ordered=ordered)
            z = io_callback(lambda a, b: (noting(log, "io")(a, b), np.asarray(a) * 2)[1], like(X), y, y[0, 0], ordered=ordered)
            io_callback(noting(log, "none"), None, z, ordered=ordered)
            return jax.pure_callback(lambda a: np.sin(a), like(X), z) + y
        return function
    agree(make, X, device=a_device(device), ordered=False)


@pytest.mark.parametrize("ordered", [False, True])
def test_prints(capsys, ordered):
    def function(x):
        jax.debug.print("x {} and {total:.3f}", x[0], total=x.sum(), ordered=ordered)
        jax.debug.print("nothing", ordered=ordered)
        lax.fori_loop(0, 3, lambda i, _: (jax.debug.print("turn {}", i, ordered=ordered), 0)[1], 0)

    assert bjit(function)(X) is None
    mine = capsys.readouterr().out
    jax.jit(function)(X)
    jax.effects_barrier()
    mine, theirs = (text.splitlines() for text in (mine, capsys.readouterr().out))
    assert (mine if ordered else sorted(mine)) == (theirs if ordered else sorted(theirs)) and len(mine) == 5
    assert mine == ["x [-1.         -0.8181818  -0.6363636  -0.45454547] and 0.000", "nothing", "turn 0", "turn 1", "turn 2"]


def test_several_results_trees_and_named_arguments():
    def make(log):
        def on_host(a, pair, *, scale):
            noting(log)(a, *pair, scale=scale)
            return {"sum": np.asarray(a) + pair[0], "parts": (np.float32(scale), np.arange(3, dtype=np.int32) + int(pair[1]))}

        def function(x, n):
            results = {"sum": like(x), "parts": (like(x[0, 0]), jax.ShapeDtypeStruct((3,), jnp.int32))}
            made = io_callback(on_host, results, x, (x * 2, n), scale=x.max())
            return made, made["sum"] @ x.T, made["parts"][1] + n
        return function
    agree(make, X, 7)


def test_numbers_of_python_are_results():
    def make(log):
        def function(x):
            a, b, c = io_callback(lambda: (log.append(1), 2.5, True, 7)[1:], (like(np.float32(0)), like(np.bool_(0)), like(np.int32(0))))
            return x * a, jnp.where(b, x, 0), c
        return function
    agree(make, X)


def test_what_nobody_reads_is_called():
    def make(log):
        def function(x):
            io_callback(lambda a: (log.append(np.array(a)), a)[1], like(x), x)
            jax.debug.callback(lambda: log.append(1))
            return 1
        return function
    agree(make, X, ordered=False)


def test_order_is_that_of_the_function():
    seen = []

    def function(x):
        for i in range(6):
            if i % 2:
                io_callback(lambda a, i=i: seen.append((i, float(a[0, 0]))), None, x, ordered=True)
            else:
                jax.debug.callback(lambda a, i=i: seen.append((i, float(a[0, 0]))), x, ordered=True)
            x = x + 1
        return lax.fori_loop(0, 3, lambda i, y: (jax.debug.callback(lambda i: seen.append(("turn", int(i))), i),
                                                 io_callback(lambda a: (seen.append("io"), a)[1], like(y), y))[1], x)
    bjit(function)(np.zeros((3, 4), np.float32))
    assert seen == [(i, float(i)) for i in range(6)] + [("turn", 0), "io", ("turn", 1), "io", ("turn", 2), "io"]


@pytest.mark.parametrize("sizes", [None, ("n", "n")])
def test_beside_donated_arguments(sizes):
    def make(log):
        def function(x, y):
            io_callback(noting(log), None, x, ordered=True)
            jax.debug.callback(noting(log, "debug"), y, ordered=True)
            return y * 2, x.at[0].set(7.0)
        return function
    mine, theirs = [], []
    fast, slow = bjit(make(mine), donate_argnums=(0, 1), sizes=sizes), jax.jit(make(theirs))
    for count in (4, 4, 6 if sizes else 4):
        x, y = np.arange(count, dtype=np.float32), np.ones(count, np.float32)
        given = jnp.asarray(x), jnp.asarray(y)
        same(fast(*given), slow(x, y))
        assert sizes or all(each.is_deleted() for each in given)
    jax.effects_barrier()
    same(*(sorted(each, key=repr) for each in (mine, theirs)))


# Types and shapes ----------------------------------------------------------------------------------------------------------


NARROW = ["bool", "int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float8_e4m3fn", "float8_e5m2", "bfloat16",
          "float16", "float32", "complex64"]
WIDE = ["int64", "uint64", "float64", "complex128"]


@pytest.mark.parametrize("dtype", NARROW + WIDE)
def test_element_types_and_shapes(dtype):
    jax.config.update("jax_enable_x64", dtype in WIDE)
    kind = jnp.dtype(dtype)
    values = [np.array(v) for v in ([0, 1, 3], [[-1, 2], [5, -6]], np.zeros((2, 0, 3)), 3)]
    if dtype.startswith(("uint", "bool")):
        values = [abs(each) for each in values]
    if kind.kind == "c":
        values = [each * (1 - 2j) for each in values]
    values = [each.astype(np.float32).astype(kind) if kind.kind == "V" else each.astype(kind) for each in values]

    def make(log):
        def turned(*arrays):
            for each in arrays:
                assert isinstance(each, jax.Array) and each.dtype == kind
                log.append(np.asarray(each).astype(complex))
            return [np.asarray(each)[::-1] if each.ndim else np.asarray(each) for each in arrays]

        def function(n, *offsets):  # Nothing of these types crosses the boundary.
            arrays = [jnp.asarray(each) for each in values]
            arrays = [jnp.where(n > 0, each, each[::-1]) if each.ndim else each for each in arrays]
            made = io_callback(turned, [like(each) for each in arrays], *arrays)
            wide = complex if kind.kind == "c" else np.float64 if dtype in WIDE else np.float32
            return [each.astype(wide) for each in made]
        return function
    agree(make, np.int32(1))


def test_the_layout_of_a_result_is_its_own():
    def make(log):
        def function(x):
            log.append(0)
            return jax.pure_callback(lambda a: np.asarray(a).T, jax.ShapeDtypeStruct((4, 3), jnp.float32), x) * 2
        return function
    agree(make, X, times=1)


def test_of_any_size():
    log = []

    def function(x):
        jax.debug.callback(lambda a: log.append(a.shape), x)
        y = jax.pure_callback(lambda a: np.concatenate([a, a]), jax.ShapeDtypeStruct((2 * x.shape[0], 4), x.dtype), x)
        return y * 2, jax.pure_callback(lambda a: a + 1, like(x), x) + x
    fast = bjit(function, sizes=("n, _",))
    for count in (1, 3, 5):
        x = np.ones((count, 4), np.float32)
        same(fast(x), (2 * np.ones((2 * count, 4), np.float32), 3 * x))
    assert log == [(1, 4), (3, 4), (5, 4)]
    wrong = bjit(lambda x: jax.pure_callback(lambda a: np.asarray(a)[:-1], like(x), x) + x, sizes=("n, _",))
    with pytest.raises(ValueError, match=r"returned float32\[2, 4\] as result 0, and float32\[3, 4\] is declared"):
        wrong(X)


# Control flow and transformations ------------------------------------------------------------------------------------------


def test_in_loops():
    def make(log):
        def body(carry, row):
            seen = io_callback(lambda c, r: (noting(log)(c, r), np.asarray(c) + 1)[1], like(np.float32(0)), carry, row, ordered=True)
            jax.debug.callback(noting(log, "debug"), seen, ordered=True)
            return seen, row * seen

        def function(x):
            def goes_on(carried):
                i, y = carried
                return io_callback(lambda a, b: (noting(log, "goes on")(a, b), int(a) < 3)[1], like(np.bool_(0)), i, y, ordered=True)
            last, y = lax.while_loop(goes_on, lambda c: (c[0] + 1, c[1] * 2), (0, x))
            return last, y, lax.scan(body, jnp.float32(0), x), lax.map(lambda row: jax.pure_callback(np.sort, like(row), row), x)
        return function
    agree(make, X, ordered=False)


def test_in_nested_loops_and_branches():
    def make(log):
        def turn(i, y):
            def inner(j, z):
                io_callback(noting(log, "inner"), None, i, j, ordered=True)
                return z + lax.cond(j > i, lambda: io_callback(lambda a: (log.append("late"), np.asarray(a))[1], like(np.float32(0)), z[0, 0],
                                                               ordered=True), lambda: jnp.float32(1))
            y = lax.fori_loop(0, 3, inner, y)
            lax.switch(i, [lambda: None, lambda: jax.debug.callback(noting(log, "one"), y, ordered=True),
                           lambda: io_callback(noting(log, "two"), None, y, ordered=True)])
            return y
        return lambda x, n: lax.fori_loop(0, n, turn, x)
    agree(make, X, 3, ordered=False)


def test_a_branch_that_only_calls():
    def make(log):
        def function(x):
            lax.cond(x.sum() > 0, lambda: jax.debug.callback(noting(log, "more"), x), lambda: jax.debug.callback(noting(log, "less"), x))
            return x
        return function
    agree(make, X + 1)
    agree(make, X - 1)


@pytest.mark.parametrize("method", ["sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized"])
def test_under_vmap(method):
    def make(log):
        def on_host(a, b):
            noting(log)(a, b)
            return np.asarray(a) + b

        def function(x, y):
            return jax.vmap(lambda row: jax.pure_callback(on_host, like(row), row, y, vmap_method=method) * 2)(x)
        return function
    try:
        agree(make, X, X[0], ordered=False)
    except ValueError as error:
        assert method == "legacy_vectorized" and "vmap_method" in str(error)


def test_prints_and_io_under_vmap():
    def make(log):
        def one(row):
            jax.debug.callback(noting(log), row)
            return io_callback(lambda a: (noting(log, "io")(a), np.asarray(a) + 1)[1], like(row), row)
        return lambda x: jax.vmap(one)(x)
    agree(make, X, ordered=False)


def test_under_grad_and_remat():
    def make(log):
        @jax.custom_vjp
        def sine(x):
            return jax.pure_callback(np.sin, like(x), x)
        sine.defvjp(lambda x: (sine(x), x), lambda x, g: (g * jax.pure_callback(np.cos, like(x), x),))

        @jax.checkpoint
        def loss(x):
            jax.debug.callback(noting(log), x)
            return (sine(x) ** 2).sum()
        return jax.value_and_grad(loss)
    agree(make, X)


def test_inside_of_functions_of_jit():
    def make(log):
        @jax.jit
        def inner(x):
            io_callback(noting(log), None, x, ordered=True)
            return x + 1
        return lambda x: inner(inner(x)) + inner(x)
    agree(make, X)


# Memory ----------------------------------------------------------------------------------------------------------------------


def test_arrays_are_not_shared():
    kept, mine = [], np.zeros((3, 4), np.float32)

    def give(a):
        kept.append(a)
        return mine

    def function(x):
        y = x * 2
        z = jax.pure_callback(give, like(x), y)
        return z.at[0].set(5), (y.at[1].add(7) * 2).at[2].mul(3)
    fast = bjit(function, donate_argnums=0)
    for _ in range(3):
        fast(jnp.asarray(X))
    assert not mine.any()
    for each in kept:
        np.testing.assert_array_equal(each, X * 2)
    result = bjit(lambda x: jax.pure_callback(lambda a: mine, like(x), x))(X)
    mine[:] = 9
    assert not np.asarray(result).any()


def test_callables_live_as_long_as_the_function():
    class Callable:
        def __call__(self, x):
            return np.asarray(x) + 1

    made = Callable()
    gone = weakref.ref(made)
    fast = bjit(lambda x, made=made: jax.pure_callback(made, like(x), x))
    del made
    gc.collect()
    same(fast(X), X + 1)
    same(fast(X), X + 1)
    assert gone() is not None


def test_equal_programs_have_callbacks_of_their_own():
    def make(number):
        def on_host(x):
            return np.asarray(x) + np.float32(number)
        return bjit(lambda x: jax.pure_callback(on_host, like(x), x))
    first, second = make(1), make(2)
    assert first.lower(X) == second.lower(X)
    same((first(X), second(X), first(X)), (X + 1, X + 2, X + 1))


def test_a_callback_that_runs_another_program():
    other = bjit(lambda x: x * 3)
    fast = bjit(lambda x: jax.pure_callback(lambda a: other(a), like(x), x) + 1)
    same(fast(X), X * 3 + 1)
    within = bjit(lambda x: jax.pure_callback(lambda a: jax.jit(jnp.sin)(a), like(x), x))
    same(within(X), np.sin(X))


def test_a_callback_that_runs_its_own_program():
    def factorial(n):
        return np.float32(n) * np.asarray(fast(jnp.int32(n - 1))) if n > 0 else np.float32(1)

    fast = bjit(lambda n: jax.pure_callback(factorial, jax.ShapeDtypeStruct((), jnp.float32), n))
    assert float(fast(jnp.int32(5))) == 120


def test_calls_of_several_threads():
    fast = bjit(lambda x: jax.pure_callback(lambda a: np.asarray(a) + 1, like(x), x) * 2)
    fast(X)
    wrong = []

    def work(number):
        for _ in range(20):
            if not (np.asarray(fast(X + number)) == 2 * (X + number + 1)).all():
                wrong.append(number)
    threads = [threading.Thread(target=work, args=(np.float32(number),)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_sparse_systems_are_solved_by_scipy():
    sparse = pytest.importorskip("jax.experimental.sparse.linalg")
    from jax.experimental.sparse import BCSR
    dense = np.diag(np.arange(2, 7)).astype(np.float32) + np.eye(5, k=1, dtype=np.float32)
    matrix, b = BCSR.fromdense(dense), X.ravel()[:5]

    def solved(matrix, b):
        return sparse.spsolve(matrix.data, matrix.indices, matrix.indptr, b)
    same(bjit(solved)(matrix, b), np.linalg.solve(dense, b))
    same(bjit(jax.grad(lambda b: solved(matrix, b).sum()))(b), np.linalg.solve(dense.T, np.ones(5, np.float32)))


# What goes wrong ---------------------------------------------------------------------------------------------------------------


def test_a_callback_that_raises():
    calls = []

    def breaks_at_three(x):
        calls.append(1)
        if len(calls) == 3:
            raise KeyError("the third one")
        return np.asarray(x) + 1

    fast = bjit(lambda x: lax.fori_loop(0, 2, lambda i, y: jax.pure_callback(breaks_at_three, like(y), y), x))
    same(fast(X), X + 2)
    with pytest.raises(baton.StatusError, match=r"KeyError: 'the third one'\s+in Python function 'callbacks.pure_callback_0_breaks_at_three'") as caught:
        fast(X)
    assert isinstance(caught.value.__cause__, KeyError) and __file__ in caught.value.locations[0]
    same(fast(X), X + 2)


@pytest.mark.parametrize("kind", ["debug", "io", "print"])
def test_other_kinds_that_raise(kind):
    class Broken:
        def __format__(self, _):
            raise ZeroDivisionError("broken")

    def raises(*_):
        raise ZeroDivisionError("broken")

    def function(x):
        if kind == "print":
            jax.debug.print("{} {}", x, Broken())
        else:
            (jax.debug.callback(raises, x) if kind == "debug" else io_callback(raises, None, x))
        return x
    fast = bjit(function)
    for _ in range(2):
        with pytest.raises(baton.StatusError, match=f"ZeroDivisionError: broken\\s+in Python function 'callbacks.{'debug_print' if kind == 'print' else kind}"):
            fast(X)


@pytest.mark.parametrize("result, sentence", [
    (lambda a: np.asarray(a)[:2], r"_0_lambda returned float32\[2, 4\] as result 0, and float32\[3, 4\] is declared"),
    (lambda a: np.asarray(a).astype(np.int32), r"returned int32\[3, 4\] as result 0, and float32\[3, 4\] is declared"),
    (lambda a: (a, a), "returned 2 arrays, and 1 are declared"), (lambda a: None, "returned 0 arrays, and 1 are declared")])
def test_results_that_do_not_fit(result, sentence):
    with pytest.raises(ValueError, match=sentence):
        bjit(lambda x: jax.pure_callback(result, like(x), x))(X)


@pytest.mark.parametrize("door", [lambda f: baton.jax.lower(f, X), lambda f: baton.jax.lower(f, X, sizes=("n, _",)),
                                  lambda f: baton.jax.lower(jax.jit(f), X),
                                  lambda f: baton.jax.from_stablehlo(jax.jit(f).lower(X).as_text(debug_info=True))])
@pytest.mark.parametrize("kind", ["pure_callback", "io_callback", "debug_callback", "debug_print"])
def test_a_program_for_a_file_has_none(door, kind):
    import baton.jax

    def on_host(x):
        return x
    calls = {"pure_callback": lambda x: jax.pure_callback(on_host, like(x), x), "io_callback": functools.partial(io_callback, on_host, None),
             "debug_callback": functools.partial(jax.debug.callback, on_host), "debug_print": functools.partial(jax.debug.print, "{}")}

    def function(x):
        if kind == "pure_callback":
            x = jax.pure_callback(on_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
        else:
            calls[kind](x)
        return x
    with pytest.raises(baton.jax.NotLowered, match=rf"{__file__}:\d+: .*{kind}.* calls a function of Python, which a program outside of this process"):
        door(function)


def test_other_callbacks_are_named():
    from jax.experimental.buffer_callback import buffer_callback

    import baton.jax
    with pytest.raises(baton.jax.NotLowered, match="buffer_callback is not lowered: of callbacks pure_callback, io_callback and those of jax.debug are"):
        bjit(lambda x: buffer_callback(lambda context, results, a: None, like(x))(x))(X)
