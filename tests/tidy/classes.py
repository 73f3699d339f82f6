"""Rooms with one job: a class of the compiler with more than 25 methods says above it why it has so many ("... methods are ..."), and
classes of one folder hold no pointers or references to each other in a circle."""
import re

from house import files, finish, read

METHODS_MAX = 25
CLASS = re.compile(r"^(?:template <[^\n]*>\n)?(?:class|struct) (\w+)[^;{()]*\{", re.MULTILINE)
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')


def blank(match):
    return " " * len(match.group())


def members(code, begin):
    """The text between the braces of a class that opens before `begin`, without what stands in further braces."""
    depth, flat = 1, []
    for letter in code[begin:]:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth == 0:
            break
        if depth == 1:
            flat.append(";" if letter == "}" else letter)
    return re.sub(r"\b(public|private|protected):", "", "".join(flat))


def method_count(body):
    statements = (statement.strip() for statement in body.split(";"))
    skipped = ("using ", "friend ", "class ", "struct ", "enum ", "static_assert")
    return sum(1 for each in statements if re.search(r"\w\s*\(", each) and not each.startswith(skipped))


def comment_above(text, at):
    lines = text[:at].rstrip("\n").split("\n")
    comment = []
    while lines and lines[-1].startswith("//"):
        comment.insert(0, lines.pop())
    return " ".join(comment)


def problems_of(path):
    text = read(path)
    code = COMMENT_OR_TEXT.sub(blank, text)
    for match in CLASS.finditer(code):
        count = method_count(members(code, match.end()))
        if count > METHODS_MAX and not re.search(r"\bmethods are\b", comment_above(text, match.start())):
            yield f"{path}: {match.group(1)} has {count} methods; make rooms of it, or say above it why its methods are one job"


HELD = re.compile(r"^\s*(?:const\s+)?([\w:]+)\s*(?:const\s*)?[&*]\s*(?:const\s+)?\w+\s*(?:=[^;]*|\{[^;]*)?$")


def held_classes(body):
    """Names of classes that members of a class point or refer to."""
    members_held = (HELD.match(statement.strip()) for statement in body.split(";"))
    return {match[1].rsplit("::", 1)[-1] for match in members_held if match}


def circles(holds, way):
    for held in sorted(holds.get(way[-1], ())):
        if held == way[0]:
            yield way
        elif held not in way and held > way[0]:  # Each circle once, from its first name.
            yield from circles(holds, [*way, held])


def problems_of_folder(folder, paths):
    holds = {}
    for path in paths:
        code = COMMENT_OR_TEXT.sub(blank, read(path))
        for match in CLASS.finditer(code):
            holds.setdefault(match[1], set()).update(held_classes(members(code, match.end())) - {match[1]})
    for name in sorted(holds):
        for circle in circles(holds, [name]):
            yield f"{folder}: {' -> '.join([*circle, name])} hold each other in a circle; one of them can be passed to a function"


sources = [path for path in files(".hpp", ".cpp") if path.parts[0] == "compiler-lite"]
problems = [problem for path in sources for problem in problems_of(path)]
for folder in sorted({path.parent for path in sources}):
    problems += problems_of_folder(folder, [path for path in sources if path.parent == folder])
finish(problems, len(sources))
