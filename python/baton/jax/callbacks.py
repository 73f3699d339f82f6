"""Callbacks into Python: jax.debug.print, jax.debug.callback, jax.pure_callback and io_callback, and spsolve, which is one of SciPy.

A callback is an import, `callbacks.pure_callback_0_name`, a function of the host: the program waits for its arguments, calls it and goes on
with its results, so that callbacks run in the order in which the function has them, on every device. Who runs the program in the
process that traced it (baton.jax.jit) gives it the module of `Callbacks`; a program that is written to a file cannot have them.

What NumPy and programs don't share goes as what they do: complex numbers as two tensors, small floats as their bits, integers of less than 8
bits as some of 8. Where the size of a result is not known, the program says which one it has to be, in a tensor behind the arguments.
"""
import functools
import re
import sys

import numpy as np
from jaxlib.mlir import ir

from . import lines
from .boundary import entries
from .build import Builder, element_of, shape_of, tensor_type

TARGET = "baton.callback"
OF_JAX = re.compile(r"xla(_ffi)?(_partitioned)?(_buffer)?_python_(cpu|gpu)_callback")  # Lowered by JAX itself, with pointers into its process.
SMALL_FLOATS = re.compile(r"f8E\w+")


class Callbacks:
    """What a function calls in Python, found while JAX lowers it."""

    def __init__(self):
        self.functions = {}  # By name.

    def rules(self):
        """How JAX lowers the primitives of callbacks; nothing with a version of JAX that has them elsewhere."""
        try:
            from jax._src import callback, debugging
            calls = {"pure_callback": (callback.pure_callback_p, callback.pure_callback_impl),
                     "io_callback": (callback.io_callback_p, callback.io_callback_impl),
                     "debug_callback": (debugging.debug_callback_p, debugging.debug_callback_impl),
                     "debug_print": (debugging.debug_print_p, debugging.debug_print_impl)}
            if sparse := sys.modules.get("jax.experimental.sparse.linalg"):  # Who calls it has imported it.
                calls["spsolve"] = sparse.spsolve_p, _solved_by_scipy
        except (ImportError, AttributeError):
            return ()
        return tuple((primitive, functools.partial(self._lower, kind, function)) for kind, (primitive, function) in calls.items())

    def module(self):
        """The module that the program imports from; None where it calls nothing."""
        import baton
        return baton.module("callbacks", self.functions) if self.functions else None

    def _lower(self, kind, function, context, *operands, **parameters):
        from jax._src import core
        from jax._src.interpreters import mlir
        takes, gives = ([core.physical_aval(each) for each in avals] for avals in (context.avals_in, context.avals_out))
        name = "_".join(filter(None, (kind, str(len(self.functions)), _name_of(parameters.get("callback")))))
        shapes = [each.shape if core.is_constant_shape(each.shape) else None for each in gives]
        self.functions[name] = Callback(name, functools.partial(function, **parameters), [each.dtype for each in takes],
                                        [(shape, each.dtype) for shape, each in zip(shapes, gives)])
        operands = list(operands)
        for shape, each in zip(shapes, gives):
            if shape is None:
                operands.append(mlir.eval_dynamic_shape_as_tensor(context, each.shape))
        if context.tokens_in.effects():
            context.set_tokens_out(context.tokens_in)
        call = mlir.custom_call(TARGET, result_types=[mlir.aval_to_ir_type(context.module_context, each) for each in gives],
                                operands=operands, backend_config={"name": ir.StringAttr.get(name)}, has_side_effect=True)
        return list(call.results)


def _solved_by_scipy(data, indices, indptr, b, *, tol, reorder):
    """What JAX does on CPUs for jax.experimental.sparse.linalg.spsolve."""
    from scipy.sparse import csr_matrix, linalg
    return [linalg.spsolve(csr_matrix((data, indices, indptr), shape=(b.size, b.size)), b).astype(b.dtype)]


def _name_of(function):
    """Of the function that the user wrote, as far as symbols go."""
    function = getattr(function, "callback_func", function)
    if getattr(function, "__name__", "") == "_flat_callback":  # JAX's, around that of jax.debug.callback.
        function = next((each.cell_contents for each in function.__closure__ or () if callable(each.cell_contents)), function)
    while isinstance(function, functools.partial):
        function = function.func
    return re.sub(r"\W", "", getattr(function, "__name__", ""))


class Callback:
    """A function of Python between tensors of a program: arrays that are its own, and results as they were declared."""

    def __init__(self, name, function, takes, gives):
        self.name, self.function, self.takes, self.gives = name, function, takes, gives

    def __call__(self, *tensors):
        tensors = list(tensors)
        arguments = [_array(tensors, dtype) for dtype in self.takes]
        results = list(self.function(*arguments))
        if len(results) != len(self.gives):
            raise ValueError(f"{self.name} returned {len(results)} arrays, and {len(self.gives)} are declared")
        given = []
        for i, (result, (shape, dtype)) in enumerate(zip(results, self.gives)):
            if shape is None:
                shape = tuple(np.asarray(tensors.pop(0)).tolist())
            given += _tensors(self._checked(i, result, shape, dtype))
        return tuple(given) if len(given) > 1 else given[0] if given else None

    def _checked(self, i, result, shape, dtype):
        from jax.dtypes import canonicalize_dtype
        array = np.asarray(result)
        array = array.astype(canonicalize_dtype(array.dtype), copy=False)  # Of 64 bits where JAX has such numbers now.
        if array.dtype != dtype or array.shape != shape:
            raise ValueError(f"{self.name} returned {array.dtype}{list(array.shape)} as result {i}, and {dtype}{list(shape)} is declared")
        return array


def _array(tensors, dtype):
    """The next argument of them, a copy: the program may write its memory afterwards."""
    if dtype.kind == "c":
        real, imaginary = (np.asarray(tensors.pop(0)) for _ in range(2))
        array = np.empty(real.shape, dtype)
        array.real, array.imag = real, imaginary
        return array
    array = np.array(tensors.pop(0))
    if _is_small_integer(dtype):
        return array.astype(dtype)
    return array if array.dtype == dtype else array.view(dtype)


def _tensors(array):
    """What the program gets of a result: again a copy, because it may write there, and the function may have it elsewhere, too."""
    dtype = array.dtype
    if dtype.kind == "c":
        return [np.array(array.real, order="C"), np.array(array.imag, order="C")]
    if _is_small_integer(dtype):
        return [array.astype(np.int8)]
    array = np.array(array, order="C")
    if dtype.kind == "u" or SMALL_FLOATS.search(dtype.name.replace("float8_e", "f8E")):
        array = array.view(f"i{dtype.itemsize}")
    return [array]


def _is_small_integer(dtype):
    return dtype.name in ("int4", "uint4", "int2", "uint2")


# In the program --------------------------------------------------------------------------------------------------------------


def lower_callbacks(module, operations, callbacks):
    """Calls of imports, where `callbacks` are there to be called."""
    for op in operations:
        if op.name != "stablehlo.custom_call":
            continue
        target = ir.StringAttr(op.attributes["call_target_name"]).value
        if OF_JAX.fullmatch(target):
            found = re.search(r"/(\w*callback|debug_print)\b", str(op.location))
            kind = found[1] if found else "callback"
            if callbacks is not None:
                raise NotImplementedError(lines.said(op, f"{kind} is not lowered: of callbacks pure_callback, io_callback and those of jax.debug are"))
            _refuse(op, f"a {kind}")
        if target == TARGET:
            name = entries(op.attributes["mhlo.backend_config"])["name"].value
            if callbacks is None:
                _refuse(op, name)
            _lower_callback(op, module, name)


def _refuse(op, name):
    raise NotImplementedError(lines.said(op, f"{name} calls a function of Python, which a program outside of this process does not reach: "
                                             "baton.jax.jit runs it; or give a command (jax.ffi.ffi_call) or a result in its place"))


def _lower_callback(op, module, name):
    b = Builder.before(op)
    given = [part for value in op.operands for part in _parts(b, value)]
    results = [type_ for value in op.results for type_ in _part_types(value)]
    symbol = "callbacks." + name
    if symbol not in {each.operation.attributes["sym_name"].value for each in module.body.operations if "sym_name" in each.operation.attributes}:
        function = ir.TypeAttr.get(ir.FunctionType.get([each.type for each in given], results))
        attributes = {"sym_name": ir.StringAttr.get(symbol), "function_type": function, "sym_visibility": ir.StringAttr.get("private")}
        ir.Operation.create("func.func", attributes=attributes, regions=1, loc=op.location, ip=ir.InsertionPoint.at_block_begin(module.body))
    made = list(b.operation("func.call", given, results, {"callee": ir.FlatSymbolRefAttr.get(symbol)}).results)
    for result in op.results:
        result.replace_all_uses_with(_whole(b, result, made))
    op.erase()


def _parts(b, value):
    element = element_of(value)
    if isinstance(element, ir.ComplexType):
        return [b.value("stablehlo." + name, [value], _part_types(value)[0]) for name in ("real", "imag")]
    (type_,) = _part_types(value)
    if type_ == value.type:
        return [value]
    return [b.value(_conversion(element), [value], type_)]


def _part_types(value):
    shape, element = shape_of(value), element_of(value)
    if isinstance(element, ir.ComplexType):
        return [tensor_type(shape, ir.ComplexType(element).element_type)] * 2
    if _is_small_float(element) or isinstance(element, ir.IntegerType) and 1 < element.width < 8:
        return [tensor_type(shape, ir.IntegerType.get_signless(8))]
    if isinstance(element, ir.IntegerType) and element.is_unsigned:
        return [tensor_type(shape, ir.IntegerType.get_signless(element.width))]
    return [value.type]


def _whole(b, value, made):
    """What takes the place of a result, from the next ones of the call."""
    element = element_of(value)
    if isinstance(element, ir.ComplexType):
        return b.value("stablehlo.complex", [made.pop(0), made.pop(0)], value.type)
    part = made.pop(0)
    if part.type == value.type:
        return part
    return b.value(_conversion(element), [part], value.type)


def _conversion(element):
    return "stablehlo.bitcast_convert" if _is_small_float(element) or element.width >= 8 else "stablehlo.convert"


def _is_small_float(element):
    return bool(SMALL_FLOATS.match(str(element)))
