"""baton.jax.jit: a JAX function that Baton runs.

Each set of shapes and types is lowered and compiled once; what was compiled is kept on disk by the compiler. Arrays go in
and out in place.
"""
import functools
import os
import pathlib

import jax

from baton._compile import compile as compile_program
from baton._devices import device as open_device
from baton._program import load


def _cache_folder():
    folder = os.environ.get("BATON_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "baton")
    return pathlib.Path(folder)


def _compiled(text, target, flags):
    """The program's bytes, from the disk where they are; code for this machine's processor alone, which it is run on."""
    if not any(flag.startswith("--cpu-levels") for flag in flags):
        flags = ("--cpu-levels=host", *flags)
    return compile_program(text, target=target, flags=flags, cache=_cache_folder())


def _key(leaf):
    return leaf.shape, leaf.dtype, getattr(leaf, "weak_type", False)


class Jitted:
    """A function as jit() gives it. `lower(*arguments)` is its MLIR; `program(*arguments)` what runs."""

    def __init__(self, function, device, libraries, flags):
        functools.update_wrapper(self, function)
        self._function = function
        self._device = open_device(device) if isinstance(device, str) else device
        self._target = "cuda" if self._device.name.startswith("cuda") else "cpu"
        self._libraries = tuple(libraries)
        self._flags = tuple(flags)
        self._ready = {}  # (tree, shapes and types) -> (function of a program, tree of the results)

    def __call__(self, *arguments, **keywords):
        leaves, tree = jax.tree.flatten((arguments, keywords))
        leaves = [self._array(leaf) for leaf in leaves]
        key = (tree, *map(_key, leaves))
        ready = self._ready.get(key)
        if ready is None:
            ready = self._ready[key] = self._make(leaves, tree)
        call, results_tree, used = ready
        results = call(*(leaves[index] for index in used))
        if not isinstance(results, tuple):
            results = () if results is None else (results,)
        return jax.tree.unflatten(results_tree, [jax.numpy.from_dlpack(result) for result in results])

    def lower(self, *arguments, **keywords):
        leaves, tree = jax.tree.flatten((arguments, keywords))
        return self._lower([self._array(leaf) for leaf in leaves], tree)[0]

    def program(self, *arguments, **keywords):
        leaves, tree = jax.tree.flatten((arguments, keywords))
        return self._load(self._lower([self._array(leaf) for leaf in leaves], tree)[0])

    @staticmethod
    def _array(leaf):
        if isinstance(leaf, jax.core.Tracer):
            raise TypeError("a function of baton.jax.jit is called outside of JAX's transformations; put them inside, as in "
                            "baton.jax.jit(jax.grad(f))")
        return leaf if hasattr(leaf, "dtype") and hasattr(leaf, "shape") else jax.numpy.asarray(leaf)

    def _lower(self, leaves, tree):
        """The text, the results' tree, and which leaves are arguments: JAX drops those that nothing depends on."""
        from baton.jax import lower

        def flat(*values):
            arguments, keywords = jax.tree.unflatten(tree, values)
            return self._function(*arguments, **keywords)

        flat.__name__ = getattr(self._function, "__name__", "function")
        staged = jax.jit(flat, keep_unused=True)
        results_tree = jax.tree.structure(jax.eval_shape(flat, *leaves))
        return lower(staged, *leaves), results_tree, range(len(leaves))

    def _load(self, text):
        return load(_compiled(text, self._target, self._flags), device=self._device, modules=self._libraries)

    def _make(self, leaves, tree):
        text, results_tree, used = self._lower(leaves, tree)
        program = self._load(text)
        return program["main"], results_tree, used


def jit(function=None, *, device="local-task", libraries=(), flags=()):
    """`function` compiled by Baton for `device`, for each set of shapes and types once.

    `libraries` are modules as load() takes them; what the function calls by jax.ffi.ffi_call("module.command", ...) is a custom
    command of theirs. `flags` go to baton-compile. Compiled programs are kept in BATON_CACHE, or the user's cache folder."""
    if function is None:
        return functools.partial(jit, device=device, libraries=libraries, flags=flags)
    return Jitted(function, device, libraries, flags)
