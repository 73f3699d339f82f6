"""Goal: a program's exports are functions of TVM-FFI: tensors in place both ways, numbers, several results, errors with their
kind and place, threads, and lives that outlast the program. Method: NumPy's tensors through tvm_ffi's own frontend."""
import gc
import sys
import threading
import traceback

import numpy as np
import tvm_ffi


def tensor(*values, dtype=np.float32):
    return tvm_ffi.from_dlpack(np.array(values, dtype=dtype))


def address(value):
    return np.from_dlpack(value).__array_interface__["data"][0]


def fails(kind, part, call, *arguments):
    try:
        call(*arguments)
    except kind as error:
        assert part in str(error), (part, str(error))
        return error
    raise AssertionError(f"{part}: nothing was raised")


def check_values(program):
    x, y = tensor(1, 2, 3), tensor(10, 20, 30)
    assert np.from_dlpack(program("sum")(x, y)).tolist() == [11, 22, 33]
    z, n, f = program("both")(x, -7, 0.1)
    assert np.from_dlpack(z).tolist() == [2, 4, 6] and n == -7 and f == 0.1
    assert program("both")(x, True, 3)[1:] == [1, 3.0] or list(program("both")(x, True, 3))[1:] == [1, 3.0]
    empty = tensor()
    assert np.from_dlpack(program("sum")(empty, empty)).shape == (0,)


def check_numbers(program):
    """Calls with nothing but numbers have a way of their own; what does not fit it goes the way of all."""
    line, following = program("line"), program("next")
    for n, big, f, g in [(1, 2**40, 0.5, 3.0), (-(2**31), -1, -0.25, 2), (2**31 - 1, True, 3, 0.5), (False, 0, 1.0, 1.0)]:
        assert line(n, big, f, g) == n + big + f * g, (n, big, f, g)
    assert following(41) == 42 and following(-1) == 0 and following(2**31 - 1) == -(2**31)
    fails(ValueError, "an integer of", following, 2**31)
    fails(ValueError, "an integer of", following, 1.0)
    fails(ValueError, "an integer of", following, None)
    fails(ValueError, "an integer of", line, 1, "2", 1.0, 1.0)
    fails(ValueError, "It takes an f64, a number of 64 bits", line, 1, 2, tensor(1), 1.0)
    fails(ValueError, "It takes 1 argument, and 2 were given", following, 1, 2)
    fails(ValueError, "It takes 1 argument, and 0 were given", following)
    assert following(1) == 2


INTEGERS = {"i1": (0, 1), "i8": (-(2**7), 2**8 - 1), "i16": (-(2**15), 2**16 - 1), "i32": (-(2**31), 2**31 - 1),
            "i64": (-(2**63), 2**63 - 1)}
FLOATS = {"f16": 65504.0, "bf16": float.fromhex("0x1.fep127"), "f32": float.fromhex("0x1.fffffep127"), "f64": sys.float_info.max}


def check_types_of_numbers(program):
    """A number is what the program declares, whatever its registers hold; what the type does not hold is refused."""
    for name, (least, most) in INTEGERS.items():
        same = program(f"same_{name}")
        bits = 1 if name == "i1" else int(name[1:])
        for value in {least, 0, 1, True, False, most} | ({-1, 77} if bits > 1 else set()):
            signed = value - 2**bits if 1 < bits and value >= 2 ** (bits - 1) else value
            got = same(value)
            assert got == signed and isinstance(got, bool if bits == 1 else int), (name, value, got)
        for wrong in (least - 1, most + 1) if bits < 64 else ():
            fails(ValueError, f"It takes an {name}, an integer of {least} to {most}, and {wrong} was given", same, wrong)
        for wrong, word in ((0.5, "0.5"), ("1", "a str"), (None, "None"), (tensor(1), "tensor")):
            fails(ValueError, f"It takes an {name}, an integer of", same, wrong)
            fails(ValueError, word, same, wrong)
        assert same(1) == 1
    for name, most in FLOATS.items():
        same = program(f"same_{name}")
        for value in (0.0, -0.0, 0.5, -1.5, 3, True, most, -most, float("inf"), float("-inf")):
            got = same(value)
            assert got == value and isinstance(got, float), (name, value, got)
        assert same(float("nan")) != same(float("nan"))
        assert abs(same(0.1) - 0.1) < 0.001
        for wrong in (most * 1.01, -most * 1.01, 1e300) if name != "f64" else ():
            fails(ValueError, f"{name}, a number of", same, wrong)
        fails(ValueError, "and a str was given", same, "1")
        fails(ValueError, "and None was given", same, None)
    for name in ("f16", "bf16"):
        assert program(f"twice_{name}")(0.75) == 1.5
    x = tensor(1, 2)
    h, b, y, t, g, n = program("all")(x, True, -7, 0.25, -2, 2**40)
    assert (h, b, t, g, n) == (-2.0, -7, True, 0.25, 2**40) and np.from_dlpack(y).tolist() == [1, 2]
    fails(ValueError, "It takes an f16, a number of 16 bits, and 1e+06 was given", program("all"), x, True, -7, 0.25, 1e6, 2**40)


def check_in_place(program):
    array = np.arange(4, dtype=np.int8)
    same = program("same_i8")(tvm_ffi.from_dlpack(array))
    assert address(same) == array.__array_interface__["data"][0]
    array[0] = 9
    assert np.from_dlpack(same)[0] == 9
    again = program("same_i8")(same)  # The same object: it outlives what it was given as.
    del same, array
    gc.collect()
    assert np.from_dlpack(again).tolist() == [9, 1, 2, 3]


def check_lives(program):
    result = program("sum")(tensor(1, 2), tensor(3, 4))
    view = np.from_dlpack(result)
    del result
    gc.collect()
    assert view.tolist() == [4, 6]


def check_loans(program):
    """Tensors that come again are found again; whatever differs in memory, shape, type or strides is another tensor."""
    memory = np.arange(8, dtype=np.float32)
    for round in range(3):
        for length in (8, 4, 0, 8):  # One address, many shapes.
            x = tvm_ffi.from_dlpack(memory[:length])
            assert np.from_dlpack(program("sum")(x, x)).tolist() == (2 * memory[:length]).tolist()
        memory += 1
        fails(RuntimeError, "not dense", program("sum"), tvm_ffi.from_dlpack(memory[::2]), tvm_ffi.from_dlpack(memory[:4]))
        fails(ValueError, "4xi32", program("sum"), tvm_ffi.from_dlpack(memory.view(np.int32)[:4]), tensor(1))
        fails(ValueError, "4x1xf32", program("sum"), tvm_ffi.from_dlpack(memory[:4].reshape(4, 1)), tensor(1))
    many = [tensor(i, 2 * i) for i in range(40)]  # More than are remembered.
    for _ in range(2):
        for i, x in enumerate(many):
            assert np.from_dlpack(program("sum")(x, many[-1 - i])).tolist() == [39, 78]


def check_keeping(program):
    """A program that keeps a tensor keeps the caller's; one that lets go of it leaves nothing behind."""
    class Watched:  # Says when the last reference to its tensor is gone.
        alive = 0

        def __init__(self, values):
            Watched.alive += 1
            self.values = values

        def __del__(self):
            Watched.alive -= 1

        @property
        def __array_interface__(self):
            return self.values.__array_interface__

    def watched(*values):
        return tvm_ffi.from_dlpack(np.asarray(Watched(np.array(values, dtype=np.float32))))

    for _ in range(3):
        x = watched(1, 2)
        assert np.from_dlpack(program("sum")(x, x)).tolist() == [2, 4]
        assert Watched.alive == 1
        del x
        gc.collect()
        assert Watched.alive == 0
    swapped = program("swap")(watched(1, 2, 3))  # Kept by the program until it gets another.
    del swapped
    gc.collect()
    assert Watched.alive == 1
    for _ in range(3):
        back = program("swap")(watched(4, 5, 6))
        assert np.from_dlpack(back).tolist() in ([1, 2, 3], [4, 5, 6])
        del back
        gc.collect()
        assert Watched.alive == 1
    program("swap")(tensor(0, 0, 0))
    gc.collect()
    assert Watched.alive == 0


def check_shared_memory(program):
    """Two tensors of the same memory are two: what the program keeps of one keeps that one, and the other comes back as itself."""
    class Named:
        alive = set()

        def __init__(self, name, values):
            self.name, self.__array_interface__ = name, values.__array_interface__
            self.values = values
            Named.alive.add(name)

        def __del__(self):
            Named.alive.discard(self.name)

    def alive():
        gc.collect()
        return Named.alive

    memory = np.array([1, 2, 3], dtype=np.float32)
    for _ in range(3):
        x, y = (tvm_ffi.from_dlpack(np.asarray(Named(name, memory))) for name in "xy")
        same = program("keep_first")(x, y)
        del x, y
        assert alive() == {"x", "y"}, alive()
        assert address(same) == memory.__array_interface__["data"][0]
        del same
        assert alive() == {"x"}, alive()
        x = tvm_ffi.from_dlpack(np.asarray(Named("z", memory)))
        same = program("keep_first")(x, x)  # One tensor twice.
        del x, same
        assert alive() == {"z"}, alive()
        program("swap")(tensor(0, 0, 0))
        assert not alive(), alive()


def check_call_back(baton, path, functions):
    """A function that the program calls may call other programs, and itself only with an error."""
    if not functions:
        return
    for device in ("", "local-sync"):
        round_trip = baton.load(path, device, functions)
        calls = {name: round_trip(name) for name in ("numbers", "tensors")}
        other = tvm_ffi.convert(lambda n: n + 1)
        for name, call in calls.items():
            given = (3,) if name == "numbers" else (tensor(1, 2), 3)
            for _ in range(2):
                tvm_ffi.register_global_func("baton_test.back", lambda n: call(*given[:-1], n), override=True)
                fails(AssertionError, "may not call it again on the same device", call, *given)
                tvm_ffi.register_global_func("baton_test.back", other, override=True)
                result = call(*given)
                assert result == 4 if name == "numbers" else np.from_dlpack(result).tolist() == [1, 2], (name, result)


def check_objects(baton, path, functions):
    """Whatever a caller has is an object of a program: values in place, borrowed ones, and what it may take from the caller."""
    program = baton.load(path, "", functions)
    identity, kept = program("identity"), program("kept")
    values = [None, 0, -1, 2**62, True, False, 0.5, "", "a", "seven b", "eight by", "long " * 20, b"", b"a\0b", b"long " * 20]
    for value in values:
        for call in (identity, kept):
            got = call(value)
            assert got == value and isinstance(got, type(value)), (call, value, got)
    fails(Exception, "fenced' takes a fence that callers of TVM-FFI do not have", program, "fenced")
    for call in (identity, kept):
        assert str(call(tvm_ffi.dtype("float16"))) == "float16"
        assert call(tvm_ffi.device("cuda", 3)) == tvm_ffi.device("cuda", 3)
        assert list(call([1, "a", None])) == [1, "a", None] and dict(call({"a": 1})) == {"a": 1}
        assert tuple(call(tvm_ffi.Shape((2, 3)))) == (2, 3)
        assert call(lambda n: n + 1)(3) == 4
        assert np.from_dlpack(call(tensor(1, 2))).tolist() == [1, 2]
    several = program("several")("short", 7)
    assert list(several) == ["short", 7], list(several)


def check_errors(program, baton, path):
    x = tensor(1, 2, 3)
    fails(KeyError, "did you mean 'sum'", program, "sun")
    fails(ValueError, "takes 2 arguments, and 1 was given", program("sum"), x)
    fails(ValueError, "It takes a tensor, and a float was given", program("sum"), x, 1.5)
    for given in ((None, x), (x, None)):
        error = fails(ValueError, "It takes a tensor, and None was given", program("sum"), *given)
        assert f"argument {given.index(None)}" in "".join(traceback.format_exception(error))
    fails(ValueError, "2x2xf32; expected is a ?xf32", program("sum"), tvm_ffi.from_dlpack(np.zeros((2, 2), np.float32)), x)
    fails(ValueError, "3xf64", program("sum"), tensor(1, 2, 3, dtype=np.float64), x)
    fails(ValueError, "an integer of", program("both"), x, 2**40, 1.0)
    fails(ValueError, "an integer of", program("both"), x, 1.5, 1.0)
    fails(ValueError, "a number", program("both"), x, 1, "one")
    fails(RuntimeError, "not dense", program("sum"), tvm_ffi.from_dlpack(np.zeros(6, np.float32)[::2]), x)
    fails(KeyError, "Cannot open", baton.load, "/nowhere.bvm")
    fails(ValueError, "is a str, and an int was given", baton.load, 3)
    fails(ValueError, "missing", baton.load)
    fails(Exception, "nothing", baton.load(path, "nothing://")("sum"), x, x)
    error = fails(IndexError, "", program("pick"), x, 9)
    places = "".join(traceback.format_exception(error))
    assert 'exports.mlir", line 12, in exports.pick' in places, places
    assert np.from_dlpack(program("sum")(x, x)).tolist() == [2, 4, 6]


def check_threads(program):
    failures = []

    def work(seed):
        x = tensor(seed, seed + 1)
        for _ in range(200):
            if np.from_dlpack(program("sum")(x, x)).tolist() != [2 * seed, 2 * seed + 2]:
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def check_globals(baton, path):
    names = baton.register(path).split()
    assert {"exports.sum", "exports.both", "exports.pick", "exports.same_i8"} <= set(names), names
    assert np.from_dlpack(tvm_ffi.get_global_func("exports.sum")(tensor(1), tensor(2))).tolist() == [3]
    fails(Exception, "is already registered", baton.register, path)


def main(library, path, objects, numbers, round_trip="", functions=""):
    baton = tvm_ffi.load_module(library)
    for device in ("", "local-sync", "local-task"):
        program = baton.load(path, device)
        check_numbers(program)  # Before any tensor, and again behind them.
        check_values(program)
        check_types_of_numbers(baton.load(numbers, device))
        check_numbers(program)
        check_in_place(program)
        check_lives(program)
        check_loans(program)
        check_keeping(program)
        check_shared_memory(program)
        check_errors(program, baton, path)
        check_threads(program)
    sum_alone = baton.load(path)("sum")  # Keeps its program.
    gc.collect()
    assert np.from_dlpack(sum_alone(tensor(1), tensor(2))).tolist() == [3]
    check_call_back(baton, round_trip, functions)
    if functions:
        check_objects(baton, objects, functions)
    check_globals(baton, path)
    print("exports are functions")


main(*sys.argv[1:])
