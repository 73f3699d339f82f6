"""A trace of a real GPU names every node of a replayed graph: trace.py baton-run-module PROGRAM.bvm MODULE.so URI FUNCTION INPUT...

Each command that the program recorded has its span on a stream of the device, under its name, with the module that recorded it and
its line; nothing that the graph ran is without a name. Without CUPTI there is a span for each launch, and a note that says so.
"""
import json
import subprocess
import sys
import tempfile

PLUMBING = {"baton_nothing", "copy", "fill"}  # Nodes that a graph has beside its commands; transfers of inputs and results.


def main():
    tool, program, module, uri, function, *inputs = sys.argv[1:]
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        run = subprocess.run([tool, f"--module={module}", f"--module={program}", f"--device={uri}", f"--function={function}",
                              *(f"--input={value}" for value in inputs), f"--trace={file.name}", "--profile"],
                             capture_output=True, text=True, check=False)
        print(run.stdout[:300], run.stderr[-1500:])
        if run.returncode:
            return 1
        with open(file.name) as written:  # The tool puts another file in its place.
            trace = json.load(written)
    events = trace["traceEvents"]
    rows = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    spans = [event for event in events if event["ph"] == "X" and rows[event["tid"]].startswith("cuda")]
    by_events = any("spans by events" in str(note) for note in trace["otherData"].values())
    commands = {span["args"].get("command", span["name"]): span for span in spans if span["cat"] in ("command", "queue")}
    problems = []
    if not spans:
        problems.append("no span on a stream of the device")
    if not by_events:
        modules = {span["args"]["module"] for span in spans if "module" in span["args"]}
        problems += [f"'{span['name']}' has no name of ours" for span in spans
                     if span["cat"] == "device" and span["name"] not in PLUMBING]
        problems += [f"'{span['name']}' has no line" for span in spans
                     if span["cat"] == "command" and "recorded by" in span["args"] and "line" not in span["args"]]
        if len(commands) < 5 or len(modules) < 3:
            problems.append(f"{len(commands)} commands of {len(modules)} modules, not 5 of 3")
    begins = min((span["ts"] for span in spans if span["cat"] == "command"), default=0)  # Inputs were copied before.
    host = [event for event in events if event["ph"] == "X" and event["name"].startswith("execute")]
    if host and begins and begins + 1000 < min(event["ts"] for event in host):
        problems.append("the device began before it was asked to: the clocks differ")
    print("\n".join(sorted({f"{span['cat']} {span['name']} {span['args']}" for span in spans})))
    print("by events: no CUPTI" if by_events else "by CUPTI", f"{len(spans)} spans, {len(problems)} problems")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
