"""Where a figure was taken: every bench prints these lines above its table."""

import pathlib
import re
import subprocess


def facts(build: pathlib.Path) -> dict[str, str]:
    """The compiler and the build type of a build folder."""
    cache = (build / "CMakeCache.txt").read_text() if (build / "CMakeCache.txt").exists() else ""
    compiler = _cached(cache, "CMAKE_CXX_COMPILER")
    version = _output([compiler, "--version"]).splitlines()[:1] if compiler else []
    return {"compiler": " ".join(version) or "unknown", "build": _cached(cache, "CMAKE_BUILD_TYPE") or "unknown"}


def describe(build: pathlib.Path) -> list[str]:
    return [
        f"machine   {_processor()}, {cores()} cores",
        *(f"{what:9} {value}" for what, value in facts(build).items()),
        f"commit    {_output(['git', 'describe', '--always', '--dirty']).strip() or 'unknown'}",
    ]


def cores() -> int:
    return pathlib.Path("/proc/cpuinfo").read_text().count("processor\t")


def _cached(cache: str, name: str) -> str:
    match = re.search(rf"^{name}:\w+=(.*)$", cache, re.MULTILINE)
    return match.group(1) if match else ""


def _processor() -> str:
    match = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return match.group(1) if match else "unknown processor"


def _output(command: list[str]) -> str:
    here = pathlib.Path(__file__).parent
    return subprocess.run(command, cwd=here, capture_output=True, text=True, check=False).stdout
