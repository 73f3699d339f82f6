"""What scripts with random programs are asked on their command line: which programs, where they run, what is kept of them."""
import argparse
import concurrent.futures
import os
import shutil
import sys
import tempfile
from pathlib import Path

import tools


def parser_of(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=None, help="of the first program; a new one, which is printed")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--keep", type=Path, default=None, help="where texts of failing programs go")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--device", default=None, help="local-task, cuda or vulkan: compiled for it and run there; several, with a comma: programs are spread over them")
    return parser


def parse(parser):
    """The options, and the seeds of the programs, which are printed; ends as a skipped test where a device is missing."""
    options = parser.parse_args()
    if options.device is not None:
        tools.use_device(options.device)
        if missing := tools.missing_devices():
            print(f"skipped: there is no {' or '.join(missing)} here")
            sys.exit(77)
    first = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "little")
    print(f"seeds {first} to {first + options.count - 1}", flush=True)
    return options, range(first, first + options.count)


def run(options, seeds, name, check, text_of, *more):
    """What `check(seed, folder, *more)` says of each program: what is wrong with it, or a tuple that begins with that. Failures are printed, and
    their texts, which `text_of(seed)` gives, are kept where the options want it."""
    scratch, found = Path(tempfile.mkdtemp(prefix=f"{name}.")), []
    try:
        with concurrent.futures.ProcessPoolExecutor(options.workers) as pool:
            folders = [scratch / str(seed) for seed in seeds]
            for seed, said in zip(seeds, pool.map(check, seeds, folders, *([each] * len(seeds) for each in more))):
                found.append(said)
                wrong = said if isinstance(said, str) else said[0]
                if not wrong:
                    continue
                print(f"FAILED seed {seed}: {wrong[:700]}", flush=True)
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / f"{seed}.mlir").write_text(text_of(seed))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return found
