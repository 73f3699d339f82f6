"""baton.jax.jit: a JAX function that Baton runs.

Each set of shapes and types is traced, lowered and compiled once; what was compiled is kept on disk, where the next process
finds it without starting the compiler. Arrays go in and out in place.

A call goes two ways. The first of its kind asks JAX for everything: what the arguments are, which of them are static, what
the results' tree is (`_make`); it leaves a `_Ready`, which later calls of the kind go through and which asks JAX nothing.
"""
import functools
import inspect
import os
import pathlib
import threading

import jax
from jax.tree_util import tree_flatten

import baton
from baton import _jax_arrays as arrays
from baton._baton import Device
from baton._compile import target_of
from baton._compiled import compiled_for_this_machine
from baton._devices import device as open_device
from baton._errors import StatusError
from baton._program import load, sequence

_here = threading.local()  # is_tracing: a function is being traced for Baton on this thread.


def _static_parameters(function, argnums, argnames):
    """Positions and names of the static arguments, each told by the other where the function has a signature."""
    argnums = (argnums,) if isinstance(argnums, int) else tuple(argnums or ())
    argnames = (argnames,) if isinstance(argnames, str) else tuple(argnames or ())
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return frozenset(argnums), frozenset(argnames)
    positional = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    argnums = {each % len(positional) if each < 0 and positional else each for each in argnums}
    names = {positional[each] for each in argnums if each < len(positional)} | set(argnames)
    return frozenset(argnums | {positional.index(each) for each in argnames if each in positional}), frozenset(names)


def _lowered_libraries(modules):
    """Which of the plugins stand for calls that JAX makes: `lapack.so` for those of LAPACK."""
    from baton.jax.libraries import LIBRARIES
    stems = {pathlib.Path(os.fspath(each).partition("?")[0].partition("@")[0]).stem for each in modules if isinstance(each, (str, os.PathLike))}
    return tuple(sorted(stems & set(LIBRARIES)))


class _Ready:
    """A compiled program with what stands between it and Python: how arguments become arrays, and results a tree."""

    def __init__(self, function, takes, out_info, donated):  # donated: index -> its shape and type
        self.function = function
        self.takes = takes if any(takes) else None  # For each leaf what makes an array of it, or None.
        leaves, self.tree = tree_flatten(out_info)
        self.gives = [arrays.giving(leaf) for leaf in leaves]
        self.donated = list(donated)
        self.lends = [arrays.lending(leaf, donated.values()) for leaf in leaves] if donated else None
        self.is_single = self.tree == jax.tree.structure(0)

    def __call__(self, leaves):
        given = leaves if self.takes is None else [take(leaf) if take else leaf for take, leaf in zip(self.takes, leaves)]
        handed = []  # Which leaves JAX gave to this call, and has no more.
        if self.donated:
            given = self._with_donated(leaves, given, handed)
        try:
            results = self.function(*given)
        except TypeError:
            arrays.refuse_deleted(leaf for index, leaf in enumerate(leaves) if index not in handed)
            raise
        for index in self.donated:
            arrays.give_up(leaves[index])
        if not isinstance(results, tuple):
            results = () if results is None else (results,)
        gives = self.lends if self.lends and not baton.Tensor._share_memory(results) else self.gives
        if self.is_single:
            return gives[0](results[0])
        return self.tree.unflatten([give(result) for give, result in zip(gives, results)])

    def _with_donated(self, leaves, given, handed):
        """What the program is given, with memory that it may write where an argument is donated."""
        arrays.refuse_deleted(leaves)
        arrays.refuse_given_twice(leaves, self.donated)
        given = list(given)
        for index in self.donated:
            given[index] = arrays.handing_over(leaves[index], given[index], index, handed)
        return given


class Jitted:
    """A function as jit() gives it. `lower(*arguments)` is its MLIR; `program(*arguments)` what runs."""

    def __init__(self, function, device, libraries, flags, sizes, static, donate):
        functools.update_wrapper(self, function)
        self._function = function
        self._device = device if isinstance(device, Device) else open_device(device)
        self._target = target_of(self._device)
        self._libraries = sequence(libraries, "libraries")
        self._flags = sequence(flags, "flags")
        self._sizes = sizes
        self._static_positions, self._static_names = _static_parameters(function, *static)
        self._staged = jax.jit(function, static_argnums=static[0], static_argnames=static[1], donate_argnums=donate[0],
                               donate_argnames=donate[1], keep_unused=True)
        self._ready = {}  # What a call is (trees, static values, shapes and types) -> _Ready
        self._of_any_size = {}  # The same with names in place of unknown sizes -> _Ready

    def __repr__(self):
        return f"<baton.jax.jit of {getattr(self._function, '__qualname__', self._function)} on {self._device.name}>"

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *arguments, **keywords):
        static, leaves, tree = self._flattened(arguments, keywords)
        try:
            key = (static, tree, arrays.settings(), *map(arrays.kind, leaves))
            ready = self._ready.get(key)
        except arrays.Traced:
            return self._inside(arguments, keywords)
        except TypeError:
            if not static:
                raise
            self._staged.trace(*arguments, **keywords)  # Says which static argument has no hash.
            raise
        if ready is None:
            ready = self._ready[key] = self._make(arguments, keywords, key[0], leaves)
        return ready(leaves)

    def _flattened(self, arguments, keywords):
        """The static values, the leaves of all others, and their trees."""
        if not self._static_names and not self._static_positions:
            return (), *tree_flatten((arguments, keywords))
        static = (tuple((i, type(each), each) for i, each in enumerate(arguments) if i in self._static_positions),  # 1 == 1.0 == True
                  tuple((name, type(keywords[name]), keywords[name]) for name in sorted(keywords) if name in self._static_names))
        return static, *tree_flatten(([None if i in self._static_positions else each for i, each in enumerate(arguments)],
                                      {name: each for name, each in keywords.items() if name not in self._static_names}))

    def _inside(self, arguments, keywords):
        """Called with what JAX traces: a part of a function that is traced for Baton, and of no other."""
        if getattr(_here, "is_tracing", False):
            return self._staged(*arguments, **keywords)
        raise TypeError("a function of baton.jax.jit is called outside of JAX's transformations; put them inside, as in "
                        "baton.jax.jit(jax.grad(f))")

    def lower(self, *arguments, **keywords):
        return self._lowered(arguments, keywords)[0]

    def program(self, *arguments, **keywords):
        text, _, _, callbacks = self._lowered(arguments, keywords)
        return self._load(text, callbacks)

    def _lowered(self, arguments, keywords):
        """The text, the shapes and types of arguments and results, and what the program calls in Python."""
        from baton.jax import frontend
        from baton.jax.callbacks import Callbacks
        callbacks = Callbacks()
        libraries = _lowered_libraries(self._libraries)
        was_tracing, _here.is_tracing = getattr(_here, "is_tracing", False), True
        try:
            if self._sizes is None:
                traced = self._staged.trace(*arguments, **keywords)
                text = frontend.text_of(frontend.lowered(traced, callbacks), None, libraries, callbacks)
                return text, traced.args_info, traced.out_info, callbacks
            exported = frontend.exported(self._staged, self._named(arguments), callbacks, **keywords)
            info = jax.tree.unflatten(exported.out_tree, exported.out_avals)
            return frontend.from_stablehlo(exported.mlir_module(), None, libraries, callbacks), None, info, callbacks
        finally:
            _here.is_tracing = was_tracing

    def _named(self, arguments):
        """The arguments with names of their unknown sizes; static ones as they are."""
        from baton.jax import frontend
        moving = [i for i in range(len(arguments)) if i not in self._static_positions]
        named = frontend.named_sizes([arrays.typed(arguments[i]) for i in moving], self._sizes)
        made = list(arguments)
        for i, each in zip(moving, named):
            made[i] = each
        return made

    def _load(self, text, callbacks):
        modules = [*self._libraries, *filter(None, [callbacks.module()])]
        code = compiled_for_this_machine(text, self._target, self._flags)
        try:
            return load(code, device=self._device, modules=modules)
        except StatusError as error:
            from baton.jax.lines import lines_of_commands
            for name, lines in lines_of_commands(text).items():
                if f"'{name}'" in str(error) or f"{name}:" in str(error):
                    error.add_note(f"{name} is called at {', '.join(lines)}")
            raise

    def _make(self, arguments, keywords, static, leaves):
        kind = None
        if self._sizes is not None:
            named, tree = tree_flatten(self._named_moving(arguments))
            by_name, names = tree_flatten({name: each for name, each in keywords.items() if name not in self._static_names})
            kind = (static, tree, *map(str, named), names, arrays.settings(), *map(arrays.kind, by_name))
            if kind in self._of_any_size:
                return self._of_any_size[kind]
        text, args_info, out_info, callbacks = self._lowered(arguments, keywords)
        donated = {} if args_info is None else {i: each for i, each in enumerate(jax.tree.leaves(args_info)) if each.donated}
        takes = [arrays.taking(leaf) for leaf in leaves]
        ready = _Ready(self._load(text, callbacks)["main"], takes, out_info, donated)
        if kind is not None:
            self._of_any_size[kind] = ready
        return ready

    def _named_moving(self, arguments):
        named = self._named(arguments)
        return [each for i, each in enumerate(named) if i not in self._static_positions]


def jit(function=None, *, device="local-task", libraries=(), flags=(), sizes=None, static_argnums=None, static_argnames=None,
        donate_argnums=None, donate_argnames=None):
    """`function` compiled by Baton for `device`, for each set of shapes and types once.

    `libraries` are modules as load() takes them; what the function calls by jax.ffi.ffi_call("module.command", ...) is a custom
    command of theirs, and where the plugins `lapack` and `fft` are among them, so is what JAX asks LAPACK for and Fourier
    transforms. `sizes` names for each argument its unknown sizes, as ("batch, 8", None): one program takes them all. Static and
    donated arguments are those of jax.jit. `flags` go to baton-compile. Compiled programs are kept in BATON_CACHE, or the user's
    cache folder."""
    if function is None:
        return functools.partial(jit, device=device, libraries=libraries, flags=flags, sizes=sizes, static_argnums=static_argnums,
                                 static_argnames=static_argnames, donate_argnums=donate_argnums, donate_argnames=donate_argnames)
    return Jitted(function, device, libraries, flags, sizes, (static_argnums, static_argnames), (donate_argnums, donate_argnames))
