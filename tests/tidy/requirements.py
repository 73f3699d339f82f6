"""The environment of Python is what its lists say: each list pins what it names, a group of ./dev setup is a list, a name that is none
is refused before anything is installed, and a group comes beside the one that all have. What programs of the tree import is in a list."""
import ast
import os
import re
import stat
import subprocess
import sys
import tempfile

from house import SOURCE, files, finish, read

LISTS = SOURCE / "python/requirements"
# The distribution of a module that is named otherwise.
DISTRIBUTIONS = {"tvm_ffi": "apache-tvm-ffi"}
# What no list brings, and who wants it.
BY_HAND = {
    "iree": "benches beside IREE, bench/README.md",
    "onnx": "tests/programs/onnx_nodes.py",
    "torch_mlir": "tests/programs/onnx_nodes.py",
    "lit": "tests/golden: it comes with Debian's llvm-19-tools",
    "transformers": "samples/gpt/check_published.py",
}


def pinned(name):
    """(distributions of a list and of the lists that it takes in, lines that pin nothing)."""
    found, loose = set(), []
    for line in (LISTS / name).read_text(encoding="utf-8").splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        if line.startswith("-r "):
            inner, more = pinned(line[3:].strip())
            found |= inner
            loose += more
        elif match := re.fullmatch(r"([\w.-]+)==[\w.]+", line):
            found.add(match[1].lower().replace("_", "-"))
        else:
            loose.append(f"python/requirements/{name}: '{line}' is no NAME==VERSION")
    return found, loose


def imported():
    """(file, module): the first part of what a program imports, wherever it does."""
    ours = {path.stem for path in files(".py")} | {"baton"} | {path.parts[-2] for path in files(".py") if len(path.parts) > 1}
    for path in files(".py"):
        for node in ast.walk(ast.parse(read(path))):
            names = []
            if isinstance(node, ast.Import):
                names = [each.name for each in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "importorskip":
                names = [node.args[0].value]
            for name in names:
                first = name.split(".")[0]
                if first not in sys.stdlib_module_names and first not in ours - {"torch", "jax", "triton", "tvm_ffi"}:
                    yield path, first


def write_program(path, text):
    path.write_text("#!/bin/bash\n" + text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def make_tree(folder):
    """./dev and the lists, in a world where every package is there and python3 -m venv makes one that writes down what it is told."""
    (folder / "python").mkdir()
    (folder / "python/requirements").symlink_to(LISTS)
    (folder / "dev").symlink_to(SOURCE / "dev")
    (folder / "bin").mkdir()
    write_program(folder / "bin/dpkg-query", "echo installed\n")
    write_program(folder / "bin/cmake", "exit 0\n")
    write_program(folder / "bin/python3", 'echo venv >>"$LOG"; mkdir -p "$3/bin"; cp "$FAKE" "$3/bin/python"\n')
    write_program(folder / "python-of-venv", 'echo "${@: -1}" >>"$LOG"\n')


def dev(folder, *arguments):
    """(exit code, standard error, what python3 was told)."""
    log = folder / "log"
    log.write_text("", encoding="utf-8")
    environment = dict(os.environ, PATH=f"{folder / 'bin'}:{os.environ['PATH']}", LOG=str(log), FAKE=str(folder / "python-of-venv"))
    # Not through the link, which leads back to the tree.
    script = (folder / "dev").read_text(encoding="utf-8").replace('cd "$(dirname "${BASH_SOURCE[0]}")"', f'cd "{folder}"')
    run = subprocess.run(["bash", "-c", script, "dev", *arguments], capture_output=True, text=True, env=environment, check=False)
    return run.returncode, run.stderr, log.read_text(encoding="utf-8").split()


def setup_problems(groups):
    with tempfile.TemporaryDirectory() as scratch:
        folder = type(SOURCE)(scratch)
        make_tree(folder)
        code, said, told = dev(folder, "setup", "nosuch")
        if code != 1 or told or said.strip() != f"dev: no group 'nosuch' of Python packages; there are: {' '.join(groups)}":
            yield f"./dev setup nosuch ends with {code}, says '{said.strip()}' and tells Python {told}"
        ci = "python/requirements/ci.txt"
        for group in groups:
            others = [] if group == "ci" else [f"python/requirements/{group}.txt"]
            subprocess.run(["rm", "-rf", folder / "build/python"], check=True)
            for expected in (["venv", ci, *others], []):  # The second time everything is there.
                code, said, told = dev(folder, "setup", group)
                if code or told != expected:
                    yield f"./dev setup {group} ends with {code}, '{said.strip()}', and tells Python {told} instead of {expected}"
            if dev(folder, "setup")[2]:
                yield f"./dev setup after ./dev setup {group} makes the environment anew"


groups = sorted(path.stem for path in LISTS.glob("*.txt"))
usage = re.search(r"^\./dev setup .*\((.*)\)|^\./dev setup.*", read("dev"), re.MULTILINE)[0]
problems = [f"./dev help does not name the group {group}" for group in groups if group not in usage]
brought = set()
for group in groups:
    found, loose = pinned(f"{group}.txt")
    brought |= found
    problems += loose
seen = set()
for path, module in imported():
    seen.add(module)
    if DISTRIBUTIONS.get(module, module).replace("_", "-") not in brought and module not in BY_HAND:
        problems.append(f"{path} imports {module}, which no list of python/requirements brings")
problems += [f"nobody imports {module} any more (BY_HAND)" for module in BY_HAND if module not in seen]
problems += list(setup_problems(groups))
finish(sorted(set(problems)), len(seen) + len(groups))
