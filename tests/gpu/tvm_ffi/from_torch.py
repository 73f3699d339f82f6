"""A program's functions from PyTorch through TVM-FFI, in place, on PyTorch's stream: from_torch.py baton_tvm_ffi.so sum.bvm"""
import sys

try:
    import torch
    import tvm_ffi
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)
if not torch.cuda.is_available():
    print("skipped: PyTorch finds no GPU")
    sys.exit(0)


def main(library, path):
    program = tvm_ffi.load_module(library).load(path)
    total = program("sum")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream), tvm_ffi.use_torch_stream(stream):
        x = torch.zeros(1 << 20, device="cuda")
        for step in range(100):
            torch.cuda._sleep(100000)  # The program must wait for this, and nobody on the host does.
            x = torch.from_dlpack(total(x, torch.ones_like(x)))
        assert bool((x == 100).all()), x[:4]
    same = program("same_i8")(torch.arange(4, dtype=torch.int8, device="cuda"))
    assert torch.from_dlpack(same).tolist() == [0, 1, 2, 3]
    try:
        total(x, 1.5)
        raise AssertionError("nothing was raised")
    except ValueError as error:
        assert "It takes a tensor" in str(error)
    print("sums from PyTorch: 100 steps on its stream")


main(*sys.argv[1:])
