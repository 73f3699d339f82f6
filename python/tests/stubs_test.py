"""The types of the extension are written down for type checkers, and they name what is there."""
import ast
import pathlib

import baton
from baton import _baton

STUB = ast.parse((pathlib.Path(baton.__file__).parent / "_baton.pyi").read_text(encoding="utf-8"))
OF_TYPES = {"__cuda_array_interface__", "__array__", "__dlpack__", "__dlpack_device__", "__dlpack_c_exchange_api__", "__call__"}


def names_of(body):
    return {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))} | {
        node.target.id for node in body if isinstance(node, ast.AnnAssign)}


def own(names):
    return {name for name in names if not name.startswith("_") or name in OF_TYPES}


def test_the_stub_names_what_the_extension_has():
    assert own(names_of(STUB.body)) == own(vars(_baton))


def test_the_stub_names_what_its_classes_have():
    for node in STUB.body:
        if isinstance(node, ast.ClassDef):
            assert own(names_of(node.body)) == own(vars(getattr(_baton, node.name))), node.name
