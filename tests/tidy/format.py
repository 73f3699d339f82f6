"""C++ is formatted as .clang-format says, by clang-format 14: other versions break lines elsewhere."""
import shutil
import subprocess

from house import SOURCE, files, finish, skip

clang_format = shutil.which("clang-format-14")
if not clang_format:
    skip("clang-format-14 is not installed (./dev setup)")
sources = files(".hpp", ".h", ".cpp", ".c")
result = subprocess.run([clang_format, "--dry-run", "--Werror", *sources], cwd=SOURCE, capture_output=True, text=True)
finish([line for line in result.stderr.splitlines() if "error:" in line], len(sources))
