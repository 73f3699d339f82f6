"""A trace as lines to check: what each span says, how often it stands there, and where arrows lead.

Checks besides what every trace must be: times that are not negative, spans of a thread that lie inside each other or
beside each other, arrows with a beginning and an end.
"""
import collections
import json
import pathlib
import sys


def describe(event):
    args = event["args"]
    line = f"{event['cat']} {event['name']}"
    for key in ("module", "command", "recording", "recorded by", "called by"):
        if key in args:
            line += f" | {key} {args[key]}"
    if "line" in args:
        file, row, _ = args["line"].rsplit(":", 2)
        line += f" | line {pathlib.Path(file).name}:{row}"
    return line


def check_nesting(spans):
    """Spans are in picoseconds: the file counts microseconds with three digits."""
    ends = []
    for begin, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
        while ends and ends[-1] <= begin:
            ends.pop()
        assert not ends or end <= ends[-1], f"{name} ends behind the span that it began in"
        ends.append(end)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file)
    events = trace["traceEvents"]
    rows = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    lines = collections.Counter()
    by_row = collections.defaultdict(list)
    places = {}
    for event in events:
        if event["ph"] == "X":
            assert event["ts"] >= 0 and event["dur"] >= 0, event
            begin, length = round(event["ts"] * 1e6), round(event["dur"] * 1e6)
            by_row[event["tid"]].append((begin, begin + length, event["name"]))
            lines[describe(event)] += 1
            places[event["tid"], event["ts"]] = event
    for spans in by_row.values():
        check_nesting(spans)
    begins = {event["id"]: event for event in events if event["ph"] == "s"}
    for event in events:
        if event["ph"] == "f":
            source = places[begins[event["id"]]["tid"], begins[event["id"]]["ts"]]
            target = places[event["tid"], event["ts"]]
            lines[f"arrow from {source['name']} to {target['name']}"] += 1
    for line, count in sorted(lines.items()):
        print(f"{count} x {line}")
    print(f"{len(rows)} rows")


main()
