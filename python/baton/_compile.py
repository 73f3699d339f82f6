"""compile(): MLIR in, the bytes of a .bvm file out. The compiler is a process of its own: a program that it cannot take
ends it and not Python, and who only runs programs needs none of it."""
import os
import re

from baton._errors import DeadlineExceededError, InternalError, InvalidArgumentError, UnavailableError, described, error_named

# What baton-compile calls the devices of a driver.
_TARGETS = {"cpu": "local", "local": "local", "cuda": "cuda", "vulkan": "vulkan"}


def _driver_in(device):
    """"cuda" of "cuda://1", "cuda-GPU-5f3a" and "cuda?cuda_mode=graph", as the runtime reads them."""
    path = device.partition("?")[0]
    return path.partition("://" if "://" in path else "-")[0]


def target_of(device):
    """What programs for an open device are compiled for."""
    return _TARGETS.get(_driver_in(device.name), "local")


def _targets(target):
    names = [target] if isinstance(target, str) else target
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"target={target!r} is no name of a device, nor a list of names")
    for name in names:
        if _driver_in(name) not in _TARGETS:
            raise InvalidArgumentError(f"target '{name}' is none of {', '.join(sorted(_TARGETS))}")
    return list(dict.fromkeys(_TARGETS[_driver_in(name)] for name in names))


def _is_path(source):
    if isinstance(source, os.PathLike):
        return True
    return isinstance(source, str) and "\n" not in source and not source.lstrip().startswith(("func", "module", "util"))


def compile(source, *, target=None, flags=(), output=None, cache=None, timeout=None):  # noqa: A001 - the verb of the house
    """Compiles a program in MLIR: its text, or the path of a file with it. Gives the bytes of the module file, which
    load() takes, and writes them to `output` if one is named.

    `target`: "cpu", "cuda", "vulkan", or a list of them, whose program runs on each of them; None: what the program says, or
    the CPU. `flags` go to baton-compile as they are. `cache` is a folder where compiled programs are kept, and looked for
    before anything is compiled. `timeout` is how many seconds it may take: the compiler is stopped then, with a
    DeadlineExceededError. What is wrong with the program is an InvalidArgumentError with file, line and column of each
    fault; other errors have the compiler's code."""
    import subprocess
    from baton._program import seconds, sequence
    from baton._tools import environment, find
    if not isinstance(source, (str, bytes, bytearray, memoryview, os.PathLike)):
        raise TypeError(f"a program in MLIR is wanted: its text, or the path of a file, not {described(source)}")
    limit = seconds(timeout)
    limit = limit if 0 < limit < 10**6 else None  # poll() counts milliseconds in 32 bits.
    command = [_find_compiler(find), os.fspath(source) if _is_path(source) else "-", "-o", "-"]
    command += [f"--target-device={name}" for name in _targets(() if target is None else target)] + list(sequence(flags, "flags"))
    if cache is not None:
        command.append(f"--cache={os.fspath(cache)}")
    text = None if _is_path(source) else (source.encode() if isinstance(source, str) else source)
    try:
        done = subprocess.run(command, input=text if text is not None else b"", capture_output=True, check=False,
                              env=environment(), timeout=limit)
    except subprocess.TimeoutExpired:
        raise DeadlineExceededError(f"the compiler was stopped: it was not done after {timeout} seconds") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        if done.returncode < 0:
            raise InternalError(f"the compiler was stopped by signal {-done.returncode}\n{said}")
        code = re.search(r"^baton-compile: ([A-Z_]+);", said, re.MULTILINE)
        raise error_named(code.group(1) if code else "INVALID_ARGUMENT", said)
    if output is not None:
        with open(output, "wb") as file:
            file.write(done.stdout)
    return done.stdout


def _find_compiler(find):
    try:
        return find("baton-compile")
    except FileNotFoundError as error:
        raise UnavailableError(str(error)) from None
