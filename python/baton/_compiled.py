"""Programs compiled for this machine, kept on disk.

baton-compile keeps what it compiles (--cache=). Asking it costs a process, so what it gave is kept a second time under a name
that is made here, of everything that the bytes depend on: the text, the target, the compiler's file, this processor and this
version. With flags of the user's only the compiler knows what they name, and is asked. A file that was damaged, or that another
user wrote, is as if it were not there, as with the compiler's own.
"""
import functools
import hashlib
import os
import pathlib
import stat
import tempfile

from baton import _baton
from baton._compile import compile as compile_program
from baton._tools import find


def cache_folder():
    folder = os.environ.get("BATON_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "baton")
    return pathlib.Path(folder)


def compiled_for_this_machine(text, target, flags=()):
    """The program's bytes; code for this machine's processor alone, which it is run on."""
    if flags:
        return _compile(text, target, flags)
    path = cache_folder() / f"{_name(text, target)}.kept"
    kept = _kept(path)
    if kept is None:
        kept = _compile(text, target, flags)
        _keep(path, kept)
    return kept


def _says_processors(flag):
    """Of flags of baton-compile, in which - and _ are the same and which may begin with iree-."""
    name = flag.split("=")[0].lstrip("-").replace("_", "-").removeprefix("iree-")
    return name in ("cpu-levels", "march", "mcpu", "llvmcpu-target-cpu", "llvmcpu-target-cpu-features")


def _compile(text, target, flags):
    if not any(map(_says_processors, flags)):
        flags = ("--cpu-levels=host", *flags)
    return compile_program(text, target=target, flags=flags, cache=cache_folder())


def _name(text, target):
    digest = hashlib.sha256(text.encode())
    for part in (target, _baton.version, *_machine()):
        digest.update(b"\0" + str(part).encode())
    return digest.hexdigest()[:40]


def _machine():
    """The compiler's file and the processor."""
    try:
        path = os.path.realpath(find("baton-compile"))
        state = os.stat(path)
        compiler = (path, state.st_size, state.st_mtime_ns)
    except OSError:
        compiler = ("none",)
    return (*compiler, _processor())


@functools.cache
def _processor():
    try:
        with open("/proc/cpuinfo", "rb") as file:
            first = file.read(1 << 14).split(b"\n\n")[0]
    except OSError:
        import platform
        return platform.processor()
    wanted = (b"flags", b"Features", b"vendor", b"cpu family", b"model\t", b"CPU part", b"CPU impl")
    return hashlib.sha256(b"\n".join(line for line in first.split(b"\n") if line.startswith(wanted))).hexdigest()


def _digest(path, made):
    """Of the name, too: a file that got another's name is damaged."""
    return hashlib.sha256(path.name.encode() + b"\0" + made).hexdigest().encode() + b"\n"


def _kept(path):
    """What _keep() wrote there; None where that is not whole, or not this user's or the system's."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_uid not in (os.geteuid(), 0):
                return None
            digest, made = file.readline(80), file.read()
    except OSError:
        return None
    return made if digest == _digest(path, made) else None


def _keep(path, made):
    """Written beside and renamed: another process sees all of it or nothing. A folder that takes nothing keeps nothing."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            try:
                file.write(_digest(path, made) + made)
                file.flush()
                os.replace(file.name, path)
            except OSError:
                os.unlink(file.name)
    except OSError:
        pass
