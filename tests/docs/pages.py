"""docs/: every error code and every trap has its row, the first page lists every other one, the page of operations is fresh, the kernel
that a header shows compiles, and the site builds where mkdocs is: pages.py SOURCE BUILD PYTHON."""
import pathlib
import re
import subprocess
import sys

SOURCE, BUILD, PYTHON = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
DOCS = SOURCE / "docs"


def text(path):
    return (SOURCE / path).read_text(encoding="utf-8")


def missing_rows():
    page = text("docs/errors.md")
    codes = set(re.findall(r"#define BATON_([A-Z_]+) \d+$", text("modules/sdk/status.h"), re.MULTILINE)) - {"OK"}
    traps = {sentence for sentence in re.findall(r'TRAP\(k\w+, k\w+, "([^"]+)"\)', text("vm/trap.hpp"))}
    assert len(codes) == 16 and len(traps) > 15, (codes, traps)
    rows = {cells.split("|")[1].strip() for cells in re.findall(r"^\|.*\|$", page, re.MULTILINE)}
    return [f"docs/errors.md has no row for '{name}'" for name in sorted((codes | traps) - rows)]


def not_listed():
    listed = set(re.findall(r"\]\(([\w-]+)\.md\)", text("docs/index.md"))) | {"index"}
    return [f"docs/index.md does not list {page.name}" for page in sorted(DOCS.glob("*.md")) if page.stem not in listed]


def stale():
    run = subprocess.run([PYTHON, SOURCE / "tools/docs/operations.py", "--check"], capture_output=True, text=True, check=False)
    return [run.stdout + run.stderr] if run.returncode else []


def kernel_of_header():
    """What stands indented in the comment that begins cpu_kernel.h."""
    header = text("hal/drivers/local/cpu_kernel.h")
    lines = re.findall(r"^ \*(?:   (.*))?$", header[: header.index("*/")], re.MULTILINE)
    example = "\n".join(lines).strip()
    assert "BATON_KERNEL(" in example and "BATON_KERNELS(" in example, example
    run = subprocess.run(["cc", "-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", SOURCE, "-x", "c", "-"],
                         input=example + "\n", capture_output=True, text=True, check=False)
    return ["the kernel in cpu_kernel.h: " + run.stderr] if run.returncode else []


def site():
    if subprocess.run([PYTHON, "-c", "import mkdocs"], capture_output=True, check=False).returncode:
        print("skipped: the site, for mkdocs is not installed")
        return []
    run = subprocess.run([PYTHON, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", BUILD / "docs"], cwd=SOURCE,
                         capture_output=True, text=True, check=False)
    if run.returncode:
        return [run.stdout + run.stderr]
    pages = {page.stem for page in (BUILD / "docs").glob("*.html")}
    return [f"the site has no {page.stem}.html" for page in DOCS.glob("*.md") if page.stem not in pages]


problems = missing_rows() + not_listed() + stale() + kernel_of_header() + site()
print("\n".join(problems))
print(f"{len(problems)} problems in {len(list(DOCS.glob('*.md')))} pages")
sys.exit(1 if problems else 0)
