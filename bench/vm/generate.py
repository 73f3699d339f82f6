"""Writes the programs of the questions `verify_*`: one function of as many instructions as asked for.

Every tenth instruction is a branch over the next one, so that there are many paths on which registers must be defined.
"""

import pathlib


def write_programs(folder: pathlib.Path, instructions: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("baton.bvmasm", _baton(instructions)), ("iree.vmasm", _iree(instructions))):
        path = folder / name
        if not path.exists() or path.read_text() != text:  # else IREE's would be assembled again
            path.write_text(text)


def _baton(instructions: int) -> str:
    lines = ["module @bench", "", "export func @run(%n: i32) -> i32 {"]
    for index in range(instructions - 1):
        if index % 10 == 8 and index + 2 < instructions:
            lines.append(f"  br.lt.s.imm.i32 %n, {index % 1000}, past{index}")
        else:
            lines.append(f"  add.imm.i32 %n, %n, {index % 7}")
        if index % 10 == 9 and index + 1 < instructions:
            lines.append(f"past{index - 1}:")
    return "\n".join([*lines, "  return.value %n", "}", ""])


def _iree(instructions: int) -> str:
    """Its blocks end with a branch each: a block of eight additions, a compare, a branch."""
    lines = ["vm.module @bench version 0", "vm.type i32", "", "vm.export @run", "vm.func @run(%i0: i32) -> (i32) {", "^bb0:"]
    for block in range(instructions // 10):
        lines += ["  %i1 = vm.add.i32 %i0, %i0"] * 8
        lines.append("  %i2 = vm.cmp.lt.i32.s %i0, %i1")
        last = instructions // 10
        lines.append(f"  vm.cond_br %i2, ^bb{min(block + 2, last)}(), ^bb{block + 1}()")
        lines.append(f"^bb{block + 1}:")
    return "\n".join([*lines, "  vm.return %i0", "}", ""])
