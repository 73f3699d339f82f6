"""Attention of few queries, as a model asks for its next tokens: 1 to 9 rows, keys and sizes that fit nothing, masks by a tensor
and by place, every type; a program with lines that say how it is run (tests/gpu/compiled.py)."""

# Type, batches, queries, keys, elements of Q and K, elements of V, mask.
CASES = [
    ("f16", 3, 1, 77, 64, 64, ""),
    ("f16", 3, 1, 5, 33, 24, "tensor"),
    ("f16", 2, 2, 130, 128, 128, "tensor"),
    ("f16", 1, 3, 1, 1, 8, ""),
    ("f16", 3, 8, 65, 40, 64, "place"),
    ("f16", 3, 9, 65, 40, 64, "place"),
    ("bf16", 4, 1, 200, 128, 64, "place"),
    ("bf16", 3, 2, 33, 16, 100, "tensor"),
    ("bf16", 2, 8, 64, 64, 64, ""),
    ("f32", 3, 1, 63, 65, 30, "tensor"),
    ("f32", 2, 4, 128, 64, 64, "place"),
    ("f32", 2, 7, 31, 8, 128, ""),
    # Workgroups share the keys: two, four and eight of them, some of which have none that count.
    ("f16", 52, 1, 300, 64, 64, "place"),
    ("bf16", 25, 1, 1000, 64, 64, "tensor"),
    ("f16", 13, 1, 1024, 128, 128, "early"),
    ("f16", 1, 1, 2051, 128, 96, "tensor"),
    ("f16", 2, 4, 777, 128, 64, "early"),
    ("bf16", 1, 8, 2000, 64, 64, "tensor"),
    ("f32", 2, 1, 513, 40, 64, "early"),
    ("f32", 33, 2, 300, 16, 16, "place"),
]


def tensor(shape, kind):
    return f"tensor<{'x'.join(map(str, shape))}x{kind}>"


def function(name, kind, batches, queries, keys, depth, width, mask):
    scores, result = tensor([batches, queries, keys], kind), tensor([batches, queries, width], kind)
    q, k, v = (tensor([batches, *shape], kind) for shape in ((queries, depth), (keys, depth), (keys, width)))
    of_mask = tensor([queries, keys], kind)
    whole = "affine_map<(b, i, j) -> (b, i, j)>"
    masked, parameters = "", f"%q: {q}, %k: {k}, %v: {v}" + (f", %mask: {of_mask}" if mask == "tensor" else "")
    if mask == "tensor":
        masked = f"""    %m = linalg.generic {{indexing_maps = [{whole}, affine_map<(b, i, j) -> (i, j)>, {whole}],
        iterator_types = ["parallel", "parallel", "parallel"]}} ins(%s, %mask : {scores}, {of_mask}) outs(%es : {scores}) {{
    ^bb0(%x: {kind}, %a: {kind}, %o: {kind}):
      %scale = arith.constant 0.125 : {kind}
      %scaled = arith.mulf %x, %scale : {kind}
      %y = arith.addf %scaled, %a : {kind}
      linalg.yield %y : {kind}
    }} -> {scores}
"""
    if mask in ("place", "early"):  # The last query sees all keys, or a third of them.
        last = keys if mask == "place" else keys // 3
        masked = f"""    %m = linalg.generic {{indexing_maps = [{whole}, {whole}], iterator_types = ["parallel", "parallel", "parallel"]}}
        ins(%s : {scores}) outs(%es : {scores}) {{
    ^bb0(%x: {kind}, %o: {kind}):
      %i = linalg.index 1 : index
      %j = linalg.index 2 : index
      %before = arith.constant {last - queries} : index
      %last = arith.addi %i, %before : index
      %is_seen = arith.cmpi sle, %j, %last : index
      %none = arith.constant {'0xFC00' if kind == 'f16' else '0xFF80' if kind == 'bf16' else '0xFF800000'} : {kind}
      %scale = arith.constant {1.0 if mask == "place" else 0.125} : {kind}
      %scaled = arith.mulf %x, %scale : {kind}
      %y = arith.select %is_seen, %scaled, %none : {kind}
      linalg.yield %y : {kind}
    }} -> {scores}
"""
    return f"""  func.func @{name}({parameters}) -> {result} {{
    %zero = arith.constant 0.0 : {kind}
    %es = tensor.empty() : {scores}
    %fs = linalg.fill ins(%zero : {kind}) outs(%es : {scores}) -> {scores}
    %s = linalg.batch_matmul_transpose_b ins(%q, %k : {q}, {k}) outs(%fs : {scores}) -> {scores}
{masked}    %w = linalg.softmax dimension(2) ins({'%m' if mask else '%s'} : {scores}) outs(%es : {scores}) -> {scores}
    %er = tensor.empty() : {result}
    %fr = linalg.fill ins(%zero : {kind}) outs(%er : {result}) -> {result}
    %r = linalg.batch_matmul ins(%w, %v : {scores}, {v}) outs(%fr : {result}) -> {result}
    return %r : {result}
  }}
"""


def main():
    text = ""
    for number, (kind, batches, queries, keys, depth, width, mask) in enumerate(CASES):
        name = f"{kind}_{queries}_of_{keys}_{mask or 'all'}_{number}"
        text += function(name, kind, batches, queries, keys, depth, width, mask)
        given = [f"--input={batches}x{queries}x{depth}={kind}:unit", f"--input={batches}x{keys}x{depth}={kind}:unit"]
        last = [f"--input={queries}x{keys}={kind}:unit"] if mask == "tensor" else []
        print(f"// CASE: {name} {' '.join([*given, f'--input={batches}x{keys}x{width}={kind}', *last])}")
        if not mask:  # What is behind the last key counts nothing, also beside infinity.
            print(f"// CASE: {name} {' '.join([*given, f'--input={batches}x{keys}x{width}x{kind}=inf', *last])}")
    print(f"module {{\n{text}}}")


main()
