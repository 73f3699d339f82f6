"""What the documents tell a reader to type or open exists: verbs of ./dev, programs, presets, files in backquotes or links. And a
README that has commands is one whose commands a test runs (samples/check_readme.py)."""
import importlib.util
import re

from house import ROOMS, SOURCE, files, finish, read

VERB = re.compile(r"\./dev ([a-z]+)")
TOOL = re.compile(r"\b(baton-(?:[a-z]+-module|[a-z]+-executable|[a-z]+))\b(?=[ `])")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)\)")
PATH = re.compile(r"`((?:%s)/[\w./-]+\.\w+)`" % "|".join(ROOMS))

verbs = set(re.findall(r"^verb_([a-z]+)\(\)", read("dev"), re.MULTILINE))
tools = {path.stem for path in files(".cpp") if path.parts[0] == "tools" and path.stem.startswith("baton-")}
problems = []
pages = files(".md")
for page in pages:
    text = read(page)
    problems += [f"{page}: ./dev has no verb '{verb}'" for verb in sorted(set(VERB.findall(text)) - verbs)]
    problems += [f"{page}: there is no tool '{tool}'" for tool in sorted(set(TOOL.findall(text)) - tools)]
    problems += [f"{page}: links to '{link}', which does not exist" for link in sorted(set(LINK.findall(CODE.sub("", text))))
                 if not (SOURCE / page.parent / link).exists()]
    problems += [f"{page}: names '{path}', which does not exist" for path in sorted(set(PATH.findall(text)))
                 if not (SOURCE / path).exists() and not (SOURCE / page.parent / path).exists()]

spec = importlib.util.spec_from_file_location("check_readme", SOURCE / "samples/check_readme.py")
check_readme = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_readme)
listed = set(re.findall(r"[\w/.-]*README\.md", read("samples/CMakeLists.txt")))


def is_run(page):
    folder = SOURCE / page.parent / "CMakeLists.txt"
    return str(page) in listed or (folder.is_file() and "baton_sample_readme()" in folder.read_text(encoding="utf-8"))


problems += [f"{page}: has commands, and no test runs them" for page in pages if page.name == "README.md"
             and any(True for _ in check_readme.commands_of(read(page))) and not is_run(page)]
finish(problems, len(pages))
