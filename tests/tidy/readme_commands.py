"""What the documents tell a reader to type or open exists: verbs of ./dev, programs, presets, files in backquotes or links."""
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
finish(problems, len(pages))
