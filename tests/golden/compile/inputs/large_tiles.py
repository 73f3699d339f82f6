"""Products whose tiles are large, with something behind them that needs another type: large_tiles.py TARGET

TARGET is an architecture of CUDA or "vulkan"; the module is for it alone. The sums of such a tile are kept while they are
converted, and not every device has as much shared memory.
"""
import sys

# Operands, sums, what the results are, and how sums become that.
KINDS = [("f16", "f32", "f16", "arith.truncf"), ("bf16", "f32", "bf16", "arith.truncf"), ("f16", "f16", "f32", "arith.extf"),
         ("f32", "f32", "i8", "arith.fptosi"), ("f32", "f32", "f16", "arith.truncf"), ("i8", "i32", "i8", "arith.trunci"),
         ("f64", "f64", "i8", "arith.fptosi"), ("i64", "i64", "i32", "arith.trunci")]
SHAPES = [(2048, 2048, 64), (1000, 5000, 40)]
FORMS = {"plain": "(i, j)", "turned": "(j, i)"}  # Where the result lies, seen from the product.
HEADS = {"vulkan": '"vulkan-spirv", "vulkan-spirv-fb"'}


def function(name, kind, rows, columns, steps, form):
    operand, sums, result, convert = kind
    product, made = f"{rows}x{columns}x", f"{rows}x{columns}x" if form == "plain" else f"{columns}x{rows}x"
    plus, zero = ("arith.addf", "0.0") if sums[0] == "f" else ("arith.addi", "0")
    return f"""  func.func @{name}(%a: tensor<{rows}x{steps}x{operand}>, %b: tensor<{steps}x{columns}x{operand}>, %c: tensor<{columns}x{sums}>) -> tensor<{made}{result}> {{
    %zero = arith.constant {zero} : {sums}
    %none = tensor.empty() : tensor<{product}{sums}>
    %start = linalg.fill ins(%zero : {sums}) outs(%none : tensor<{product}{sums}>) -> tensor<{product}{sums}>
    %p = linalg.matmul ins(%a, %b : tensor<{rows}x{steps}x{operand}>, tensor<{steps}x{columns}x{operand}>) outs(%start : tensor<{product}{sums}>) -> tensor<{product}{sums}>
    %empty = tensor.empty() : tensor<{made}{result}>
    %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> {FORMS[form]}>],
        iterator_types = ["parallel", "parallel"]}} ins(%p, %c : tensor<{product}{sums}>, tensor<{columns}x{sums}>) outs(%empty : tensor<{made}{result}>) {{
    ^bb0(%x: {sums}, %y: {sums}, %out: {result}):
      %s = {plus} %x, %y : {sums}
      %t = {convert} %s : {sums} to {result}
      linalg.yield %t : {result}
    }} -> tensor<{made}{result}>
    return %r : tensor<{made}{result}>
  }}
"""


def main():
    target = sys.argv[1]
    executable = f"#hal.executable.target<{HEADS[target]}>" if target in HEADS else f'#hal.executable.target<"cuda", "cuda-nvptx-fb", {{target_arch = "{target}"}}>'
    device = "vulkan" if target in HEADS else "cuda"
    print(f'module attributes {{hal.device.targets = [#hal.device.target<"{device}", [{executable}]> : !hal.device]}} {{')
    for kind in KINDS:
        for shape in SHAPES if "64" not in kind[1] else SHAPES[1:]:
            for form in FORMS:
                print(function(f"{'_'.join(kind[:3])}_{'x'.join(map(str, shape))}_{form}", kind, *shape, form), end="")
    print("}")


main()
