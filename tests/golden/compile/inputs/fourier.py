"""Functions that say that they transform lines (compiler-lite/codegen/fourier.hpp), and do so themselves, number by number: lengths of one stage and of
several, primes, lines that lie apart, more lines than workgroups hold evenly, real operands and results, first halves, the inverse; and lengths that
no kernel takes. A program with lines that say how it is run (tests/gpu/compiled.py)."""

# The lines as (before, length, behind), the type of numbers, whether the transform is the inverse, numbers given of a line, numbers made, and how many parts.
CASES = [
    ((3, 8, 1), "f32", False, 8, 8, 2, 2), ((3, 64, 1), "f32", False, 64, 64, 2, 2), ((2, 1024, 1), "f32", True, 1024, 1024, 2, 2),
    ((5, 60, 1), "f64", False, 60, 60, 2, 2), ((2, 143, 3), "f32", False, 143, 143, 2, 2), ((1, 210, 37), "f32", True, 210, 210, 2, 2),
    ((7, 512, 1), "f32", False, 512, 257, 1, 2), ((2, 100, 5), "f32", False, 100, 51, 1, 2), ((4, 81, 1), "f32", True, 41, 81, 2, 1),
    ((2, 256, 9), "f32", True, 129, 256, 2, 1), ((300, 16, 1), "f32", False, 16, 16, 2, 2), ((2, 2, 2), "f32", False, 2, 2, 2, 2),
    ((1, 2048, 1), "f32", False, 2048, 2048, 2, 2), ((1, 1331, 2), "f32", False, 1331, 1331, 2, 2),
    ((2, 34, 1), "f32", False, 34, 34, 2, 2), ((1, 4096, 1), "f32", False, 4096, 8, 2, 2),
]


def main():
    for (before, length, behind), kind, is_inverse, given, made, operands, results in CASES:
        name = f"lines_{before}x{length}x{behind}_{given}_to_{made}_{kind}_{operands}{results}{'_back' if is_inverse else ''}"
        lines, ends, roots = (f"tensor<{each}x{kind}>" for each in (f"{before}x{given}x{behind}", f"{before}x{made}x{behind}", f"2x{length}"))
        types = ", ".join([lines] * operands + [roots])
        arguments = ", ".join(f"%{part}: {lines}" for part in ("real", "imaginary")[:operands]) + f", %roots: {roots}"
        passed = ", ".join([*("%real", "%imaginary")[:operands], "%roots"])
        ended = f"({ends}, {ends})" if results == 2 else ends
        scale = 1 / length if is_inverse else 1.0
        inputs = " ".join([f"--input={before}x{given}x{behind}={kind}"] * operands)
        print(f"""// CASE: {name} {inputs}
func.func @{name}({", ".join(f"%{part}: {lines}" for part in ("real", "imaginary")[:operands])}) -> {ended} {{
  %none = tensor.empty() : {roots}
  %roots = linalg.generic {{indexing_maps = [affine_map<(p, k) -> (p, k)>], iterator_types = ["parallel", "parallel"]}} outs(%none : {roots}) {{
  ^bb0(%so_far: {kind}):
    %p = linalg.index 0 : index
    %k = linalg.index 1 : index
    %number = arith.index_cast %k : index to i32
    %place = arith.sitofp %number : i32 to {kind}
    %step = arith.constant {(1 if is_inverse else -1) * 6.283185307179586 / length!r} : {kind}
    %angle = arith.mulf %place, %step : {kind}
    %cosine = math.cos %angle : {kind}
    %sine = math.sin %angle : {kind}
    %first = arith.constant 0 : index
    %is_real = arith.cmpi eq, %p, %first : index
    %part = arith.select %is_real, %cosine, %sine : {kind}
    linalg.yield %part : {kind}
  }} -> {roots}
  %made:{results} = call @{name}_lines({passed}) : ({types}) -> {ended}
  return {", ".join(f"%made#{i}" for i in range(results)) if results == 2 else "%made"} : {", ".join([ends] * results)}
}}
func.func private @{name}_lines({arguments}) -> {ended} attributes {{baton.fourier = array<i64: {length}, {int(is_inverse)}>}} {{
  %length = arith.constant {length} : index
  %known = arith.constant {given} : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : {kind}
  %scale = arith.constant {scale!r} : {kind}
  %memory = tensor.empty() : {ends}
  %zeros = linalg.fill ins(%zero : {kind}) outs(%memory : {ends}) -> {ends}
  %range = tensor.empty() : tensor<{length}xi1>
  %sums:2 = linalg.generic {{indexing_maps = [affine_map<(o, k, c, m) -> (m)>, affine_map<(o, k, c, m) -> (o, k, c)>, affine_map<(o, k, c, m) -> (o, k, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}} ins(%range : tensor<{length}xi1>) outs(%zeros, %zeros : {ends}, {ends}) {{
  ^bb0(%unread: i1, %real_sum: {kind}, %imaginary_sum: {kind}):
    %o = linalg.index 0 : index
    %k = linalg.index 1 : index
    %c = linalg.index 2 : index
    %m = linalg.index 3 : index
    %is_known = arith.cmpi ult, %m, %known : index
    %mirrored = arith.subi %length, %m : index
    %held = arith.select %is_known, %m, %mirrored : index
    %turn = arith.muli %k, %m : index
    %rest = arith.remui %turn, %length : index
    %cosine = tensor.extract %roots[%c0, %rest] : {roots}
    %sine = tensor.extract %roots[%c1, %rest] : {roots}
    %a = tensor.extract %real[%o, %held, %c] : {lines}""")
        if operands == 2:
            print(f"""    %read = tensor.extract %imaginary[%o, %held, %c] : {lines}
    %conjugate = arith.negf %read : {kind}
    %b = arith.select %is_known, %read, %conjugate : {kind}""")
        else:
            print(f"    %b = arith.constant 0.0 : {kind}")
        print(f"""    %ac = arith.mulf %a, %cosine : {kind}
    %bs = arith.mulf %b, %sine : {kind}
    %as = arith.mulf %a, %sine : {kind}
    %bc = arith.mulf %b, %cosine : {kind}
    %real_part = arith.subf %ac, %bs : {kind}
    %imaginary_part = arith.addf %as, %bc : {kind}
    %real_scaled = arith.mulf %real_part, %scale : {kind}
    %imaginary_scaled = arith.mulf %imaginary_part, %scale : {kind}
    %new_real = arith.addf %real_sum, %real_scaled : {kind}
    %new_imaginary = arith.addf %imaginary_sum, %imaginary_scaled : {kind}
    linalg.yield %new_real, %new_imaginary : {kind}, {kind}
  }} -> ({ends}, {ends})
  return {", ".join(f"%sums#{i}" for i in range(results))} : {", ".join([ends] * results)}
}}""")


main()
