"""Lines of the function that JAX traced: messages name them, and calls of commands keep theirs in the program.

A location of JAX is a stack of calls with names of transformations around it; the innermost line is the user's. Only calls keep
theirs, so that a program without commands stays the same program, also in a cache, when its function moves in its file.
"""
import re

from jaxlib.mlir import ir


def line_of(location):
    """(file, line, column) of the innermost line of a location, or None."""
    if isinstance(location, ir.FileLineColLoc):
        return str(getattr(location.filename, "value", location.filename)), location.start_line, location.start_col
    for part in ("child_loc", "callee"):
        if hasattr(location, part):
            return line_of(getattr(location, part))
    for each in getattr(location, "locations", ()):
        if line := line_of(each):
            return line
    return None


def said(op, sentence):
    """The sentence, with the line in front that the operation stands for."""
    line = line_of(op.location)
    return f"{line[0]}:{line[1]}: {sentence}" if line else sentence


def keep_lines_of_commands(module):
    """Whether there are commands; all other operations lose their lines."""
    has_commands = False
    with module.context:
        nowhere = ir.Location.unknown()

        def visit(op):
            nonlocal has_commands
            op = op.operation
            line = line_of(op.location) if op.name == "func.call" else None
            has_commands = has_commands or line is not None
            op.location = ir.Location.file(*line) if line else nowhere
            for argument in (argument for region in op.regions for block in region.blocks for argument in block.arguments):
                argument.set_location(nowhere)
            return ir.WalkResult.ADVANCE

        module.operation.walk(visit)
    return has_commands


def lines_of_commands(text):
    """For each command that a program's text calls: the lines of its calls."""
    places = dict(re.findall(r'^(#loc\d*) = loc\("([^"]*":\d+)', text, re.MULTILINE))
    found = {}
    for name, place in re.findall(r"call @([\w.]+?\.[\w.]+)(?:\$\d+)?\(.*loc\((#loc\d*)\)", text):
        found.setdefault(name, []).append(places.get(place, "").replace('"', ""))
    return {name: [each for each in dict.fromkeys(lines) if each] for name, lines in found.items()}
