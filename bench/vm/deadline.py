"""How long programs that would run for ever take to end: --timeout=20ms, many runs of each, by the wall clock.

    python3 bench/vm/deadline.py [--programs=build/release/bin] [--runs=200]

The figures are times of a whole process beyond those of one that ends at once by itself: the tool's own start is not the
deadline's. What must hold is p99 <= 30 ms: by the wall clock on a quiet machine, and on a busy one by the processor's time
of the process, in which no waiting for others is. Workers of local-task have 20 ms each.
"""

import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

TIMEOUT_MS = 20
LIMIT_MS = 30

PROGRAM = """
module @program
import @hal.devices.get(i64) -> hal.device
import @hal.fence.create(hal.device) -> hal.fence
import @hal.fence.await(i32, (hal.fence)...) -> i32
import @hal.device.allocate(hal.device, i32, i32, i64) -> hal.buffer
import @hal.queue.fill(hal.device, hal.fence, hal.fence, hal.buffer, i64, i64, i64, i32)
import @hal.queue.copy(hal.device, hal.fence, hal.fence, hal.buffer, i64, i64, hal.buffer, i64, i64)

export func @nothing() {
  return
}
export func @loop() {
again:
  br again
}
func @callee() {
  return
}
export func @calls() {
  call @callee, %v0, %r0
  call.tail @calls
}
; Large memory that is made and touched anew each time.
export func @alloc_fill() {
  const.i64.wide %v1, 1073741824
  const.i64 %v0, 0
  const.i32 %v2, 7
again:
  blob.alloc %r0, %v1
  blob.fill.i32 %r0, %v0, %v1, %v2
  br again
}
; Nobody signals it.
export func @wait() -> i32 {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r0
  call.import @hal.fence.create, %v0, %r0
  const.i32 %v0, -1
  call.variadic @hal.fence.await, %v0, %r0, [1]
  return
}
; A large buffer, filled again and again on the device.
export func @device_fill() {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r0
  ref.copy %r4, %r0
  const.i32 %v0, 3
  const.i32 %v1, 63
  const.i64.wide %v2, 268435456
  call.import @hal.device.allocate, %v0, %r4
  ref.move %r1, %r4
again:
  ref.copy %r4, %r0
  ref.null %r5
  ref.null %r6
  ref.copy %r7, %r1
  const.i64 %v0, 0
  const.i64 %v1, -1
  const.i64 %v2, 7
  const.i32 %v3, 4
  call.import @hal.queue.fill, %v0, %r4
  br again
}
export func @device_alloc_fill() {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r0
  ref.copy %r4, %r0
again:
  ref.copy %r4, %r0
  const.i32 %v0, 3
  const.i32 %v1, 63
  const.i64.wide %v2, 1073741824
  call.import @hal.device.allocate, %v0, %r4
  ref.move %r1, %r4
  ref.copy %r4, %r0
  ref.null %r5
  ref.null %r6
  ref.copy %r7, %r1
  const.i64 %v0, 0
  const.i64 %v1, -1
  const.i64 %v2, 7
  const.i32 %v3, 4
  call.import @hal.queue.fill, %v0, %r4
  br again
}
export func @device_copy() {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r0
  ref.copy %r4, %r0
  const.i32 %v0, 3
  const.i32 %v1, 63
  const.i64.wide %v2, 268435456
  call.import @hal.device.allocate, %v0, %r4
  ref.move %r1, %r4
  ref.copy %r4, %r0
  const.i32 %v0, 3
  const.i32 %v1, 63
  const.i64.wide %v2, 268435456
  call.import @hal.device.allocate, %v0, %r4
  ref.move %r2, %r4
again:
  ref.copy %r4, %r0
  ref.null %r5
  ref.null %r6
  ref.copy %r7, %r1
  ref.copy %r8, %r2
  const.i64 %v0, 0
  const.i64.wide %v1, 268435456
  const.i64 %v2, 0
  const.i64.wide %v3, 268435456
  call.import @hal.queue.copy, %v0, %r4
  br again
}
"""

# What each instruction that works on as much as its operands say does again and again. %r0 and %r1 are blobs of %v2 bytes,
# %r2 is a list; %v0 is 0.
LONG = {
    "blob.alloc": "blob.alloc %r3, %v2",
    "blob.clone": "blob.clone %r3, %r0, %v0, %v2",
    "blob.compare": "blob.compare %v4, %r0, %v0, %r1, %v0, %v2",
    "blob.copy": "blob.copy %r0, %v0, %r1, %v0, %v2",
    "blob.fill.i8": "blob.fill.i8 %r0, %v0, %v2, %v4",
    "blob.fill.i16": "blob.fill.i16 %r0, %v0, %v2, %v4",
    "blob.fill.i32": "blob.fill.i32 %r0, %v0, %v2, %v4",
    "blob.fill.i64": "blob.fill.i64 %r0, %v0, %v2, %v6",
    "blob.hash": "blob.hash %v6, %r0, %v0, %v2",
    "list.alloc": "list.alloc %r3, %v2",
    "list.reserve": "list.alloc %r2, %v0\n  list.reserve %r2, %v2",
    "list.resize": "list.resize %r2, %v2\n  list.resize %r2, %v0",
    "list.push.i32": "list.push.i32 %r2, %v4",
    "list.push.i64": "list.push.i64 %r2, %v6",
    "list.push.f32": "list.push.f32 %r2, %v4",
    "list.push.f64": "list.push.f64 %r2, %v6",
    "list.push.ref": "list.push.ref %r2, %r0",
}


def long_instructions():
    """A function for each of them; all that isa.inc has."""
    rows = (pathlib.Path(__file__).resolve().parents[2] / "bytecode" / "isa.inc").read_text()
    growing = re.findall(r'^[A-Z]+\(0x\w+, \w+, "([\w.]+)",.*\bkGrows\b', rows, re.MULTILINE)
    if set(growing) != set(LONG):
        sys.exit(f"deadline.py measures others than isa.inc has: {sorted(set(growing) ^ set(LONG))}")
    text = "module @long\n"
    for name, body in LONG.items():
        size = 4000000 if name.startswith("list") else 268435456
        text += f"""export func @{name.replace(".", "_")}() {{
  const.i64.wide %v2, {268435456 if name.startswith("blob") else 16}
  blob.alloc %r0, %v2
  blob.alloc %r1, %v2
  const.i64.wide %v2, {size}
  const.i64 %v0, 0
  const.i32 %v4, 7
  const.i64 %v6, 7
  list.alloc %r2, %v0
again:
  {body}
  br again
}}
"""
    return text


INITIALIZER = """
module @program
initializer @init
func @init() {
again:
  br again
}
export func @nothing() {
  return
}
"""

# A dispatch of more workgroups than there is time for; a factor of nothing, over no elements.
DISPATCH = "dispatch.bvmasm"


def straight_code():
    body = "\n".join(["  mul.i64 %v0, %v0, %v0"] * 60000)
    return f"module @program\nexport func @straight() -> i64 {{\n  const.i64 %v0, 3\nagain:\n{body}\n  br again\n}}\n"


def assemble(programs, folder, name, text):
    source = folder / f"{name}.bvmasm"
    source.write_text(text)
    subprocess.run([programs / "baton-as", source, "-o", folder / f"{name}.bvm"], check=True)
    return folder / f"{name}.bvm"


def run(command):
    """(ms by the wall clock, ms of the processor, the process)"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    process = subprocess.run(command, capture_output=True, text=True)
    elapsed = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return elapsed * 1000, busy * 1000, process


def middle(times):
    return sorted(times)[len(times) // 2]


def p99(times):
    return sorted(times)[min(len(times) - 1, len(times) * 99 // 100)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=pathlib.Path, default=pathlib.Path("build/release/bin"))
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--only", default="", metavar="REGEX", help="programs whose names match")
    parser.add_argument("--dispatch", type=pathlib.Path, help="a .bvm whose function @long dispatches without an end")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        return measure(options, pathlib.Path(name))


def measure(options, folder):
    module = assemble(options.programs, folder, "program", PROGRAM)
    straight = assemble(options.programs, folder, "straight", straight_code())
    long = assemble(options.programs, folder, "long", long_instructions())
    hang = assemble(options.programs, folder, "initializer", INITIALIZER)
    device = ["--device=local-sync"]
    cases = [(name, module, name, device) for name in ("loop", "calls", "alloc_fill", "wait", "device_fill", "device_alloc_fill",
                                                           "device_copy")]
    cases += [(name, long, name.replace(".", "_"), []) for name in LONG]
    cases += [(f"{name} on local-task", module, name, ["--device=local-task"])
              for name in ("wait", "device_fill", "device_alloc_fill", "device_copy")]
    cases += [("straight code", straight, "straight", []), ("initializer", hang, "nothing", [])]
    if options.dispatch:
        for on in ("local-sync", "local-task"):
            cases.append((f"dispatch on {on}", options.dispatch, "long", [f"--device={on}"]))
    cases = [case for case in cases if re.search(options.only, case[0])]
    tool = options.programs / "baton-run-module"
    base = [middle([run([tool, module, "--function=nothing", *device])[clock] for _ in range(30)]) for clock in (0, 1)]
    print(f"{'program':32} {'median':>8} {'p99':>8} {'cpu p99':>8}   of {options.runs}, ms beyond the {base[0]:.1f} ms"
          " of a program that ends at once")
    missed = 0
    for name, file, function, flags in cases:
        walls, busies = [], []
        for _ in range(options.runs):
            wall, busy, process = run([tool, file, f"--function={function}", f"--timeout={TIMEOUT_MS}ms", *flags])
            if "DEADLINE_EXCEEDED" not in process.stderr:
                sys.exit(f"{name}: {process.stdout}{process.stderr}")
            walls.append(wall - base[0])
            busies.append(busy - base[1])
        limit = LIMIT_MS + (os.cpu_count() * TIMEOUT_MS if "local-task" in name else 0)
        late = p99(walls) > LIMIT_MS and p99(busies) > limit
        missed += late
        print(f"{name:32} {middle(walls):8.1f} {p99(walls):8.1f} {p99(busies):8.1f}   {f'MISSED (<= {LIMIT_MS})' if late else ''}",
              flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
