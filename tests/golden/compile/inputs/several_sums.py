"""Kernels with several sums, each of which wants shared memory while it is made: products, columns, rows and windows, one to six in
one kernel; a program with lines that say how it is run (tests/gpu/compiled.py)."""


def tensor(shape, kind="f32"):
    return f"tensor<{'x'.join(map(str, shape))}x{kind}>"


def sums(name, count, shapes, result, maps, kinds):
    """`count` sums of products of two tensors each, added up element by element."""
    arguments = [(f"%a{i}", shapes[0]) for i in range(count)] + [(f"%b{i}", shapes[1]) for i in range(count)]
    out = tensor(result)
    text = f"  func.func @{name}({', '.join(f'{n}: {tensor(s)}' for n, s in arguments)}) -> {out} {{\n    %zero = arith.constant 0.0 : f32\n"
    text += f"    %e = tensor.empty() : {out}\n    %f = linalg.fill ins(%zero : f32) outs(%e : {out}) -> {out}\n"
    for i in range(count):
        text += f"""    %s{i} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
        ins(%a{i}, %b{i} : {tensor(shapes[0])}, {tensor(shapes[1])}) outs(%f : {out}) {{
    ^bb0(%x: f32, %y: f32, %sum: f32):
      %p = arith.mulf %x, %y : f32
      %q = arith.addf %sum, %p : f32
      linalg.yield %q : f32
    }} -> {out}
"""
    each = f"affine_map<({', '.join(f'd{i}' for i in range(len(result)))}) -> ({', '.join(f'd{i}' for i in range(len(result)))})>"
    names = ", ".join(f"%x{i}: f32" for i in range(count))
    parallel = ", ".join(['"parallel"'] * len(result))
    text += f"    %r = linalg.generic {{indexing_maps = [{', '.join([each] * (count + 1))}], iterator_types = [{parallel}]}}\n"
    text += f"        ins({', '.join(f'%s{i}' for i in range(count))} : {', '.join([out] * count)}) outs(%e : {out}) {{\n    ^bb0({names}, %o: f32):\n"
    last = "%x0"
    for i in range(1, count):
        text += f"      %t{i} = arith.{'subf' if i % 2 else 'addf'} {last}, %x{i} : f32\n"
        last = f"%t{i}"
    text += f"      %u = arith.mulf {last}, {last} : f32\n      linalg.yield %u : f32\n    }} -> {out}\n    return %r : {out}\n  }}\n"
    inputs = " ".join(f"--input={'x'.join(map(str, shape))}=f32:unit" for _, shape in arguments)
    print(f"// CASE: {name} {inputs}")
    return text


def main():
    text = ""
    for count in (1, 2, 4, 6):
        text += sums(f"products_{count}", count, ((66, 40), (40, 70)), (66, 70),
                     "affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>",
                     '"parallel", "parallel", "reduction"')
        text += sums(f"batches_{count}", count, ((2, 6, 5), (5, 5)), (2, 6, 5),
                     "affine_map<(b, i, j, k) -> (b, i, k)>, affine_map<(b, i, j, k) -> (k, j)>, affine_map<(b, i, j, k) -> (b, i, j)>",
                     '"parallel", "parallel", "parallel", "reduction"')
        text += sums(f"columns_{count}", count, ((300, 36), (300, 36)), (36,),
                     "affine_map<(j, k) -> (k, j)>, affine_map<(j, k) -> (k, j)>, affine_map<(j, k) -> (j)>", '"parallel", "reduction"')
        text += sums(f"rows_{count}", count, ((20, 300), (20, 300)), (20,),
                     "affine_map<(j, k) -> (j, k)>, affine_map<(j, k) -> (j, k)>, affine_map<(j, k) -> (j)>", '"parallel", "reduction"')
        text += sums(f"windows_{count}", count, ((2, 7, 4, 3), (3, 2, 3)), (2, 3, 2, 3),
                     "affine_map<(n, y, x, c, p, q) -> (n, y * 2 + p, x + q * 2, c)>, affine_map<(n, y, x, c, p, q) -> (p, q, c)>, "
                     "affine_map<(n, y, x, c, p, q) -> (n, y, x, c)>",
                     '"parallel", "parallel", "parallel", "parallel", "reduction", "reduction"')
    print(f"module {{\n{text}}}")


main()
