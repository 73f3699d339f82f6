"""Importing: without NumPy, and quick."""
import subprocess
import sys

import pytest


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_import_brings_neither_numpy_nor_other_frameworks():
    assert run("import baton, sys; print(*sorted({'numpy', 'jax', 'torch', 'ml_dtypes', 'subprocess'} & set(sys.modules)))") == ""


def test_a_program_runs_without_numpy(host_file):
    code = f"""
import sys

import pytest
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in ('numpy', 'jax', 'torch'): raise ImportError(name)
sys.meta_path.insert(0, Refuse())
import array, baton
app = baton.module('app', {{'number': lambda *n: n, 'tensor': lambda t: t, 'nothing': lambda: None}})
program = baton.load({str(host_file)!r}, modules=[app])
tensor = program.same(array.array('f', [1, 2]))
print(program.number(1, 2, 3.0, 4.0), memoryview(tensor).tolist(), tensor.shape)
"""
    assert run(code) == "(1, 2, 3.0, 4.0) [1.0, 2.0] (2,)"


def test_every_name_is_there():
    import baton
    for name in baton.__all__:
        assert hasattr(baton, name), name


USES = "import baton\nassert baton.device('local-sync').tensor(memoryview(b'abcd')).tolist() == [97, 98, 99, 100]\n"


@pytest.mark.parametrize("used", ["", USES])
def test_a_subinterpreter_is_told_that_it_cannot(used):
    program = """
import sys

import pytest
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
one = interpreters.create()
said = interpreters.run_string(one, "import sys\\nsys.path[:0] = %r\\ntry:\\n  import baton\\nexcept ImportError as error:\\n  print(error)" % sys.path)
assert not said, said
interpreters.destroy(one)
"""
    # The main interpreter goes on, whether it has imported it already or not.
    program = used + program + USES
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "subinterpreter" in done.stdout
