"""Include directions: a room includes only the rooms below it (STYLE.md, "The house"), and C headers of the door only each other.

A test includes GoogleTest's header, itself or by a header of the tests: every preset precompiles that one, so no compiler asks."""
import re

from house import ROOMS, files, finish, read

ALLOWED = {
    "base": {"base"},
    "bytecode": {"base", "bytecode"},
    "vm": {"base", "bytecode", "vm"},
    "hal": {"base", "hal"},
    "modules": {"base", "bytecode", "vm", "hal", "modules"},
    # The numbers and the imports that programs carry are the only things the compiler shares with what runs them.
    "compiler-lite": {"base", "bytecode", "compiler-lite", "hal/interface", "modules/hal_module/imports.inc"},
}
HEAVY = {"iostream", "regex", "functional", "algorithm", "format"}  # Header weight is the dev loop.
TEST_CASE = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\(", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def allowed_for(path):
    """The files, and folders of files, that `path` may include, or None for those that may include everything."""
    if path.parts[:2] == ("hal", "interface"):
        return {"hal/interface"}
    if path.parts[:2] == ("modules", "sdk"):
        if path.name.startswith("embed") and path.suffix != ".h":
            return ALLOWED["modules"]
        return {"modules/sdk"}
    return ALLOWED.get(path.parts[0])


def includes_googletest(path):
    targets = [target for _, target in INCLUDE.findall(read(path))]
    if any(target.startswith(("gtest/", "gmock/")) for target in targets):
        return True
    return any(target.startswith("tests/") and includes_googletest(target) for target in targets)


def problems_of(path):
    allowed = allowed_for(path)
    if path.suffix == ".cpp" and TEST_CASE.search(read(path)) and not includes_googletest(path):
        yield f"{path}: has tests and does not include <gtest/gtest.h>"
    for bracket, target in INCLUDE.findall(read(path)):
        room = target.split("/")[0]
        if bracket == "<" and path.suffix in (".hpp", ".h") and target in HEAVY:
            yield f"{path}: <{target}> is too heavy for a header"
        if bracket == "<" or room not in ROOMS:
            continue
        if "/sdk/" in target and path.suffix == ".h" and not target.endswith(".h"):
            yield f"{path}: a frozen C header includes '{target}'"
        if allowed is not None and not any(target == each or target.startswith(each + "/") for each in allowed):
            yield f"{path}: includes '{target}', but may only include {', '.join(sorted(allowed))}"


sources = files(".hpp", ".h", ".cpp", ".c", ".inc")
finish([problem for path in sources for problem in problems_of(path)], len(sources))
