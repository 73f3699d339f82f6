#!/usr/bin/env python3
"""Weights as a safetensors file: random ones, make_weights.py 124M -o weights.safetensors, or with --of= those that a variant takes:

    make_weights.py 124M --of=weights.safetensors --kind=bf16 -o weights_bf16.safetensors
    make_weights.py 124M --of=weights.safetensors --ranks=2 -o "weights_{rank}.safetensors"
"""
import argparse
import dataclasses
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import model as models  # noqa: E402
import weights  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help=f"{', '.join(models.MODELS)}, or a folder with config.json and model.safetensors")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--of", help="the file with the weights")
    parser.add_argument("--kind", choices=("f32", "bf16", "int8"), default="f32")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    model = weights.find(options.model)
    if not options.of:
        return weights.write_random(model, options.output, options.seed)
    variant = dataclasses.replace(models.shared(model, options.ranks), kind=options.kind)
    for rank in range(options.ranks):
        weights.prepare(variant, options.of, options.output.replace("{rank}", str(rank)), rank)


if __name__ == "__main__":
    main()
