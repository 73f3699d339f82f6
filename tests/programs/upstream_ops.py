"""Named operations of linalg, by their layouts: the text of a function for each and what NumPy says that it gives.

A convolution's name holds its layouts (conv_2d_nhwc_hwcf); its output is that of the input with the kernel's f, c, m and g.
"""
import dataclasses
import itertools

import numpy as np

WORDS = {"float32": "f32", "int8": "i8", "int32": "i32", "float16": "f16", "float64": "f64", "uint8": "i8", "bool": "i1", "int64": "i64", "complex64": "complex<f32>",
         "complex128": "complex<f64>"}


def type_of(array, is_open=False):
    sizes = "".join(f"{'?' if is_open else size}x" for size in array.shape)
    return f"tensor<{sizes}{WORDS[array.dtype.name]}>"


@dataclasses.dataclass
class Case:
    """A function of the program, what it is given, and what it must give."""

    name: str
    arguments: list
    text: str
    wanted: list
    tolerance: float | None = None


def sized(case, arguments, wanted, operation, is_open, attributes="", first=None):
    """func with the arguments, the output tensor filled with its first value among them."""
    types = [type_of(each, is_open) for each in arguments]
    out = type_of(wanted, is_open)
    names = [f"%a{i}" for i in range(len(arguments))]
    parameters = ", ".join(f"{n}: {t}" for n, t in zip([*names, "%o"], [*types, out]))
    text = (f"func.func @{case}({parameters}) -> {out} {{\n  %r = linalg.{operation} {attributes} ins({', '.join(names)} : {', '.join(types)}) "
            f"outs(%o : {out}) -> {out}\n  return %r : {out}\n}}\n")
    return Case(case, [*arguments, first], text, [wanted])


SPACE = {"1d": "w", "2d": "hw", "3d": "dhw"}


def windows_of(image, layout, kernel, strides, dilations, out_space):
    """For each place of the kernel the part of the image that it meets, with space at the layout's places."""
    space = [letter for letter in layout if letter in "dhw"]
    for place in itertools.product(*(range(kernel[letter]) for letter in space)):
        index = []
        for letter in layout:
            if letter in space:
                i = space.index(letter)
                begin = place[i] * dilations[i]
                index.append(slice(begin, begin + (out_space[i] - 1) * strides[i] + 1, strides[i]))
            else:
                index.append(slice(None))
        yield dict(zip(space, place)), image[tuple(index)]


def convolution(operation, seed, strides, dilations, is_open=False, kinds=("float32", "float32", "float32")):
    source = np.random.default_rng(seed)
    words = operation.split("_")
    is_quantized = words[-1] == "q"
    words = words[:-1] if is_quantized else words
    depthwise, words = words[0] == "depthwise", words[1:] if words[0] == "depthwise" else words
    space = SPACE[words[1]]
    if len(words) == 2:
        strides = dilations = (1, 1, 1)
    image_layout, kernel_layout = words[2:4] if len(words) > 2 else (space, space)
    sizes = {"n": 2, "c": 3, "f": 4, "m": 2, "g": 2}
    kernel_sizes = dict(zip("dhw", (2, 3, 2))) if len(space) > 1 else {"w": 3}
    out_space = [3, 2, 4][:len(space)]
    strides, dilations = strides[:len(space)], dilations[:len(space)]
    inner = {letter: (o - 1) * s + (kernel_sizes[letter] - 1) * d + 1 for letter, o, s, d in zip(space, out_space, strides, dilations)}

    def numbers(shape, kind):
        return source.normal(size=shape).astype(kind) if kind.startswith("f") else source.integers(-9, 9, shape).astype(kind)

    if is_quantized:
        kinds = ("int8", "int8", "int32")
    image = numbers([inner.get(letter, sizes.get(letter)) for letter in image_layout], kinds[0])
    kernel = numbers([kernel_sizes.get(letter, sizes.get(letter)) for letter in kernel_layout], kinds[1])
    if depthwise:
        out_layout = image_layout + ("m" if "m" in kernel_layout else "")
        if "m" in kernel_layout:
            out_layout = image_layout.replace("c", "") + "cm" if image_layout[-1] == "c" else image_layout.replace("c", "cm")
    elif len(words) > 2:
        out_layout = image_layout.replace("c", "f")
    else:
        out_layout = image_layout
    zero = {"image": 0, "kernel": 0}
    if is_quantized:
        zero = {"image": 2, "kernel": -3}
    shape = [dict(zip(space, out_space)).get(letter, sizes.get(letter)) for letter in out_layout]
    first = numbers(shape, kinds[2])
    wide = "float64" if kinds[2].startswith("f") else "int64"
    wanted = first.astype(wide)
    for place, part in windows_of(image.astype(wide) - zero["image"], image_layout, kernel_sizes, strides, dilations, out_space):
        taken = (kernel.astype(wide) - zero["kernel"])[tuple(place[letter] if letter in place else slice(None) for letter in kernel_layout)]
        rest = "".join(letter for letter in kernel_layout if letter not in space)
        wanted = wanted + np.einsum(f"{image_layout},{rest}->{out_layout}", part, taken)
    attributes = ""
    if len(words) > 2:
        attributes = f"{{dilations = dense<{list(dilations)}> : tensor<{len(space)}xi64>, strides = dense<{list(strides)}> : tensor<{len(space)}xi64>}}"
    arguments, types = [image, kernel], [type_of(image, is_open), type_of(kernel, is_open)]
    names, constants = ["%a0", "%a1"], ""
    if is_quantized:
        constants = f"  %zi = arith.constant {zero['image']} : i32\n  %zk = arith.constant {zero['kernel']} : i32\n"
        names, types = names + ["%zi", "%zk"], types + ["i32", "i32"]
    out = type_of(first, is_open)
    name = f"{operation}_{'open' if is_open else 'fixed'}"
    text = (f"func.func @{name}(%a0: {types[0]}, %a1: {types[1]}, %o: {out}) -> {out} {{\n{constants}  %r = linalg.{operation} {attributes} "
            f"ins({', '.join(names)} : {', '.join(types)}) outs(%o : {out}) -> {out}\n  return %r : {out}\n}}\n")
    return Case(name, [*arguments, first], text, [wanted.astype(kinds[2])])


POOLS = {"sum": np.add, "max": np.maximum, "min": np.minimum, "max_unsigned": np.maximum, "min_unsigned": np.minimum}


def pooling(operation, seed, strides, dilations, is_open=False):
    source = np.random.default_rng(seed)
    _, layout, kind = operation.split("_", 2)
    space = [letter for letter in layout if letter in "dhw"]
    strides, dilations = strides[:len(space)], dilations[:len(space)]
    kernel_sizes, out_space = dict(zip(space, (2, 3, 2))), [3, 2, 4][:len(space)]
    inner = {letter: (o - 1) * s + (kernel_sizes[letter] - 1) * d + 1 for letter, o, s, d in zip(space, out_space, strides, dilations)}
    is_unsigned = kind.endswith("unsigned")
    shape = [inner.get(letter, {"n": 2, "c": 3}.get(letter)) for letter in layout]
    image = source.integers(0, 255, shape).astype("uint8") if is_unsigned else source.normal(size=shape).astype("float32")
    out = [dict(zip(space, out_space)).get(letter, {"n": 2, "c": 3}.get(letter)) for letter in layout]
    first = source.integers(0, 255, out).astype("uint8") if is_unsigned else source.normal(size=out).astype("float32")
    wanted = first
    for _, part in windows_of(image, layout, kernel_sizes, strides, dilations, out_space):
        wanted = POOLS[kind](wanted, part)
    window = np.zeros([kernel_sizes[letter] for letter in space], image.dtype)
    types = [type_of(each, is_open) for each in (image, window, first)]
    name = f"{operation}_{'open' if is_open else 'fixed'}"
    attributes = f"{{dilations = dense<{list(dilations)}> : tensor<{len(space)}xi64>, strides = dense<{list(strides)}> : tensor<{len(space)}xi64>}}"
    text = (f"func.func @{name}(%a0: {types[0]}, %a1: {types[1]}, %o: {types[2]}) -> {types[2]} {{\n  %r = linalg.{operation} {attributes} "
            f"ins(%a0, %a1 : {types[0]}, {types[1]}) outs(%o : {types[2]}) -> {types[2]}\n  return %r : {types[2]}\n}}\n")
    return Case(name, [image, window, first], text, [wanted.view("int8") if is_unsigned else wanted])


CONVOLUTIONS = """conv_1d conv_2d conv_3d conv_1d_nwc_wcf conv_1d_ncw_fcw conv_2d_nhwc_hwcf conv_2d_nhwc_fhwc conv_2d_nhwc_hwcf_q conv_2d_nhwc_fhwc_q conv_2d_nchw_fchw
conv_2d_ngchw_fgchw conv_2d_ngchw_gfchw conv_3d_ndhwc_dhwcf conv_3d_ndhwc_dhwcf_q conv_3d_ncdhw_fcdhw depthwise_conv_1d_nwc_wc depthwise_conv_1d_ncw_cw depthwise_conv_1d_nwc_wcm
depthwise_conv_2d_nhwc_hwc depthwise_conv_2d_nchw_chw depthwise_conv_2d_nhwc_hwc_q depthwise_conv_2d_nhwc_hwcm depthwise_conv_2d_nhwc_hwcm_q depthwise_conv_3d_ndhwc_dhwc
depthwise_conv_3d_ncdhw_cdhw depthwise_conv_3d_ndhwc_dhwcm""".split()
POOLINGS = """pooling_nhwc_sum pooling_nchw_sum pooling_nhwc_max pooling_nhwc_max_unsigned pooling_nchw_max pooling_nhwc_min pooling_nhwc_min_unsigned pooling_nwc_sum pooling_ncw_sum pooling_nwc_max
pooling_nwc_max_unsigned pooling_ncw_max pooling_nwc_min pooling_nwc_min_unsigned pooling_ndhwc_sum pooling_ndhwc_max pooling_ndhwc_min""".split()
# name: (subscripts, sizes)
PRODUCTS = {
    "matmul": "mk,kn->mn", "matmul_transpose_a": "km,kn->mn", "matmul_transpose_b": "mk,nk->mn", "batch_matmul": "bmk,bkn->bmn", "batch_matmul_transpose_a": "bkm,bkn->bmn",
    "batch_matmul_transpose_b": "bmk,bnk->bmn", "batch_reduce_matmul": "bmk,bkn->mn", "mmt4d": "xzmk,yznk->xymn", "batch_mmt4d": "bxzmk,byznk->bxymn", "matvec": "mk,k->m", "vecmat": "k,kn->n",
    "batch_matvec": "bmk,bk->bm", "batch_vecmat": "bk,bkn->bn", "dot": "k,k->",
}
PRODUCT_KINDS = (("float32", "float32"), ("float16", "float32"), ("int8", "int32"), ("float64", "float64"), ("int32", "int32"), ("float16", "float16"), ("int8", "int64"))


def product(operation, seed, is_open=False, kinds=PRODUCT_KINDS[0], sizes=None):
    source = np.random.default_rng(seed)
    sizes = sizes or dict(b=3, m=5, n=7, k=9, x=2, y=3, z=4)
    terms, out = PRODUCTS[operation].split("->")

    def numbers(letters, kind):
        shape = [sizes[letter] for letter in letters]
        if kind.startswith("c"):
            return (source.normal(size=shape) + 1j * source.normal(size=shape)).astype(kind)
        return source.normal(size=shape).astype(kind) if kind.startswith("f") else source.integers(-9, 9, shape).astype(kind)

    arguments = [numbers(term, kinds[0]) for term in terms.split(",")]
    first = numbers(out, kinds[1])
    wide = {"f": "float64", "c": "complex128"}.get(kinds[1][0], "int64")
    wanted = (first.astype(wide) + np.einsum(PRODUCTS[operation], *(each.astype(wide) for each in arguments))).astype(kinds[1])
    return sized(f"{operation}_{kinds[0]}_{kinds[1]}_{'open' if is_open else 'fixed'}", arguments, wanted, operation, is_open, first=first)


def quantized_products(seed):
    source = np.random.default_rng(seed)
    for operation, subscripts, shapes in (("quantized_matmul", "mk,kn->mn", ((5, 9), (9, 7))), ("quantized_batch_matmul", "bmk,bkn->bmn", ((3, 5, 9), (3, 9, 7)))):
        for is_open in (False, True):
            a, b = (source.integers(-128, 127, shape).astype("int8") for shape in shapes)
            wanted = np.einsum(subscripts, a.astype("int64") - 3, b.astype("int64") + 7).astype("int32")
            types = [type_of(each, is_open) for each in (a, b, wanted)]
            name = f"{operation}_{'open' if is_open else 'fixed'}"
            text = (f"func.func @{name}(%a: {types[0]}, %b: {types[1]}, %o: {types[2]}) -> {types[2]} {{\n  %za = arith.constant 3 : i32\n  %zb = arith.constant -7 : i32\n"
                    f"  %r = linalg.{operation} ins(%a, %b, %za, %zb : {types[0]}, {types[1]}, i32, i32) outs(%o : {types[2]}) -> {types[2]}\n  return %r : {types[2]}\n}}\n")
            yield Case(name, [a, b, np.zeros_like(wanted)], text, [wanted])


# name: (what stands in the body, what NumPy says); %a and %b are complex, %r the result.
COMPLEX = {
    "add": ("%r = complex.add %a, %b : T", lambda a, b: a + b), "sub": ("%r = complex.sub %a, %b : T", lambda a, b: a - b), "mul": ("%r = complex.mul %a, %b : T", lambda a, b: a * b),
    "div": ("%r = complex.div %a, %b : T", lambda a, b: a / b), "pow": ("%r = complex.pow %a, %b : T", lambda a, b: a ** b), "exp": ("%r = complex.exp %a : T", lambda a, b: np.exp(a)),
    "expm1": ("%r = complex.expm1 %a : T", lambda a, b: np.expm1(a)), "log": ("%r = complex.log %a : T", lambda a, b: np.log(a)), "log1p": ("%r = complex.log1p %a : T", lambda a, b: np.log1p(a)),
    "sin": ("%r = complex.sin %a : T", lambda a, b: np.sin(a)), "cos": ("%r = complex.cos %a : T", lambda a, b: np.cos(a)), "tan": ("%r = complex.tan %a : T", lambda a, b: np.tan(a)),
    "tanh": ("%r = complex.tanh %a : T", lambda a, b: np.tanh(a)), "sqrt": ("%r = complex.sqrt %a : T", lambda a, b: np.sqrt(a)), "rsqrt": ("%r = complex.rsqrt %a : T", lambda a, b: 1 / np.sqrt(a)),
    "atan2": ("%r = complex.atan2 %a, %b : T", lambda a, b: -1j * np.log((b + 1j * a) / np.sqrt(b * b + a * a))), "sign": ("%r = complex.sign %a : T", lambda a, b: a / np.abs(a)),
    "neg": ("%r = complex.neg %a : T", lambda a, b: -a), "conj": ("%r = complex.conj %a : T", lambda a, b: np.conj(a)),
    "by_parts": ("%p = complex.abs %a : T\n %q = complex.angle %b : T\n %r = complex.create %p, %q : T", lambda a, b: np.abs(a) + 1j * np.angle(b)),
    "choice": ("%p = complex.eq %a, %b : T\n %q = complex.neq %b, %b : T\n %s = arith.ori %p, %q : i1\n %r = arith.select %s, %a, %b : T", lambda a, b: np.where(a == b, a, b)),
    "constant": ("%p = complex.constant [0.5 : E, -2.0 : E] : T\n %r = complex.mul %a, %p : T", lambda a, b: a * (0.5 - 2j)),
}


def complex_body(name, kind, is_open):
    source = np.random.default_rng(len(name))
    a, b = ((source.normal(size=(3, 7)) + 1j * source.normal(size=(3, 7))).astype(kind) for _ in range(2))
    a[0, :2] = b[0, :2]
    body, function = COMPLEX[name]
    wanted = function(a.astype("complex128"), b.astype("complex128")).astype(kind)
    word, type_ = WORDS[kind], type_of(a, is_open)
    maps = ", ".join(["affine_map<(i, j) -> (i, j)>"] * 3)
    text = (f"func.func @complex_{name}_{kind}(%x: {type_}, %y: {type_}, %o: {type_}) -> {type_} {{\n  %0 = linalg.generic {{indexing_maps = [{maps}], iterator_types = "
            f"[\"parallel\", \"parallel\"]}} ins(%x, %y : {type_}, {type_}) outs(%o : {type_}) {{\n  ^bb0(%a: {word}, %b: {word}, %c: {word}):\n"
            f" {body.replace('T', word).replace('E', word[8:-1])}\n  linalg.yield %r : {word}\n  }} -> {type_}\n  return %0 : {type_}\n}}\n")
    return Case(f"complex_{name}_{kind}", [a, b, np.zeros_like(a)], text, [wanted], 1e-5 if kind == "complex64" else 1e-11)


def cases():
    for i, name in enumerate(COMPLEX):
        for j, kind in enumerate(("complex64", "complex128")):
            yield complex_body(name, kind, (i + j) % 2 == 1)
    for i, operation in enumerate(PRODUCTS):
        for j, kind in enumerate(("complex64", "complex128")):
            yield product(operation, i, (i + j) % 2 == 1, (kind, kind))
    for i, operation in enumerate(CONVOLUTIONS):
        yield convolution(operation, i, (2, 1, 3), (1, 2, 1), i % 2 == 1)
        yield convolution(operation, i, (1, 2, 1), (2, 1, 1), i % 2 == 0)
    for i, operation in enumerate(POOLINGS):
        yield pooling(operation, i, (2, 1, 3), (1, 2, 1), i % 2 == 1)
        yield pooling(operation, i, (1, 2, 1), (2, 1, 1), i % 2 == 0)
    for i, operation in enumerate(PRODUCTS):
        for j, kinds in enumerate(PRODUCT_KINDS):
            if operation == "batch_reduce_matmul" and kinds[0] != kinds[1]:
                continue  # Its body multiplies elements of two types, which MLIR 19 itself refuses.
            yield product(operation, i, (i + j) % 2 == 1, kinds)
    yield from quantized_products(1)
