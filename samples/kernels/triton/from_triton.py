"""A kernel of Triton's in a program of Baton's, and launched by itself: from_triton.py [device]. Compiling needs no GPU."""
import sys
import tempfile

import numpy as np

import baton
import baton.triton

try:
    import triton
    import triton.language as tl
except ImportError:
    sys.exit("skipped: Triton's wheel is not here (pip install triton)")


@triton.jit
def scale_add(x, y, factor, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(y + at, tl.load(x + at, mask=inside) * factor + tl.load(y + at, mask=inside), mask=inside)


# Numbers go first, then scratch pointers that this kernel has none of, then tensors; y is written in place.
FUNCTIONS = """
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %factor: f32) -> tensor<?xf32> {
  %zero = arith.constant 0 : index
  %none = arith.constant 0 : i64
  %n = tensor.dim %x, %zero : tensor<?xf32>
  %programs = affine.apply affine_map<()[s0] -> (s0 ceildiv 256)>()[%n]
  %count = arith.index_cast %n : index to i32
  %twice = arith.addf %x, %x : tensor<?xf32>
  %sum = flow.dispatch @scale_add::@scale_add[%programs](%factor, %count, %none, %none, %twice, %y)
      : (f32, i32, i64, i64, tensor<?xf32>{%n}, tensor<?xf32>{%n}) -> %y{%n}
  return %sum : tensor<?xf32>
}
"""


def main(device="cuda"):
    kernel = baton.triton.compile(scale_add, {"x": "*fp32", "y": "*fp32", "factor": "fp32", "count": "i32"}, {"BLOCK": 256}, arch="90")
    print(kernel)
    with tempfile.TemporaryDirectory() as folder:
        program = baton.compile(kernel.executable(folder) + FUNCTIONS, target="cuda")
    try:
        on = baton.device(device)
    except baton.StatusError as error:
        sys.exit(f"compiled, and not run: {error}")
    loaded = baton.load(program, device=on)
    x, y = np.arange(300, dtype=np.float32), np.ones(300, np.float32)
    result = np.asarray(loaded.main(x, y, 5.0))
    print("a program:", "as computed here" if np.array_equal(result, 10 * x + 1) else result)
    a, b = on.tensor(x), on.tensor(y)
    kernel.library()["scale_add"].launch(2, None, a, b, 2.0, 300, device=on)
    print("a launch:", "as computed here" if np.array_equal(np.asarray(b), 2 * x + 1) else np.asarray(b))


main(*sys.argv[1:])
