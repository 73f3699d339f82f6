"""What the scripts here share: the package `baton` of this tree's build, models compiled, and loaded with the commands' plugin."""
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BATON_BUILD") or ROOT / "build/release")
sys.path[:0] = [str(BUILD / "python")]
os.environ.setdefault("BATON_TOOLS", str(BUILD / "bin"))

import numpy as np  # noqa: E402

try:
    import baton
except ImportError as error:
    print(f"skipped: the package baton of {BUILD} cannot be imported: {error}")
    sys.exit(77)

COMMANDS = BUILD / "samples/gpt/gpt.so"




def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def target_of(device):
    """For which devices a program is compiled that runs there."""
    return device.split(":")[0].split("?")[0].split("-")[0]


def is_here(device):
    """Whether there is such a device; says why not."""
    try:
        baton.device(device)
    except (baton.NotFoundError, baton.UnavailableError) as error:
        print(f"skipped: {device}: {error}")
        return False
    return True


def need(device):
    """Ends as a skipped test where there is no such device."""
    if not is_here(device):
        sys.exit(77)


def compiled(model, folder, slots=1, prompt=16, target="local"):
    """The path of the model's file, compiled now."""
    from compile import FENCES, lower

    path = pathlib.Path(folder) / f"model-{slots}.bvm"
    baton.compile(lower(model, slots, prompt), flags=(*FENCES, f"--target-device={target}"), output=path)
    return path


def compiled_loop(model, folder, prompt=16, target="local"):
    from compile import loop

    path = pathlib.Path(folder) / "loop.bvm"
    baton.compile(loop(model, prompt), flags=(f"--target-device={target}",), output=path)
    return path


def load(path, weights, device="local-task", modules=()):
    return baton.load(str(path), device=device, modules=[str(COMMANDS), *modules], parameters={"model": str(weights)})


def empty_cache(model, slots):
    shape = (slots, model.context, model.kept_heads, model.head)
    return [np.zeros(shape, model.cache_kind) for _ in range(2 * model.layers)]


def median(times):
    return sorted(times)[len(times) // 2]
