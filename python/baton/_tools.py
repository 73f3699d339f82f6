"""The command-line tools of this package, as processes: python -m baton run x.bvm --function=main. The wheel that holds them
also gives each to the environment as a command, baton-run-module."""
import os
import pathlib
import shutil
import sys

VERBS = {"run": "baton-run-module", "compile": "baton-compile", "as": "baton-as", "check": "baton-check-module",
         "devices": "baton-devices", "dump": "baton-dump-module", "import-triton": "baton-import-triton", "isa": "baton-isa", "opt": "baton-opt",
         "benchmark": "baton-benchmark-module", "replay": "baton-replay"}


def find(tool):
    """The tool's path: in BATON_TOOLS, in the package, in PATH, in this order."""
    folders = [os.environ.get("BATON_TOOLS"), pathlib.Path(__file__).parent / "bin"]
    for folder in folders:
        if folder and os.access(path := os.path.join(folder, tool), os.X_OK):
            return path
    if path := shutil.which(tool):
        return path
    has_it = "only a build of the project" if tool == "baton-opt" else "the wheel `baton`"
    raise FileNotFoundError(f"{tool} is not in this package (nor in BATON_TOOLS or PATH); {has_it} has it")


def environment():
    """What a tool runs with: the wheel brings libraries of its own."""
    libraries = pathlib.Path(__file__).parent / "lib"
    if not libraries.is_dir():
        return dict(os.environ)
    path = os.pathsep.join(filter(None, [str(libraries), os.environ.get("LD_LIBRARY_PATH")]))
    return {**os.environ, "LD_LIBRARY_PATH": path}


def command():
    """Becomes the tool whose name this process was started by; the wheel's console scripts."""
    return run(os.path.basename(sys.argv[0]), sys.argv[1:])


def main(verb, arguments):
    """Becomes the tool of a verb."""
    return run(VERBS[verb], arguments)


def run(tool, arguments):
    try:
        path = find(tool)
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    sys.stdout.flush()
    os.execve(path, [path, *arguments], environment())
