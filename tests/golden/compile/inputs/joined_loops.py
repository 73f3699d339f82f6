"""Products whose rows, columns or steps are several short loops: images by a kernel of one element, in both layouts, with what is
computed from the results, gradients of such kernels, one product after the other; a program with lines that say how it is run
(tests/gpu/compiled.py). Words are types; without any it is all of them."""
import sys


def tensor(shape, kind):
    return f"tensor<{'x'.join(map(str, [*shape, kind]))}>"


class Program:
    def __init__(self, kind):
        self.kind, self.text = kind, ""

    def type(self, shape):
        return tensor(shape, self.kind)

    def function(self, name, inputs, result, body):
        arguments = ", ".join(f"%a{i}: {self.type(shape)}" for i, shape in enumerate(inputs))
        begin = f"    %zero = arith.constant 0.0 : {self.kind}\n"
        self.text += f"  func.func @{name}_{self.kind}({arguments}) -> {self.type(result)} {{\n{begin}{body}  }}\n"
        print(f"// CASE: {name}_{self.kind} {' '.join(f'--input={tensor(shape, self.kind)[7:-1].rsplit(chr(120), 1)[0]}={self.kind}:unit' for shape in inputs)}")

    def product(self, name, loops, steps, a, b, c, shapes, inputs):
        """Of the loops, one letter each, those of the operands, in order."""
        maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join(each)})>" for each in (a, b, c))
        kinds = ", ".join('"reduction"' if each in steps else '"parallel"' for each in loops)
        out = self.type(shapes[2])
        return f"""    %{name}_e = tensor.empty() : {out}
    %{name}_f = linalg.fill ins(%zero : {self.kind}) outs(%{name}_e : {out}) -> {out}
    %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
        ins({', '.join(inputs)} : {self.type(shapes[0])}, {self.type(shapes[1])}) outs(%{name}_f : {out}) {{
    ^bb0(%x: {self.kind}, %y: {self.kind}, %s: {self.kind}):
      %p = arith.mulf %x, %y : {self.kind}
      %q = arith.addf %s, %p : {self.kind}
      linalg.yield %q : {self.kind}
    }} -> {out}
"""

    def epilogue(self, name, of, loops, bias, shape, bias_shape, residual):
        """The result and a bias, and another tensor of its shape, added; negative ones are zero."""
        whole = f"affine_map<({', '.join(loops)}) -> ({', '.join(loops)})>"
        each = f"affine_map<({', '.join(loops)}) -> ({bias})>"
        out, kind = self.type(shape), self.kind
        return f"""    %{name}_e = tensor.empty() : {out}
    %{name} = linalg.generic {{indexing_maps = [{whole}, {each}, {whole}, {whole}], iterator_types = [{', '.join(['"parallel"'] * len(loops))}]}}
        ins({of}, %a2, {residual} : {out}, {self.type(bias_shape)}, {out}) outs(%{name}_e : {out}) {{
    ^bb0(%x: {kind}, %y: {kind}, %z: {kind}, %o: {kind}):
      %p = arith.addf %x, %y : {kind}
      %q = arith.addf %p, %z : {kind}
      %m = arith.maximumf %q, %zero : {kind}
      linalg.yield %m : {kind}
    }} -> {out}
"""


def add_all(program):
    # n: image, o: channel of the result, c: channel, h and w: place.
    for n, c, o, h, w in ((3, 32, 48, 7, 7), (2, 64, 40, 14, 28)):
        size = f"{n}x{c}x{o}x{h}x{w}"
        first, last = ((n, c, h, w), (o, c), (n, o, h, w)), ((n, h, w, c), (c, o), (n, h, w, o))
        body = program.product("r", "nohwc", "c", "nchw", "oc", "nohw", first, ("%a0", "%a1"))
        program.function(f"channels_first_{size}", first[:2], first[2], body + f"    return %r : {program.type(first[2])}\n")
        body = program.product("r", "nhwoc", "c", "nhwc", "co", "nhwo", last, ("%a0", "%a1"))
        body += program.epilogue("t", "%r", "nhwo", "o", last[2], (o,), "%a3")
        program.function(f"channels_last_{size}", (*last[:2], (o,), last[2]), last[2], body + f"    return %t : {program.type(last[2])}\n")
        body = program.product("r", "nohwc", "c", "nchw", "oc", "nohw", first, ("%a0", "%a1"))
        body += program.epilogue("t", "%r", "nohw", "o", first[2], (o,), "%a3")
        again = ((n, o, h, w), (o, c), (n, c, h, w))
        body += program.product("u", "nohwc", "c", "nchw", "co", "nohw", again, ("%t", "%a1"))
        program.function(f"twice_{size}", (*first[:2], (o,), first[2]), again[2], body + f"    return %u : {program.type(again[2])}\n")
        gradient = ((n, h, w, c), (n, h, w, o), (c, o))
        body = program.product("r", "conhw", "nhw", "nhwc", "nhwo", "co", gradient, ("%a0", "%a1"))
        program.function(f"gradient_{size}", gradient[:2], gradient[2], body + f"    return %r : {program.type(gradient[2])}\n")


def main():
    text = ""
    for kind in sys.argv[1:] or ("f32", "f16", "bf16", "f64"):
        program = Program(kind)
        add_all(program)
        text += program.text
    print(f"module {{\n{text}}}")


main()
