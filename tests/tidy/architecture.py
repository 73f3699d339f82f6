"""ARCHITECTURE.md has at most 150 lines, and the files and folders that it names are there. A walk (its section "Walks") is a list of
files, each named once, so that it goes one way; the words that stand in parentheses behind a file stand in that file."""
import fnmatch
import pathlib
import re

from house import SOURCE, files, finish, read

PAGE = "ARCHITECTURE.md"
LINES_MAX = 150
QUOTED = re.compile(r"`([^`\n]+)`")
SUFFIXES = (".hpp", ".cpp", ".h", ".inc", ".py")
NO_PATHS = {"./dev"}

paths = [path.as_posix() for path in files()]
folders = {parent.as_posix() for path in map(pathlib.PurePosixPath, paths) for parent in path.parents}
problems, checked = [], 0


def found(name, folder=""):
    """The files, or the folder, that `name` means in a text that has just named `folder`: the nearest ones."""
    name = name.rstrip("/")
    places = [folder, *map(str, pathlib.PurePosixPath(folder).parents)] if folder else []
    for place in [*places, ""]:
        full = str(pathlib.PurePosixPath(place, name))
        if "*" in full and (hits := fnmatch.filter(paths, full)):
            return hits
        if full in folders:
            return [full]
        if hits := [path for path in (full, *(full + suffix for suffix in SUFFIXES)) if path in paths]:
            return hits
    return []


def check_names(text):
    """What looks like a path, from the root or from the room that the paragraph is about."""
    global checked
    room = re.match(r"\*\*`([\w-]+)/`\*\*", text)
    for name in QUOTED.findall(text):
        is_path = re.fullmatch(r"[\w.*-]+(/[\w.*-]*)+", name) or re.fullmatch(r"[\w-]+\.(?:hpp|h|cpp|inc|fbs|md)", name)
        if not is_path or name in NO_PATHS:
            continue
        checked += 1
        if not found(name, room[1] if room else "") and not any(path.endswith("/" + name) for path in paths):
            problems.append(f"{PAGE}: there is no {name}")


def check_walk(walk):
    global checked
    title = re.match(r"\*\*(.+?)\*\*", walk)[1]
    folder, seen, last = "", set(), []
    depth = 0
    for piece in re.finditer(r"`([^`\n]+)`|[()]", walk):
        depth += {"(": 1, ")": -1}.get(piece[0], 0)
        name = piece[1]
        if not name:
            continue
        checked += 1
        hits = found(name, folder)
        if not hits and depth:
            if not any(name in read(path) for path in last if path not in folders):
                problems.append(f"{PAGE}: {title}: no {' or '.join(last)} has {name}")
            continue
        if not hits:
            problems.append(f"{PAGE}: {title}: there is no {name} (in {folder or 'the tree'} or above it)")
            continue
        key = None if hits[0] in folders else re.sub(r"\.[hc]pp$", "", hits[0])
        if key in seen:
            problems.append(f"{PAGE}: {title}: goes back to {name}")
        seen.add(key) if key else None
        folder = hits[0] if hits[0] in folders else str(pathlib.PurePosixPath(hits[0]).parent)
        last = hits


page = read(PAGE)
if page.count("\n") > LINES_MAX:
    problems.append(f"{PAGE}: has {page.count(chr(10))} lines; a map of more than {LINES_MAX} is none")
before, walks, after = re.fullmatch(r"(.*)\n## Walks\n(.*?)\n(## .*)", page, re.DOTALL).groups()
for paragraph in (before + after).split("\n\n"):
    check_names(paragraph)
all_walks = re.findall(r"^- (.*?)(?=^- |\Z)", walks, re.DOTALL | re.MULTILINE)
for each in all_walks:
    check_walk(re.sub(r"\s+", " ", each))
if len(all_walks) < 4:
    problems.append(f"{PAGE}: has {len(all_walks)} walks, not four")
finish(problems, checked)
