"""Tests mirror the house: tests/<room>/x_test.cpp tests <room>/x.{hpp,cpp,h,inc,c}, by the same stem."""
from house import ROOMS, SOURCE, files, finish


def subject_exists(room, parts, stem):
    folder = SOURCE.joinpath(room, *parts)
    return any((folder / (stem + suffix)).is_file() for suffix in (".hpp", ".cpp", ".h", ".inc", ".c"))


problems = []
tests = [path for path in files(".cpp") if path.parts[0] == "tests" and path.stem.endswith("_test")]
for path in tests:
    room, parts, stem = path.parts[1], path.parts[2:-1], path.stem.removesuffix("_test")
    if room in ROOMS and not subject_exists(room, parts, stem):
        problems.append(f"{path}: there is no {'/'.join((room, *parts, stem))}.hpp, .cpp, .h or .inc that it could test")
finish(problems, len(tests))
