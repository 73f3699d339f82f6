"""A tiny language model (samples/gpt) decodes on a GPU what it decodes on the CPU: gpt.py baton-run-module FOLDER URI... [--ranks=N]

The folder holds NAME.bvm, for local devices and CUDA, and NAME.safetensors for the variants below, gpt.so, and for N ranks gpt_N.bvm with
gpt_N_RANK.safetensors. Each step takes what the one before left, the cache too, through files; tokens are the most likely ones, then drawn with a
temperature and a seed. With --ranks=, as many processes share the model, and {rank} in a URI is the number of each.
A step that is kept on the CPU is replayed where baton-replay lies beside the tool.
"""
import os
import re
import subprocess
import sys
import tempfile

STEPS = 6
SHAPE = "1x64x{heads}x16x{kind}"
SETTINGS = {"most likely": "1x4xf32=0,0,1,0", "drawn": "1x4xf32=0.8,20,0.9,7"}
VARIANTS = {"gpt": ("f32", 1e-4), "gpt_bf16": ("bf16", 3e-2), "gpt_int8": ("f32", 1e-4)}  # The cache's kind, how far logits may be off.


def command(tool, folder, name, uri, weights, inputs):
    return [tool, f"--device={uri}", f"--module={folder}/gpt.so", f"--module={folder}/{name}.bvm", f"--parameters=model={folder}/{weights}.safetensors",
            "--function=decode", *(f"--input={each}" for each in inputs)]


def run_ranks(commands, kept):
    """What rank 0 prints."""
    started = [subprocess.Popen(each, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | (
        {"BATON_RANK": str(rank), "BATON_RANKS": str(len(commands)), "BATON_STORE": f"file:{kept}/ranks"} if len(commands) > 1 else {}))
        for rank, each in enumerate(commands)]
    ended = [(*each.communicate(), each.returncode) for each in started]
    for rank, (printed, said, code) in enumerate(ended):
        if code:
            raise SystemExit(f"rank {rank}: {printed[-300:]}{said[-1500:]}")
    return ended[0][0]


def decode(tool, folder, name, uri, settings, kind="f32", ranks=1):
    """The token and the logits of each step."""
    steps, cache = [], SHAPE.format(heads=4 // ranks, kind=kind)
    program = name if ranks == 1 else f"{name}_{ranks}"
    token, position = "1x1xi32=7", "1xi32=0"
    with tempfile.TemporaryDirectory() as kept:
        for step in range(STEPS):
            commands = []
            for rank in range(ranks):
                left = [f"{kept}/{rank}.{step - 1}.{i}.bin" for i in range(4)]
                inputs = [f"{cache}=@{file}" if step else f"{cache}=0" for file in left]
                commands.append(command(tool, folder, program, uri.replace("{rank}", str(rank)), program if ranks == 1 else f"{program}_{rank}",
                                        [*inputs, token, position, settings]))
                commands[-1] += ["--output=-"] * 3 + [f"--output=@{kept}/{rank}.{step}.{i}.bin" for i in range(4)]
            os.mkdir(f"{kept}/{step}")  # Ranks meet there.
            printed = run_ranks(commands, f"{kept}/{step}")
            values = [line.split("=", 1)[1] for line in printed.splitlines() if re.match(r"[0-9x]+x[if]32=", line)]
            chosen, position = int(values[0].strip("[]")), f"1xi32={values[1]}"
            steps.append((chosen, [float(number) for number in values[2].strip("[]").split()]))
            token = f"1x1xi32={chosen}"
    return steps


def compare(what, made, wanted, tolerance):
    """Up to the first other token, behind which steps are others; in f32 there is none."""
    same = next((i for i, (one, other) in enumerate(zip(made, wanted)) if one[0] != other[0]), len(wanted))
    largest = max(abs(b) for one in wanted for b in one[1])
    off = max(abs(a - b) for one, other in zip(made[:same + 1], wanted) for a, b in zip(one[1], other[1])) / largest
    print(f"{what}: tokens {[one[0] for one in made]}, logits off by {off:.1e}{'' if same == len(wanted) else f', and another token at {same}'}")
    return off > tolerance or (same < len(wanted) and tolerance < 1e-3)


def replay(tool, folder, uri):
    """Whether a step that was kept on the CPU is another one there."""
    replayer = os.path.join(os.path.dirname(tool), "baton-replay")
    if not os.path.exists(replayer):
        print(f"skipped: there is no {replayer}")
        return False
    with tempfile.TemporaryDirectory() as kept:
        cache = SHAPE.format(heads=4, kind="f32") + "=0.25"
        inputs = [*[cache] * 4, "1x1xi32=7", "1xi32=3", SETTINGS["drawn"]]
        subprocess.run([*command(tool, folder, "gpt", "local-task", "gpt", inputs), f"--record={kept}/kept"], check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run([replayer, f"{kept}/kept", f"--device={uri}"], capture_output=True, text=True, check=False)
        last = (done.stdout.strip().splitlines() or [""])[-1]
        print(f"replayed on {uri}: {last} {done.stderr[-600:]}")
        return done.returncode != 0 or ", 0 differ, 0 replaced" not in last


def main():
    ranks = int(next((each.partition("=")[2] for each in sys.argv if each.startswith("--ranks=")), 1))
    tool, folder, *uris = [each for each in sys.argv[1:] if not each.startswith("--")]
    problems = 0
    for variant, (kind, tolerance) in VARIANTS.items():
        if not os.path.exists(f"{folder}/{variant if ranks == 1 else f'{variant}_{ranks}'}.bvm"):
            print(f"skipped: {variant} for {ranks} ranks is not in {folder}")
            continue
        for name, settings in SETTINGS.items():
            wanted = decode(tool, folder, variant, "local-task", settings, kind)
            for uri in uris:
                made = decode(tool, folder, variant, uri, settings, kind, ranks)
                problems += compare(f"{variant}, {name} on {uri}{f', {ranks} ranks' if ranks > 1 else ''}", made, wanted, tolerance)
    if ranks == 1:
        problems += sum(replay(tool, folder, uri) for uri in uris)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
