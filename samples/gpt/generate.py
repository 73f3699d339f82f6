#!/usr/bin/env python3
"""Prints tokens as they come: generate.py gpt.bvm loop.bvm weights.safetensors --model=tiny --tokens=5,7,11 --count=8"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import running  # noqa: E402

import baton  # noqa: E402
import numpy as np  # noqa: E402
import weights as files  # noqa: E402

PROMPT = 16


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("program", "loop", "weights"):
        parser.add_argument(name)
    parser.add_argument("--model", required=True, help="its name, or the folder in which it was published")
    parser.add_argument("--tokens", required=True, help=f"the prompt, up to {PROMPT} numbers with commas between")
    parser.add_argument("--count", type=int, default=16)
    parser.add_argument("--end", type=int, help="the token to end at")
    for name, default in (("temperature", 0), ("top_k", 0), ("top_p", 1), ("seed", 0)):
        parser.add_argument(f"--{name}", type=float, default=default)
    parser.add_argument("--device", default="local-task")
    parser.add_argument("--module", action="append", default=[], help="a plugin with commands that the program imports")
    options = parser.parse_args()
    model = files.find(options.model)
    tokens = [int(each) for each in options.tokens.split(",")]
    if not 0 < len(tokens) <= PROMPT or len(tokens) + options.count > model.context:
        parser.error("the prompt, or what shall follow it, is too long")

    def token(_, token):
        print(token, end=" ", flush=True)
        return int(token != options.end)

    program = running.load(options.loop, options.weights, options.device, modules=[*options.module, options.program, baton.module("reader", {"token": token})])
    prompt = np.zeros((1, PROMPT), np.int32)
    prompt[0, :len(tokens)] = tokens
    settings = np.array([[options.temperature, options.top_k, options.top_p, options.seed]], np.float32)
    program.generate(*running.empty_cache(model, 1), prompt, np.array([len(tokens) - 1], np.int32), settings, options.count)
    print()


if __name__ == "__main__":
    main()
