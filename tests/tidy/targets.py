"""A target is a column: what is known of a target of the compiler stands in its folder of codegen/, and nowhere else in compiler-lite
or in the tools that compile. Others ask codegen::Target."""
import re

from house import SOURCE, files, finish, read

LIST = "compiler-lite/codegen/targets.inc"
INCLUDE = re.compile(r'#include "compiler-lite/codegen/(\w+)/')
TEXT = re.compile(r'"((?:\\.|[^"\\\n])*)"')
COMMENT = re.compile(r"//[^\n]*")
# Words of targets that everybody may use: a fact of an attribute, or no name of a target at all.
COMMON = {"elf", "llvm", "asm", "loops", "threads", "launches"}


def targets():
    return re.findall(r"^TARGET\((\w+)\)", read(SOURCE / LIST), re.MULTILINE)


def names_of(target):
    """The names of a target: of its folder, and those that its target.cpp gives to devices, backends, formats and options."""
    code = COMMENT.sub("", read(f"compiler-lite/codegen/{target}/target.cpp"))
    words = {text for text in TEXT.findall(code) if re.fullmatch(r"[a-z][a-z0-9]*([-_][a-z0-9_-]+)*", text)}
    return (words | {target}) - COMMON


def is_ours(path):
    return path.parts[0] == "compiler-lite" or str(path) in ("tools/baton-compile.cpp", "tools/baton-codegen.cpp")


def problems_of(path, all_names):
    own = path.parts[2] if path.parts[:2] == ("compiler-lite", "codegen") and len(path.parts) > 3 else None
    code = COMMENT.sub("", read(path))
    for target in INCLUDE.findall(code):
        if target in all_names and target != own:
            yield f"{path}: includes the folder of the target {target}; ask codegen/target.hpp"
    if own in all_names:
        return
    for target, names in all_names.items():
        for text in TEXT.findall(re.sub(r"#include[^\n]*", "", code)):
            if text in names:
                yield f'{path}: says "{text}", which only the target {target} knows'
        for word in re.findall(rf"\b(?:is|for|has)_{target}\b|\bk{target.capitalize()}\b|\b{target}::", code):
            yield f"{path}: {word} is about the target {target}, in whose folder it belongs"


all_names = {target: names_of(target) for target in targets()}
sources = [path for path in files(".hpp", ".cpp", ".inc", ".td") if is_ours(path) and str(path) != LIST]
finish([problem for path in sources for problem in problems_of(path, all_names)], len(sources) if all_names else 0)
