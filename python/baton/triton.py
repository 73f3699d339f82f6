"""Kernels of Triton's, compiled here for a GPU that need not be here, for programs and for launches.

    import triton, triton.language as tl
    import baton.triton

    @triton.jit
    def scale(x, factor, count, BLOCK: tl.constexpr): ...

    kernel = baton.triton.compile(scale, {"x": "*fp32", "factor": "fp32", "count": "i32"}, {"BLOCK": 256}, arch="90")
    program = kernel.executable("kernels") + functions      # MLIR: flow.dispatch @scale::@scale[%programs](...)
    library = kernel.library()                              # on a machine with a GPU: library["scale"].launch(grid, ...)

Needs Triton's wheel to compile, and nothing of it afterwards. `modules/kernel_library/README.md` says what becomes of a kernel's arguments.
"""
import json
import os
import pathlib
import re
import subprocess
import tempfile

from baton._errors import InvalidArgumentError, UnavailableError, described, error_named

__all__ = ["TritonKernel", "compile"]


class TritonKernel:
    """What Triton's compiler made of a kernel: `name`, `arch` ("90"), `cubin`, `metadata` (JSON as Triton writes it), `signature` in Triton's
    words ("*fp32,fp32,i32"), `ttir`."""

    def __init__(self, name, arch, cubin, metadata, signature, ttir):
        self.name, self.arch, self.cubin, self.metadata, self.signature, self.ttir = name, arch, cubin, metadata, signature, ttir

    def __repr__(self):
        return f"<baton.triton.TritonKernel {self.name}({self.signature}) for sm_{self.arch}>"

    def write(self, folder):
        """Writes <name>.json and <name>.cubin, which KernelLibrary.load_triton() and baton-import-triton take; gives their paths."""
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        paths = folder / f"{self.name}.json", folder / f"{self.name}.cubin"
        paths[0].write_text(self.metadata + "\n", encoding="utf-8")
        paths[1].write_bytes(self.cubin)
        return paths

    def executable(self, folder, grid_rank=1):
        """The kernel as an executable in MLIR, which stands before a program's functions and names the cubin in `folder`, where it is written.
        A dispatch gives `grid_rank` extents of the grid of programs; what it passes stands in the text."""
        from baton._tools import environment, find
        try:
            tool = find("baton-import-triton")
        except FileNotFoundError as error:
            raise UnavailableError(str(error)) from None
        metadata, cubin = (os.path.abspath(path) for path in self.write(folder))
        signature = [f"--signature={self.signature}"] if self.signature else []  # A kernel may take nothing.
        done = subprocess.run([tool, metadata, cubin, *signature, f"--grid-rank={grid_rank}"], check=False,
                              capture_output=True, text=True, env=environment())
        if done.returncode != 0:
            said = done.stderr.strip()
            code = re.search(r"^baton-import-triton: ([A-Z_]+);", said, re.MULTILINE)
            raise error_named(code.group(1) if code else "INVALID_ARGUMENT", said)
        return done.stdout

    def library(self):
        """A KernelLibrary with this kernel: launches give the grid of programs and the kernel's own arguments."""
        import baton
        with tempfile.TemporaryDirectory() as folder:
            return baton.KernelLibrary.load_triton(*self.write(folder))


def _wheel():
    try:
        import triton
    except ImportError as error:
        raise UnavailableError(f"Triton's compiler is not here ({error}); its wheel has it: pip install triton") from None
    return triton


def _flat(types):
    for each in types:
        if isinstance(each, (tuple, list)):  # A tuple of arguments.
            yield from _flat(each)
        else:
            yield each


def _named(function, signature, constexprs):
    """{parameter: type} of the parameters that are no constants, in the function's order."""
    names = [name for name in function.arg_names if name not in constexprs]
    unknown = sorted((set(constexprs) | set(signature if isinstance(signature, dict) else ())) - set(function.arg_names))
    if unknown:
        raise InvalidArgumentError(f"kernel '{function.__name__}' has no parameter '{unknown[0]}'; it has {', '.join(function.arg_names)}")
    if isinstance(signature, dict):
        missing = [name for name in names if name not in signature]
        if missing:
            raise InvalidArgumentError(f"parameter '{missing[0]}' of kernel '{function.__name__}' is neither in the signature nor a constant")
        return {name: signature[name] for name in names}
    # Not at the commas of a type: tensordesc<fp16[32, 64]>.
    types = [one.strip() for one in re.split(r",(?![^<]*>)", signature)] if isinstance(signature, str) else list(signature)
    if len(types) != len(names):
        raise InvalidArgumentError(f"kernel '{function.__name__}' has {len(names)} parameters that are no constants ({', '.join(names)}); "
                                   f"the signature has {len(types)} types")
    return dict(zip(names, types))


def compile(fn, signature, constexprs=None, arch="90", **options):  # noqa: A001 - Triton's verb
    """Compiles a function under @triton.jit for sm_<arch>, on a machine without a GPU as well.

    `signature`: the types of the parameters that are no constants, in Triton's words: {"x": "*fp32", "count": "i32"}, or a list or text of them in
    the parameters' order. `constexprs`: the values of the others, those that @triton.autotune and @triton.heuristics choose among them. `options` are Triton's: num_warps, num_stages, num_ctas, ..."""
    triton = _wheel()
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    given = fn
    while not isinstance(fn, triton.runtime.JITFunction):  # Under @triton.autotune and @triton.heuristics: constexprs say what they would choose.
        if not hasattr(fn, "fn"):
            raise TypeError(f"a function under @triton.jit is wanted, not {described(given)}")
        fn = fn.fn
    constants = dict(constexprs or {})
    types = _named(fn, signature, constants)
    if not re.fullmatch(r"[1-9]\d+a?", str(arch)):
        raise InvalidArgumentError(f"arch={arch!r} is no compute capability, as in arch=\"90\"")
    try:  # 3.3 and later name constants in the signature.
        source = ASTSource(fn=fn, signature=types | {name: "constexpr" for name in constants}, constexprs=constants)
    except TypeError:
        source = ASTSource(fn=fn, signature=types, constants=constants)
    kernel = triton.compile(source, target=GPUTarget("cuda", int(str(arch).rstrip("a")), 32), options=options)
    metadata = kernel.metadata._asdict()
    metadata.pop("extern_libs", None)  # Paths of this machine.
    return TritonKernel(metadata["name"], str(arch), kernel.asm["cubin"], json.dumps(metadata, default=vars),
                        ",".join(_flat(types.values())), kernel.asm["ttir"])
