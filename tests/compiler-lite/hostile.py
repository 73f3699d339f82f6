"""Programs that are made to harm the compiler, family by family: hostile.py COMPILER [--every=N] [family...].

Whatever the compiler is given, it ends by itself: with code 0, or with code 1 and a sentence; in seconds, and without more
memory than LIMIT. A failure prints the family and the program's beginning. With --sanitized nothing limits memory: AddressSanitizer
asks for addresses without end.
"""
import concurrent.futures
import pathlib
import resource
import subprocess
import sys

LIMIT = 4 << 30  # Bytes of address space.
SECONDS = 100  # Far more than any takes; a machine may be busy.
families = {}


def family(make):
    families[make.__name__] = make
    return make


def function(body, head="func.func @f() {", end="  return\n}\n"):
    return head + "\n" + body + "\n" + end


@family
def deep_nesting():
    """Deeper than a stack of a thread is for whoever goes down by calling itself."""
    for depth in (100, 200000):
        yield "func.func @f(%c: i1) {\n" + "scf.if %c {\n" * depth + "}\n" * depth + "return\n}"
        yield "module {\n" * depth + "}\n" * depth
        yield "func.func @f(%x: " + "tuple<" * depth + "i32" + ">" * depth + ") { return }"
        yield "func.func @f() attributes {a = " + "[" * depth + "]" * depth + "} { return }"
        yield "func.func @f() attributes {a = " + "{a = " * depth + "1" + "}" * depth + "} { return }"
        yield "func.func @f(%i: index) -> index { %0 = affine.apply affine_map<(d) -> (" + "(" * depth + "d" + ")" * depth + \
            ")>(%i)\n return %0 : index }"
        yield "func.func @f() { %0 = arith.constant dense<" + "[" * depth + "1" + "]" * depth + "> : tensor<1xi32>\n return }"
        yield "func.func @f() { return } loc(" + "fused[" * depth + "\"a\"" + "]" * depth + ")"
        yield "\"" * depth
        yield "func.func @f(%x: " + "memref<" * depth
        yield "func.func @f(%x: !custom.a<" + "<" * depth + ">" * depth + ">) { return }"
        yield "//" + "(" * depth + "\nfunc.func @f() { return }"


@family
def long_programs():
    n = 20000
    yield function("\n".join("  %%v%d = arith.constant %d : i32" % (i, i) for i in range(n)))
    yield "func.func @f(%a: i32) -> i32 {\n  %v0 = arith.addi %a, %a : i32\n" + "\n".join(
        "  %%v%d = arith.addi %%v%d, %%a : i32" % (i, i - 1) for i in range(1, n)) + "\n  return %%v%d : i32\n}" % (n - 1)
    yield "func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {\n  %v0 = arith.addf %a, %a : tensor<8xf32>\n" + "\n".join(
        "  %%v%d = arith.addf %%v%d, %%a : tensor<8xf32>" % (i, i - 1) for i in range(1, n)) + "\n  return %%v%d : tensor<8xf32>\n}" % (n - 1)
    yield "\n".join("func.func private @f%d() { return }" % i for i in range(n))
    yield "\n".join("util.global private mutable @g%d = %d : i32" % (i, i) for i in range(3000))
    yield "func.func @f(" + ", ".join("%%a%d: i32" % i for i in range(5000)) + ") { return }"
    yield "func.func @f() -> (" + ", ".join(["i32"] * 2000) + ") {\n %0 = arith.constant 1 : i32\n return " + ", ".join(
        ["%0"] * 2000) + " : " + ", ".join(["i32"] * 2000) + "\n}"
    yield "func.func @" + "f" * 100000 + "() { return }"
    yield "func.func @f(%x: tensor<" + "1x" * 1000 + "f32>) -> tensor<" + "1x" * 1000 + "f32> { return %x : tensor<" + "1x" * 1000 + "f32> }"


@family
def huge_sizes():
    huge = ("2147483648", "4294967296", "4611686018427387904", "9223372036854775807", "18446744073709551615", "99999999999999999999999")
    for size in huge:
        for shape in (size + "x", size + "x" + size + "x", size + "x0x", "0x" + size + "x", "?x" + size + "x"):
            type_ = "tensor<%sf32>" % shape
            yield "func.func @f(%%x: %s) -> %s {\n %%0 = math.exp %%x : %s\n return %%0 : %s\n}" % (type_, type_, type_, type_)
        type_ = "tensor<%sxf32>" % size
        yield "func.func @f() -> %s { %%0 = arith.constant dense<1.0> : %s\n return %%0 : %s }" % (type_, type_, type_)
        yield "func.func @f() -> %s { %%0 = tensor.empty() : %s\n return %%0 : %s }" % (type_, type_, type_)
        yield "util.global private @g = dense<1.0> : %s\nfunc.func @f() -> %s { %%0 = util.global.load @g : %s\n return %%0 : %s }" % (
            (type_,) * 4)
        yield "func.func @f(%%x: tensor<4xf32>) -> %s { %%0 = tensor.pad %%x low[0] high[%s] {\n^bb0(%%i: index):\n %%z = arith.constant 0.0 : f32\n" \
            " tensor.yield %%z : f32\n} : tensor<4xf32> to %s\n return %%0 : %s }" % (type_, size, type_, type_)
        yield "func.func @f(%%x: tensor<8xf32>) -> tensor<2xf32> { %%0 = tensor.extract_slice %%x[%s] [2] [1] : tensor<8xf32> to tensor<2xf32>\n" \
            " return %%0 : tensor<2xf32> }" % size
        yield "func.func @f(%%x: tensor<8xf32>) -> tensor<2xf32> { %%0 = tensor.extract_slice %%x[0] [2] [%s] : tensor<8xf32> to tensor<2xf32>\n" \
            " return %%0 : tensor<2xf32> }" % size
        yield "func.func @f(%%x: vector<%sxf32>) { return }" % size
        yield "func.func @f(%%x: i%s) { return }" % size
        yield "func.func @f(%%x: tensor<4xi%s>) -> tensor<4xi%s> { return %%x : tensor<4xi%s> }" % (size, size, size)
        yield "util.func public @f() { %%0 = util.buffer.constant {alignment = %s : index} : !util.buffer = dense<1> : tensor<4xi8>\n util.return }" % size
        yield "util.func public @f() -> !util.buffer { %%c = arith.constant %s : index\n %%0 = util.buffer.alloc uninitialized : !util.buffer{%%c}\n" \
            " util.return %%0 : !util.buffer }" % size


@family
def lying_resources():
    for type_ in ("tensor<4xf32>", "tensor<1000000xf32>", "tensor<4x0xf32>", "tensor<4xi1>", "tensor<4xi4>", "tensor<f64>", "tensor<4xindex>",
                  "tensor<4xcomplex<f32>>", "vector<4xf32>", "tensor<4611686018427387904xf32>", "tensor<?xf32>"):
        for blob in ("0x0400000000000000", "0x04000000", "0x00000000", "0x", "0xFFFFFFFF0000803F", "0x03000000" + "00" * 16,
                     "0x04000000" + "00" * 16, "0x04000000" + "00" * 15, "7", "0x0400000"):
            yield "func.func @f() -> %s {\n %%0 = arith.constant dense_resource<b> : %s\n return %%0 : %s\n}\n" \
                "{-# dialect_resources: { builtin: { b: \"%s\" } } #-}" % (type_, type_, type_, blob)
        yield "func.func @f() -> %s {\n %%0 = arith.constant dense_resource<missing> : %s\n return %%0 : %s\n}\n" % ((type_,) * 3)
        yield "util.global private @g = dense_resource<b> : %s\nfunc.func @f() -> %s {\n %%0 = util.global.load @g : %s\n return %%0 : %s\n}\n" \
            "{-# dialect_resources: { builtin: { b: \"0x0400000000000000\" } } #-}" % ((type_,) * 4)
        yield "util.func public @f() {\n %%0 = util.buffer.constant : !util.buffer = dense_resource<b> : %s\n util.return\n}\n" \
            "{-# dialect_resources: { builtin: { b: \"0x0400000000000000\" } } #-}" % type_
    for text in ("dense<\"0x00\"> : tensor<4xf32>", "dense<\"0x0\"> : tensor<4xf32>", "dense<\"0x\"> : tensor<0xf32>",
                 "dense<\"0xZZ\"> : tensor<1xi8>", "sparse<[[9]], [1.0]> : tensor<4xf32>", "sparse<[[-1]], [1.0]> : tensor<4xf32>",
                 "sparse<[[0]], [1.0]> : tensor<4611686018427387904xf32>", "dense<[1, 2]> : tensor<4xi32>", "dense<1> : tensor<?xi32>",
                 "sparse<[[1]], [1.0]> : tensor<4xf32>", "dense<\"a\"> : tensor<4x!custom.string>"):
        yield "func.func @f() { %%0 = arith.constant %s\n return }" % text
        yield "util.global private @g = %s\nfunc.func @f() { return }" % text


@family
def symbols():
    yield "func.func @f() { call @g() : () -> ()\n return }\nfunc.func @g() { call @f() : () -> ()\n return }"
    yield "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>\n return %0 : tensor<4xf32> }"
    yield "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { %0 = call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>\n return %0 : tensor<4xf32> }\n" \
        "func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> { %0 = call @h(%x) : (tensor<4xf32>) -> tensor<4xf32>\n return %0 : tensor<4xf32> }\n" \
        "func.func private @h(%x: tensor<4xf32>) -> tensor<4xf32> { %0 = call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>\n return %0 : tensor<4xf32> }"
    yield "func.func @f() { return }\nfunc.func @f() { return }"
    yield "util.global private @f = 1 : i32\nfunc.func @f() { return }"
    yield "func.func @f() { call @missing() : () -> ()\n return }"
    yield "func.func @f() { call @a::@b() : () -> ()\n return }"
    yield "func.func @f() -> i32 { %0 = util.global.load @missing : i32\n return %0 : i32 }"
    yield "util.global private @g = 1 : i32\nfunc.func @f() -> i64 { %0 = util.global.load @g : i64\n return %0 : i64 }"
    yield "func.func private @g()\nfunc.func @f() -> i32 { %0 = util.global.load @g : i32\n return %0 : i32 }"
    yield "util.global private @g = 1 : i32\nfunc.func @f() { util.call @g() : () -> ()\n return }"
    yield "util.initializer { %0 = util.global.load @g : i32\n util.global.store %0, @g : i32\n util.return }\nutil.global private mutable @g : i32"
    yield "module { module { func.func @f() { return } } }"
    yield "module @a { module @a { module @a { } } }"
    yield "builtin.module { func.func @f() { builtin.module { func.func @g() { func.return } }\n return } }"
    for name in ("hal.fence.await", "hal.queue.execute", "hal.devices.get", "hal.buffer_view.create", "hal.command_buffer.dispatch", "hal.bounds.fail",
                 "hal.executable.load", "check.expect_eq", "library.absent", "blas.available", "dispatch_groups", "__init", "__initializer.0",
                 "collective.create", "f_async", "_", "", " ", "\\00", "a.b", ".", "a.", ".b"):
        program = "util.func %s @\"%s\"(%%x: tensor<4xf32>, %%i: index) -> tensor<?xf32> {\n %%0 = tensor.extract_slice %%x[%%i] [%%i] [1] :" \
            " tensor<4xf32> to tensor<?xf32>\n %%1 = math.exp %%0 : tensor<?xf32>\n util.return %%1 : tensor<?xf32>\n}\n"
        for visibility in ("public", "private"):
            yield program % (visibility, name) + program % ("public", "other")
        yield "util.func private @\"%s\"(%%a: i32, %%b: !util.buffer) -> f64\n" % name + program % ("public", "other") + \
            "util.func public @third(%%a: i32, %%b: !util.buffer) -> f64 {\n %%0 = util.call @\"%s\"(%%a, %%b) : (i32, !util.buffer) -> f64\n" \
            " util.return %%0 : f64\n}" % name
        yield "util.global private mutable @\"%s\" = 1 : i32\n" % name + program % ("public", "other")
        yield "vm.import private @\"%s\"(%%a : i32, %%b : f32 ...) -> f64\n" % name + program % ("public", "other")


@family
def machine_calls():
    """Calls that are not as what they call is declared."""
    imports = "vm.import private @m.many(%a : i32, %b : !vm.buffer ...) -> i32\nvm.import private @m.pairs(%a : tuple<i32, !vm.buffer> ...)\n" \
        "vm.import private @m.one(%a : i32) -> f32\nutil.func private @m.plain(i32) -> i32\n"
    calls = ["segments([%s])" % text for text in ("", "0", "1", "2", "-1", "2147483647", "-2147483648", "1, 1")]
    for callee in ("m.many", "m.pairs", "m.one", "m.plain", "f", "missing"):
        for operands in ("", "%a", "%a, %b", "%a, %b, %b", "%b", "%a, %b, %a, %b"):
            types = operands.replace("%a", "i32").replace("%b", "!vm.buffer")
            for results in ("()", "i32", "f32", "(i32, i32)", "!vm.buffer"):
                left = "" if results == "()" else "%r:2 = " if results.startswith("(") else "%r = "
                for segments in calls[::3] if results != "()" else calls:
                    yield imports + "util.func public @f(%%a: i32, %%b: !vm.buffer) {\n %svm.call.variadic @%s(%s) %s : (%s) -> %s\n util.return\n}" % (
                        left, callee, operands, segments, types, results)
                yield imports + "util.func public @f(%%a: i32, %%b: !vm.buffer) {\n %svm.call @%s(%s) : (%s) -> %s\n util.return\n}" % (
                    left, callee, operands, types, results)


@family
def odd_types():
    for type_ in ("i0", "i1", "i2", "i3", "i7", "i24", "i33", "i65", "i128", "i16777215", "si8", "ui32", "f8E5M2", "f8E4M3FN", "f8E4M3B11FNUZ", "f80", "f128",
                  "tf32", "bf16", "index", "complex<f32>", "complex<i1>", "complex<f128>", "none", "tuple<>", "vector<4xf32>", "!custom.x", "memref<4xf32>",
                  "tensor<4xf32>", "!util.buffer", "!hal.buffer_view", "!quant.uniform<i8:f32, 1.0>", "() -> ()"):
        tensor = "tensor<?x4x%s>" % type_
        yield "func.func @f(%%x: %s) -> %s { return %%x : %s }" % (type_, type_, type_)
        yield "func.func @f(%%x: %s) -> %s { return %%x : %s }" % (tensor, tensor, tensor)
        yield "func.func @f(%%x: %s) -> %s { %%0 = tensor.cast %%x : %s to tensor<2x4x%s>\n %%1 = tensor.cast %%0 : tensor<2x4x%s> to %s\n return %%1 : %s }" % (
            tensor, tensor, tensor, type_, type_, tensor, tensor)
        yield "func.func @f(%%x: %s, %%i: index) -> %s { %%0 = tensor.extract %%x[%%i, %%i] : %s\n return %%0 : %s }" % (tensor, type_, tensor, type_)
        yield "func.func @f(%%x: %s, %%i: index) -> tensor<?x%s> { %%0 = tensor.splat %%x[%%i] : tensor<?x%s>\n return %%0 : tensor<?x%s> }" % ((type_,) * 4)
        yield "func.func @f(%%x: %s, %%y: %s) -> %s { %%0 = tensor.concat dim(0) %%x, %%y : (%s, %s) -> %s\n return %%0 : %s }" % ((tensor,) * 7)
        yield "util.global private mutable @g : %s\nfunc.func @f(%%x: %s) { util.global.store %%x, @g : %s\n return }" % ((tensor,) * 3)
        for op in ("arith.addi", "arith.addf", "arith.divsi", "math.exp", "arith.cmpi eq,"):
            operands = "%x" if op == "math.exp" else "%x, %x"
            yield "func.func @f(%%x: %s) { %%0 = %s %s : %s\n return }" % (tensor, op, operands, tensor)
            yield "func.func @f(%%x: %s) { %%0 = %s %s : %s\n return }" % (type_, op, operands, type_)
    for rank in ("tensor<*xf32>", "tensor<f32>", "tensor<4xf32, 1>", "tensor<4xf32, \"a\">", "tensor<4xf32, #custom.x>", "memref<*xf32>"):
        yield "func.func @f(%%x: %s) -> %s { return %%x : %s }" % (rank, rank, rank)


@family
def attributes():
    """Generic operations whose attributes are missing or of another kind."""
    values = ("", "unit", "1 : i32", "-1 : i64", "9223372036854775807 : i64", "\"text\"", "[]", "[1]", "[[0, 9]]", "dense<9> : tensor<2xi64>",
              "array<i64: -1, 5>", "array<i64>", "array<i32: 7, 7, 7>", "@missing", "affine_map<(d) -> (d)>", "i32", "[affine_map<() -> ()>]")
    operations = {
        "tensor.extract_slice": ("(%x)", "static_offsets static_sizes static_strides operandSegmentSizes", "(tensor<8x4xf32>) -> tensor<2x4xf32>"),
        "tensor.insert_slice": ("(%x, %x)", "static_offsets static_sizes static_strides operandSegmentSizes", "(tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>"),
        "tensor.concat": ("(%x, %x)", "dim", "(tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>"),
        "tensor.expand_shape": ("(%x)", "reassociation static_output_shape", "(tensor<8x4xf32>) -> tensor<2x4x4xf32>"),
        "tensor.collapse_shape": ("(%x)", "reassociation", "(tensor<8x4xf32>) -> tensor<32xf32>"),
        "tensor.gather": ("(%x, %j)", "gather_dims unique", "(tensor<8x4xf32>, tensor<2x1xi32>) -> tensor<2x1x4xf32>"),
        "tensor.pack": ("(%x, %x)", "inner_dims_pos outer_dims_perm static_inner_tiles operandSegmentSizes", "(tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>"),
        "linalg.transpose": ("(%x, %x)", "permutation", "(tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>"),
        "linalg.generic": ("(%x)", "indexing_maps iterator_types operandSegmentSizes", "(tensor<8x4xf32>) -> tensor<8x4xf32>"),
        "linalg.softmax": ("(%x, %x)", "dimension", "(tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>"),
        "arith.constant": ("()", "value", "() -> tensor<8x4xf32>"),
        "arith.cmpi": ("(%j, %j)", "predicate", "(tensor<2x1xi32>, tensor<2x1xi32>) -> tensor<2x1xi1>"),
        "util.global": ("()", "sym_name type initial_value is_mutable", "() -> ()"),
        "util.call": ("()", "callee tied_operands", "() -> ()"),
        "func.func": ("()", "sym_name function_type arg_attrs res_attrs tf.aliasing_output", "() -> ()"),
        "util.func": ("()", "sym_name function_type tied_operands", "() -> ()"),
        "hal.tensor.import": ("()", "name target_encoding", "() -> tensor<8x4xf32>"),
        "flow.dispatch": ("(%x)", "entry_points operandSegmentSizes tied_operands", "(tensor<8x4xf32>) -> tensor<8x4xf32>"),
        "hal.executable": ("()", "sym_name", "() -> ()"),
        "stream.executable": ("()", "sym_name", "() -> ()"),
    }
    for name, (operands, attributes_, types) in operations.items():
        for attribute in attributes_.split():
            for value in values:
                attribute_text = "" if value == "" else " {%s = %s}" % (attribute, value)
                for region in ("", " ({})", " ({\n^bb0(%p: f32):\n \"test.end\"() : () -> ()\n})"):
                    op = "\"%s\"%s%s%s : %s" % (name, operands, region, attribute_text, types)
                    if name in ("util.global", "func.func", "util.func", "hal.executable", "stream.executable"):
                        yield op
                        continue
                    left = "" if types.endswith("()") else "%r = "
                    yield "func.func @f(%%x: tensor<8x4xf32>, %%j: tensor<2x1xi32>) {\n %s%s\n return\n}" % (left, op)


@family
def cut_binary_form():
    """MLIR's own binary form, cut off and changed."""
    program = b"func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n %0 = math.exp %x : tensor<4xf32>\n return %0 : tensor<4xf32>\n}\n"
    made = subprocess.run([str(pathlib.Path(sys.argv[1]).with_name("baton-opt")), "--emit-bytecode"], input=program, capture_output=True).stdout
    yield made
    # Each attribute is two of the one before: a few hundred bytes, and a text of 2^50.
    doubled = "#a0 = [1]\n" + "".join("#a%d = [#a%d, #a%d]\n" % (i, i - 1, i - 1) for i in range(1, 50))
    yield subprocess.run([str(pathlib.Path(sys.argv[1]).with_name("baton-opt")), "--emit-bytecode"],
                         input=(doubled + "func.func @f() attributes {a = #a49} { return }\n").encode(), capture_output=True).stdout
    for size in range(0, len(made), 7):
        yield made[:size]
    for place in range(len(made)):
        yield made[:place] + bytes([made[place] ^ (1 << (place % 8))]) + made[place + 1:]
    yield b"ML\xefR"
    yield b"ML\xefR" + b"\xff" * 100


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))


def attack(compiler, name, program):
    """What is wrong with how it ended."""
    data = program if isinstance(program, bytes) else program.encode()
    try:
        done = subprocess.run([compiler, "--cpu-levels=baseline", "--target-device=local"], input=data, capture_output=True, timeout=SECONDS,
                              preexec_fn=None if "--sanitized" in sys.argv else limit)
    except subprocess.TimeoutExpired:
        return "%s: no end after %d s\n%s" % (name, SECONDS, data[:600].decode(errors="replace"))
    if done.returncode in (0, 1) and (done.returncode == 0 or b"error" in done.stderr):
        return None
    return "%s: exit code %d\n%s\n%s" % (name, done.returncode, data[:600].decode(errors="replace"), done.stderr[-600:].decode(errors="replace"))


def main():
    compiler, words = sys.argv[1], [word for word in sys.argv[2:] if not word.startswith("--")]
    every = next((int(word[8:]) for word in sys.argv[2:] if word.startswith("--every=")), 1)
    chosen = words or list(families)
    failed = tried = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name in chosen:
            before, programs = failed, list(families[name]())[::every]
            for said in pool.map(lambda program: attack(compiler, name, program), programs):
                if said:
                    failed += 1
                    print(said, flush=True)
            tried += len(programs)
            print("%s: %d of %d ended badly" % (name, failed - before, len(programs)), flush=True)
    print("%d of %d programs ended badly" % (failed, tried))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
