"""Rooms with one job: a class of the compiler with more than 25 methods says above it why it has so many ("... methods are ...")."""
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


sources = [path for path in files(".hpp", ".cpp") if path.parts[0] == "compiler-lite"]
finish([problem for path in sources for problem in problems_of(path)], len(sources))
