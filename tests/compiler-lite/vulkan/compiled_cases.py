#!/usr/bin/env python3
"""What the compiler makes for Vulkan: valid SPIR-V for every program of the golden tests for GPUs, and the same results
as on the CPU where there is a device (lavapipe counts).

    compiled_cases.py folder of the tools [--device=vulkan://0] [--only=text]

Operations of the upstream dialects, kernels that leave their memory and check that (--sanitize), then the cases of
tests/gpu/compiled.py. Validation watches the device throughout.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests" / "golden" / "compile"


# Programs that scripts write, of which programs for Vulkan alone have kernels of their own.
GENERATED = ("epilogues", "few_queries", "fourier", "joined_parts", "several_sums", "sliced_products", "sorts", "turns")


def run(command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)  # How long all may take says ctest.


def invalid_code(tools, program):
    """What the validator says of the program's SPIR-V."""
    code = program.with_suffix(".code")
    run([tools / "baton-dump-module", program, f"--extract={code}"])
    wrong = []
    for module in sorted(code.glob("*.spv")):
        done = run(["spirv-val", "--target-env", "vulkan1.2", module])
        if done.returncode:
            wrong.append(f"{program.name}: {done.stdout}{done.stderr}")
    return wrong


def compile_checked(tools, folder):
    """Programs whose kernels check their accesses: one that does what it may, and one that doesn't."""
    wrong = []
    lying = folder / "lying.mlir"
    lying.write_text(run([sys.executable, GOLDEN / "sanitize.py", "make", "vulkan"]).stdout)
    for source, target in ((lying, folder / "lying.bvm"), (folder / "operations.mlir", folder / "checked_operations.bvm")):
        done = run([tools / "baton-compile", "--sanitize", "--target-device=vulkan", source, "-o", target])
        wrong += [f"{source.name} was not compiled: {done.stderr[:600]}"] if done.returncode else invalid_code(tools, target)
    return wrong


def compile_all(tools, folder, only):
    """Programs in `folder`, compiled for both kinds of devices; what went wrong."""
    wrong = []
    operations = folder / "operations.mlir"
    operations.write_text(run([sys.executable, GOLDEN / "operations.py", "make"]).stdout)
    (folder / "cases").mkdir()
    generated = [folder / "cases" / f"{name}.mlir" for name in GENERATED if only in name]
    for program in generated:
        program.write_text(run([sys.executable, GOLDEN / "inputs" / f"{program.stem}.py"]).stdout)
    programs = [path for path in [*sorted((GOLDEN / "cuda").glob("*.mlir")), GOLDEN / "schedule" / "run.mlir"] if only in path.stem]
    for program in [operations, *generated, *programs]:
        source = program if program in [operations, *generated] else folder / "cases" / program.name
        source.write_text(program.read_text())
        target = source.with_suffix(".bvm")
        # Beside code for CUDA, whose workgroups may have other sizes.
        beside = ["--target-device=cuda"] if program.stem == "rows" else []
        done = run([tools / "baton-compile", "--target-device=local", *beside, "--target-device=vulkan", source, "-o", target])
        if done.returncode:
            wrong.append(f"{program.name} was not compiled: {done.stderr[:600]}")
            continue
        wrong += invalid_code(tools, target)
        if program in generated:
            alone = source.with_suffix(".vulkan.bvm")
            done = run([tools / "baton-compile", "--target-device=vulkan", source, "-o", alone])
            wrong += [f"{program.name} was not compiled: {done.stderr[:600]}"] if done.returncode else invalid_code(tools, alone)
    return wrong


def main():
    tools = Path(sys.argv[1])
    device = next((word[9:] for word in sys.argv[2:] if word.startswith("--device=")), "vulkan")
    only = next((word[7:] for word in sys.argv[2:] if word.startswith("--only=")), "")
    device += ("&" if "?" in device else "?") + "vulkan_validation=fatal"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wrong = compile_all(tools, folder, only) + compile_checked(tools, folder)
        if wrong:
            print("\n".join(wrong))
            return 1
        found = run([tools / "baton-devices"]).stdout
        if "\nvulkan: not in this build" in "\n" + found or "\nvulkan: no " in "\n" + found:
            print("No Vulkan: the code is valid, and nothing ran it")
            return 77
        runner = tools / "baton-run-module"
        for command in ([GOLDEN / "operations.py", "check", runner, folder / "operations.bvm", f"--device={device}"],
                        [GOLDEN / "sanitize.py", "check", "vulkan", "--every=6", runner, f"--module={folder / 'lying.bvm'}",
                         f"--device={device}"],
                        [ROOT / "tests" / "gpu" / "compiled.py", runner, folder / "cases", f"--device={device}", f"--only={only}"]):
            done = run([sys.executable, *command], env={**os.environ, "MALLOC_ARENA_MAX": "2"})
            print(done.stdout + done.stderr, end="")
            if done.returncode or "alidation Error" in done.stdout + done.stderr:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
