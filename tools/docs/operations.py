"""docs/supported-operations.md, from the program that tests every operation (tests/golden/compile/operations.py).

    python3 tools/docs/operations.py            writes the page
    python3 tools/docs/operations.py --check    exits 1 when it is stale
"""
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/supported-operations.md"
OPERATION = re.compile(r"(?<![\w#!@%.])(arith|math|scf|cf|tensor|linalg|affine|index|complex|vector|util|func)\.(\w+)")
STRUCTURE = {"func.func", "func.return", "func.call", "linalg.yield", "scf.yield", "tensor.yield", "util.return", "util.func"}

HEAD = """# Supported operations

Each operation here is a function of a program that a test compiles, runs and compares with numbers that were computed elsewhere
(`tests/golden/compile/operations.py`); this page is made from that program. One that is not here may work too; one that the compiler does not take is
refused by name, with its line.

Besides these: calls and branches (`func`, `scf`, `cf`), the dialects of programs that stand in `compiler-lite/README.md`, and JAX functions by
jaxlib's own passes (`python/baton/jax/README.md`).

"""


# What ranks do together: the operations are of other dialects than those above.
RANKS = """
## What ranks do together

Ranks are processes that run one program (`hal/README.md`); `flow`'s operations become commands of the module `collective`
(`modules/collective_module/README.md`), which a program may also call by itself. Devices that leave something out: `hal/COMMANDS.md`.

| operation | | |
|---|---|---|
| `flow.channel.default` | yes | all ranks; with a name, all ranks on a channel of their own |
| `flow.channel.split` | yes | of one of all ranks; a channel that was split is refused |
| `flow.channel.rank`, `flow.channel.count` | yes | |
| `flow.collective.all_reduce`, `all_gather`, `reduce_scatter`, `all_to_all`, `send_recv` | yes | minimum, maximum and average of unsigned numbers are refused |
| broadcast | by `@collective.broadcast` | `flow` has none |
| reduce to one rank | no | a tensor that only one rank has is none: `flow.collective.all_reduce`; a plugin's command may record it (`recording.h`) |
| send, receive alone | by `flow.collective.send_recv` | -1 is nobody, to send to or to receive from |
| `hal.channel.create`, `hal.channel.split`, `hal.channel.rank_and_count`, `hal.command_buffer.collective` | no | what IREE makes of `flow`'s later; in bytecode they are imports of the module `hal` |
| `stream.channel.*`, `stream.async.collective`, `stream.cmd.collective` | no | what IREE makes of `flow`'s on the way; no program is written with them |
"""

# What a target refuses although the operation is supported: by what it is about, with the type.
VULKAN = """
## Where kernels for Vulkan differ

Every operation above runs on Vulkan, too, and gives the same (`tests/compiler-lite/vulkan`, on lavapipe). What is refused there, by name and line:

| operation | of type | |
|---|---|---|
| all | integers beyond 64 bits | refused when compiled |
| loads and stores | `i8` `i16` `f16` `bf16` in buffers | the device needs 8- and 16-bit storage; it says so when the program is loaded |
| all | `f64` | the device needs Float64; the same |
| products, `tensor.insert_slice`, `tensor.pad` and others that leave a copy for the next one of their kernel | more than 32 KiB for a workgroup | refused when compiled, with the number |
| calls of functions | through pointers, and recurring | refused when compiled |
| `memref.atomic_rmw` and other atomic operations | all | refused when compiled |
"""


def operations():
    program = subprocess.run([sys.executable, ROOT / "tests/golden/compile/operations.py", "make"], check=True,
                             capture_output=True, text=True).stdout
    found = collections.defaultdict(set)
    for dialect, name in OPERATION.findall(program):
        if f"{dialect}.{name}" not in STRUCTURE:
            found[dialect].add(name)
    return found


def page(found):
    lines = ["| dialect | operations |", "|---|---|"]
    lines += [f"| `{dialect}` | {' '.join(f'`{name}`' for name in sorted(found[dialect]))} |" for dialect in sorted(found)]
    return HEAD + "\n".join(lines) + "\n" + RANKS + VULKAN


def main():
    found = operations()
    fresh = page(found)
    count = sum(len(names) for names in found.values())
    if "--check" not in sys.argv:
        PAGE.write_text(fresh, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != fresh:
        print("docs/supported-operations.md is stale: run python3 tools/docs/operations.py")
        return 1
    print(f"{count} operations")
    return 0 if count > 50 else 1


if __name__ == "__main__":
    sys.exit(main())
