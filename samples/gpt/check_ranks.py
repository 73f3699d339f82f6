#!/usr/bin/env python3
"""A model shared by ranks gives what it gives alone: check_ranks.py tiny [--ranks=2] [--tokens=32] [--device=local-task] [--mpirun]

Each rank has its part of the heads and of the hidden units, and of a Llama's logits; what they make is added up by a collective command
in the step. {rank} in the device is the rank's number, as in cuda://{rank}. Each rank holds its logits against JAX and the whole model.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import running  # noqa: E402

import check  # noqa: E402
import model as models  # noqa: E402
import weights as files  # noqa: E402


def run_rank(options, rank):
    whole = models.MODELS[options.model]
    device, folder = options.device.replace("{rank}", str(rank)), pathlib.Path(options.rank_of)
    program = running.load(folder / "model-1.bvm", folder / f"weights_{rank}.safetensors", device)
    worst = check.check(whole, program, files.read(folder / "weights.safetensors"), options.tokens, in_place=device.startswith("local"),
                        of_rank=models.shared(whole, options.ranks))
    print(f"{options.model}, rank {rank} of {options.ranks} on {device}: {options.tokens} tokens, logits off by {worst:.1e}")
    if worst > 1e-4:
        raise SystemExit("that is more than 1e-4")


def start(options, folder):
    """The exit codes of the ranks."""
    own = [sys.executable, __file__, *sys.argv[1:], f"--rank-of={folder}"]
    if options.mpirun:
        return [subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(options.ranks), *own], check=False).returncode]
    started = [subprocess.Popen(own, env=os.environ | {"BATON_RANK": str(rank), "BATON_RANKS": str(options.ranks), "BATON_STORE": f"file:{folder}/ranks"})
               for rank in range(options.ranks)]
    return [each.wait() for each in started]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=models.MODELS)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--device", default="local-task")
    parser.add_argument("--mpirun", action="store_true")
    parser.add_argument("--rank-of", help="for the ranks: the folder of the one that started them")
    options = parser.parse_args()
    if options.rank_of:
        return run_rank(options, int(os.environ.get("BATON_RANK") or os.environ["OMPI_COMM_WORLD_RANK"]))
    whole = models.MODELS[options.model]
    with tempfile.TemporaryDirectory() as folder:
        files.write_random(whole, f"{folder}/weights.safetensors")
        part = models.shared(whole, options.ranks)
        for rank in range(options.ranks):
            files.prepare(part, f"{folder}/weights.safetensors", f"{folder}/weights_{rank}.safetensors", rank)
        running.compiled(part, folder, prompt=check.PROMPT, target=running.target_of(options.device))
        if any(codes := start(options, folder)):
            raise SystemExit(f"the ranks ended with {codes}")


if __name__ == "__main__":
    main()
