"""A program's functions as functions of TVM-FFI: from_python.py baton_tvm_ffi.so program.bvm add_one.so"""
import sys

import numpy as np
import tvm_ffi


def main(library, path, functions):
    baton = tvm_ffi.load_module(library)
    program = baton.load(path, "", functions)  # The device is that of the tensors.
    x = tvm_ffi.from_dlpack(np.arange(1, 5, dtype=np.float32))
    print(text(program("main")(x)))
    name = baton.register(path, "", functions)
    print(f"the same, registered: {name} -> {text(tvm_ffi.get_global_func(name)(x))}")
    try:
        program("main")(tvm_ffi.from_dlpack(np.zeros((2, 2), dtype=np.float32)))
    except ValueError as error:
        print(f"ValueError: {error}")


def text(tensor):
    return "[" + " ".join(f"{value:g}." for value in np.from_dlpack(tensor)) + "]"


main(*sys.argv[1:])
