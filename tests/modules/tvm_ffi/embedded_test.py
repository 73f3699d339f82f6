"""Goal: a library of TVM-FFI that baton_tvm_ffi_program() made has a program's exports as its functions, from the first call on,
from any thread, with its errors, and shows nothing else. Method: TVM-FFI's own loader; the symbols as nm lists them."""
import subprocess
import sys
import threading

import numpy as np
import tvm_ffi


def tensor(*values):
    return tvm_ffi.from_dlpack(np.array(values, dtype=np.float32))


def fails(part, call, *arguments):
    try:
        call(*arguments)
    except Exception as error:
        assert part in str(error), (part, str(error))
        return
    raise AssertionError(f"{part}: nothing was raised")


def check_symbols(nm, path, names):
    lines = subprocess.run([nm, "-D", "--defined-only", path], check=True, capture_output=True, text=True).stdout
    shown = {line.split()[-1] for line in lines.splitlines()}
    functions = {symbol for symbol in shown if symbol.startswith("__tvm_ffi_")}
    assert functions == {"__tvm_ffi_" + name for name in names}, functions
    # The C++ library's own templates aside, nothing is seen.
    others = {symbol for symbol in shown - functions if "baton" in symbol}
    assert not others, sorted(others)[:5]


def check_first_calls(library):
    """Many threads, of which each believes to be the first."""
    results = []

    def work(seed):
        result = library["sum"](tensor(seed, seed), tensor(1, 2))
        results.append(np.from_dlpack(result).tolist() == [seed + 1, seed + 2])

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8, results


def main(path, refused, nm):
    check_symbols(nm, refused, ["add", "unix"])
    check_symbols(nm, path, ["both", "keep_first", "line", "next", "pick", "same_i8", "sum", "swap"])
    library = tvm_ffi.load_module(path)
    check_first_calls(library)
    z, n, f = library["both"](tensor(1, 2, 3), -7, 0.5)
    assert np.from_dlpack(z).tolist() == [2, 4, 6] and n == -7 and f == 0.5
    assert library["next"](41) == 42
    array = np.arange(4, dtype=np.int8)
    same = library["same_i8"](tvm_ffi.from_dlpack(array))
    assert np.from_dlpack(same).__array_interface__["data"][0] == array.__array_interface__["data"][0]
    fails("takes 2 arguments, and 1 was given", library["sum"], tensor(1))
    fails("expected is a ?xf32", library["sum"], tvm_ffi.from_dlpack(np.zeros((2, 2), np.float32)), tensor(1))
    assert np.from_dlpack(library["sum"](tensor(1), tensor(2))).tolist() == [3]
    other = tvm_ffi.load_module(refused)
    for _ in range(2):  # What failed is tried again, and fails again.
        fails("elsewhere", other["add"], 1, 2)
    assert np.from_dlpack(library["sum"](tensor(4), tensor(2))).tolist() == [6]
    print("a program is a library")


main(*sys.argv[1:])
