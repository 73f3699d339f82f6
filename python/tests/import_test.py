"""Importing: without NumPy, and quick."""
import subprocess
import sys


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_import_brings_neither_numpy_nor_other_frameworks():
    assert run("import baton, sys; print(*sorted({'numpy', 'jax', 'torch', 'ml_dtypes', 'subprocess'} & set(sys.modules)))") == ""


def test_a_program_runs_without_numpy(host_file):
    code = f"""
import sys
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


def test_a_subinterpreter_is_told_that_it_cannot():
    program = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
one = interpreters.create()
said = interpreters.run_string(one, "import sys\\nsys.path[:0] = %r\\ntry:\\n  import baton\\nexcept ImportError as error:\\n  print(error)" % sys.path)
assert not said, said
interpreters.destroy(one)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "subinterpreter" in done.stdout
