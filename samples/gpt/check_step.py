#!/usr/bin/env python3
"""What a step is and costs: check_step.py [--replay=DEVICE,...]

Nothing is recorded, loaded or looked up after the program was loaded, and the device's memory does not grow after the first step; the host's
part of a step is a fixed number of instructions of the VM; each command of a step has its name, and its line or its module, in the
trace; a step that is kept on the CPU is the same when it is replayed there, and on other devices within 1e-4.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import running  # noqa: E402

import baton  # noqa: E402
import model as models  # noqa: E402
import numpy as np  # noqa: E402
import weights as files  # noqa: E402

MODEL = models.MODELS["tiny"]
LIKELIEST = np.array([[0, 0, 1, 0]], np.float32)
INSTRUCTIONS_MAX = 320  # Of the VM for a step of two layers; it takes 307.


class Steps:
    """A program, and what its last step left."""

    def __init__(self, program):
        self.program, self.cache = program, running.empty_cache(MODEL, 1)
        self.token, self.position = np.array([[7]], np.int32), np.zeros(1, np.int32)

    def run(self, count):
        for _ in range(count):
            self.token, self.position, _, *self.cache = self.program.decode(*self.cache, self.token, self.position, LIKELIEST)
            np.asarray(self.token)  # It has ended.


def check_memory(path, weights, problems):
    # Where threads run a step, the next one may ask for memory a moment before this one's is given back.
    device = baton.device("local-sync")
    program = baton.load(str(path), device=device, modules=[str(running.COMMANDS)], parameters={"model": weights})
    steps = Steps(program)
    steps.run(2)
    before = device.memory_use
    steps.run(32)
    if device.memory_use != before or before[0] == 0:
        problems.append(f"live and peak bytes are {before} after two steps and {device.memory_use} after 34")
    return before


def check_trace(path, weights, folder, problems):
    with baton.trace(f"{folder}/trace.json"):
        Steps(running.load(path, weights, "local-task?workers=3")).run(4)
    events = json.loads(pathlib.Path(f"{folder}/trace.json").read_text(encoding="utf-8"))
    events = [each for each in (events["traceEvents"] if isinstance(events, dict) else events) if each.get("ph") == "X"]
    calls = sorted((each for each in events if each["name"] == "model.decode"), key=lambda each: each["ts"])
    imports = [collections.Counter(each["name"] for each in events if each.get("cat") == "import" and each["tid"] == call["tid"]
                                   and call["ts"] <= each["ts"] < call["ts"] + call["dur"]) for call in calls]
    made = [name for name in imports[-1] if name.startswith(("hal.command_buffer", "hal.executable", "parameters.", "gpt."))]
    if len(calls) != 4 or any(each != imports[0] for each in imports) or made:
        problems.append(f"steps call {imports}; {made} should not be among them")
    commands = [each for each in events if each.get("cat") == "command"]
    nameless = [each for each in commands if not each["name"] or not str(each["args"].get("line", "")).rpartition(":")[2].isdigit()]
    own = collections.Counter(each["args"]["module"] for each in commands if "module" in each["args"])
    if nameless or own != {"gpt.append": 4 * 2 * MODEL.layers, "gpt.sample": 4}:
        problems.append(f"of {len(commands)} commands these have no name or line: {nameless[:3]}; of modules are {own}")
    return len(commands) // 4, imports[0].total()


def run_once(folder, weights, *flags, program="model-1.bvm"):
    """A step by the tool: the text of what it says on standard error."""
    cache = f"--input=1x{MODEL.context}x{MODEL.kept_heads}x{MODEL.head}xf32=0.25"
    done = subprocess.run(
        [running.BUILD / "bin/baton-run-module", f"--module={running.COMMANDS}", f"--module={folder}/{program}", f"--parameters=model={weights}",
         "--device=local-task", "--function=decode", *[cache] * (2 * MODEL.layers), "--input=1x1xi32=7", "--input=1xi32=3",
         "--input=1x4xf32=0.8,40,0.9,1", *flags], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"a step fails: {done.stderr[-500:]}")
    return done.stderr


def check_instructions(weights, folder, problems):
    count = run_once(folder, weights, "--trace_execution").count("[model.decode+")
    if not 0 < count <= INSTRUCTIONS_MAX:
        problems.append(f"a step takes {count} instructions, and may take {INSTRUCTIONS_MAX}")
    return count


def check_replay(weights, folder, devices, problems):
    from compile import FENCES, lower

    targets = dict.fromkeys(["local", *map(running.target_of, devices)])
    baton.compile(lower(MODEL, 1, 16), flags=(*FENCES, *(f"--target-device={each}" for each in targets)), output=f"{folder}/all.bvm")
    run_once(folder, weights, f"--record={folder}/kept", program="all.bvm")
    for device in devices:
        replayed = subprocess.run([running.BUILD / "bin/baton-replay", f"{folder}/kept", f"--device={device}"], capture_output=True, text=True, check=False)
        last = (replayed.stdout.strip().splitlines() or [""])[-1]
        if replayed.returncode or ", 0 differ, 0 replaced" not in last or last.startswith("0 "):
            problems.append(f"on {device} the step is not what was kept: {last} {replayed.stderr[-300:]}")
        print(f"replayed on {device}: {last}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replay", default="local-sync", help="devices, with commas between")
    options = parser.parse_args()
    devices = [device for device in options.replay.split(",") if running.is_here(device)]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        weights = f"{folder}/weights.safetensors"
        files.write_random(MODEL, weights)
        path = running.compiled(MODEL, folder)
        live, peak = check_memory(path, weights, problems)
        commands, calls = check_trace(path, weights, folder, problems)
        instructions = check_instructions(weights, folder, problems)
        check_replay(weights, folder, devices, problems)
    if problems:
        raise SystemExit("; ".join(problems))
    print(f"a step is {commands} commands, all named, {calls} calls and {instructions} instructions of the host's; {live} bytes live, at most {peak}, from the first step on")


if __name__ == "__main__":
    main()
