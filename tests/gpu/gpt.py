"""A tiny language model (samples/gpt) decodes on a GPU what it decodes on the CPU: gpt.py baton-run-module FOLDER URI...

The folder holds gpt.bvm for local devices, gpt_cuda.bvm, gpt.so and weights.safetensors. Each step takes what the one before left,
the cache too, through files; tokens are the most likely ones, then drawn with a temperature and a seed.
"""
import os
import re
import subprocess
import sys
import tempfile

STEPS, TOLERANCE = 6, 1e-4
CACHE = "1x64x4x16xf32"
SETTINGS = {"most likely": "1x4xf32=0,0,1,0", "drawn": "1x4xf32=0.8,20,0.9,7"}


def decode(tool, folder, program, uri, settings, kept):
    """The token and the logits of each step."""
    steps = []
    caches = [f"{CACHE}=0"] * 4
    token, position = "1x1xi32=7", "1xi32=0"
    for step in range(STEPS):
        outputs = [os.path.join(kept, f"{step}.{i}.npy") for i in range(7)]
        run = subprocess.run(
            [tool, f"--device={uri}", f"--module={folder}/gpt.so", f"--module={folder}/{program}",
             f"--parameters=model={folder}/weights.safetensors", "--function=decode", *(f"--input={cache}" for cache in caches),
             f"--input={token}", f"--input={position}", f"--input={settings}",
             *(f"--output={'-' if i < 3 else '@' + output}" for i, output in enumerate(outputs))],
            capture_output=True, text=True, check=False)
        if run.returncode:
            raise SystemExit(f"{uri}, step {step}: {run.stdout[-300:]}{run.stderr[-1500:]}")
        values = [line.split("=", 1)[1] for line in run.stdout.splitlines() if re.match(r"[0-9x]+x[if]32=", line)]
        chosen, position = int(values[0].strip("[]")), f"1xi32={values[1]}"
        steps.append((chosen, [float(number) for number in values[2].strip("[]").split()]))
        token = f"1x1xi32={chosen}"
        caches = [f"@{output}" for output in outputs[3:]]
    return steps


def main():
    tool, folder, *uris = sys.argv[1:]
    problems = 0
    for name, settings in SETTINGS.items():
        with tempfile.TemporaryDirectory() as kept:
            wanted = decode(tool, folder, "gpt.bvm", "local-task", settings, kept)
        for uri in uris:
            with tempfile.TemporaryDirectory() as kept:
                made = decode(tool, folder, "gpt_cuda.bvm" if uri.startswith("cuda") else "gpt.bvm", uri, settings, kept)
            off = max(abs(a - b) for one, other in zip(made, wanted) for a, b in zip(one[1], other[1]))
            same = [one[0] for one in made] == [other[0] for other in wanted]
            print(f"{name} on {uri}: tokens {[one[0] for one in made]}, logits off by {off:.1e}{'' if same else ', and not the same tokens'}")
            problems += off > TOLERANCE or not same
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
