"""Adds up what ctest counted in each preset, names what was skipped, and closes with "N passed, N failed, N skipped".

  python3 tests/counts.py release gcc ...     reads build/<preset>/counts.xml

Passed and failed count ctest's tests. Skipped counts cases: a ctest test that did not run, a case of a GoogleTest program
that skipped itself, a golden test that lit did not run, a case that pytest skipped. Each is printed with its reason; cases
with the same reason share a line.
"""
import collections
import re
import sys
import xml.etree.ElementTree as xml

# GoogleTest prints the place and the reason of a skip, then the name of the case.
GOOGLE_SKIP = re.compile(r"^\[  SKIPPED \] (?P<case>[\w./]+)(?: \(\d+ ms\))?$")
GOOGLE_REASON = re.compile(r"^\S+:\d+: Skipped$")
# lit, as ctest runs it, only counts what it left out.
LIT_SKIP = re.compile(r"^\s*Unsupported\s*:\s*(?P<count>\d+) ")
PYTEST_SKIP = re.compile(r"^SKIPPED \[(?P<count>\d+)\] (?P<place>\S+?):(?:\d+:)? (?P<reason>.*)$")


def google_skips(output):
    """The cases that skipped themselves; GoogleTest lists them a second time at the end, without their reasons."""
    reason = ""
    lines = output.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("[==========]") and " ran." in line:
            return
        if GOOGLE_REASON.match(line) and number + 1 < len(lines):
            reason = lines[number + 1].strip()
        match = GOOGLE_SKIP.match(line)
        if match and match["case"]:
            yield match["case"], reason or "no reason given"
            reason = ""


def skips_in(output):
    """(case, reason) of every case that a test's output says it skipped."""
    yield from google_skips(output)
    for line in output.splitlines():
        if match := LIT_SKIP.match(line):
            for _ in range(int(match["count"])):
                yield "golden", "a golden test requires what this preset or machine has not"
        elif match := PYTEST_SKIP.match(line):
            for _ in range(int(match["count"])):
                yield match["place"], match["reason"]


def read_counts(preset):
    """(passed, failed, skips by reason) of one preset."""
    passed = failed = 0
    skips = collections.defaultdict(list)
    for case in xml.parse(f"build/{preset}/counts.xml").getroot().iter("testcase"):
        name = case.get("name")
        if case.get("status") == "fail":
            failed += 1
            print(f"{preset}: {name} failed")
        elif case.get("status") == "run":
            passed += 1
        else:
            message = case.find("skipped")
            output = (case.findtext("system-out") or "").strip().splitlines()
            told = [line for line in output if line.startswith("skipped:")]
            skips[told[-1] if told else message.get("message") if message is not None else "did not run"].append(name)
            continue
        for skipped, reason in skips_in(case.findtext("system-out") or ""):
            skips[reason].append(skipped)
    return passed, failed, skips


def main(presets):
    passed = failed = skipped = 0
    for preset in presets:
        preset_passed, preset_failed, skips = read_counts(preset)
        passed += preset_passed
        failed += preset_failed
        for reason, cases in sorted(skips.items()):
            skipped += len(cases)
            named = ", ".join(cases[:3]) + (f" and {len(cases) - 3} more" if len(cases) > 3 else "")
            print(f"{preset}: skipped {len(cases)}: {reason.removeprefix('skipped: ')} ({named})")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
