"""What a program's arguments and results are to its caller: unsigned types, integers of less than a byte, donated buffers, names."""
import collections

from jaxlib.mlir import ir

from .build import Builder, element_of

TENSOR_ANNOTATIONS = ("sdy.", "mhlo.", "jax.", "tf.")
SHARDINGS = ("sdy.", "mhlo.sharding")


def drop_annotations(module):
    """Shardings and notes for other compilers, which their attributes and operations hold."""
    for op in list(module.body.operations):
        if op.operation.name.startswith("sdy."):
            op.operation.erase()
    for name in [name for name in module.operation.attributes if name != "sym_name"]:
        del module.operation.attributes[name]

    def visit(op):
        op = op.operation
        for name in list(op.attributes):
            if name.startswith(TENSOR_ANNOTATIONS) and name != "mhlo.backend_config":
                del op.attributes[name]
        for name in ("arg_attrs", "res_attrs"):
            if op.name == "func.func" and name in op.attributes:
                op.attributes[name] = ir.ArrayAttr.get([_without_shardings(each) for each in ir.ArrayAttr(op.attributes[name])])
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    _drop_constraints(module)


def _without_shardings(attribute):
    return ir.DictAttr.get({name: each for name, each in entries(attribute).items() if not name.startswith(SHARDINGS)})


def _drop_constraints(module):
    """Where a tensor lies is not this compiler's: the tensor itself."""
    found = []

    def visit(op):
        if op.operation.name in ("sdy.sharding_constraint", "sdy.reshard", "sdy.propagation_barrier"):
            found.append(op.operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for op in found:
        op.results[0].replace_all_uses_with(op.operands[0])
        op.erase()


def entries(attribute):
    """A dictionary's attributes by name, in the order of their names."""
    dictionary = ir.DictAttr(attribute)
    return {dictionary[i].name: dictionary[i].attr for i in range(len(dictionary))}


def _dictionaries(function, name, count):
    if name not in function.attributes:
        return [{} for _ in range(count)]
    return [entries(each) for each in ir.ArrayAttr(function.attributes[name])]


class Boundary:
    """Reads what the signatures say before they are lowered, and writes it as Baton's attributes afterwards."""

    def __init__(self, module):
        self.functions = {}
        for op in module.body.operations:
            function = op.operation
            if function.name != "func.func" or not len(function.regions[0].blocks):
                continue
            _give_bytes_to_narrow_integers(function)
            made = ir.FunctionType(function.attributes["function_type"].value)
            arguments = _dictionaries(function, "arg_attrs", len(made.inputs))
            results = _dictionaries(function, "res_attrs", len(made.results))
            self.functions[function.attributes["sym_name"].value] = self._described(made, arguments, results)

    def _described(self, made, arguments, results):
        given, made_types = list(made.inputs), list(made.results)  # Each look at a function's type builds all of them anew.
        new_arguments, new_results = [_encoding(type_) for type_ in given], [_encoding(type_) for type_ in made_types]
        i64 = ir.IntegerType.get_signless(64)
        for i, each in enumerate(arguments):
            if "tf.aliasing_output" in each:
                result = ir.IntegerAttr(each["tf.aliasing_output"]).value
                new_arguments[i]["iree.abi.consume"] = ir.UnitAttr.get()
                new_results[result]["iree.abi.tied"] = ir.IntegerAttr.get(i64, i)
        free = {}
        for j, type_ in enumerate(made_types):
            if "iree.abi.tied" not in new_results[j]:
                free.setdefault(str(type_), collections.deque()).append(j)
        for i, each in enumerate(arguments):  # Donated to the first result that it fits.
            if "jax.buffer_donor" in each and free.get(str(given[i])):
                new_arguments[i]["iree.abi.consume"] = ir.UnitAttr.get()
                new_results[free[str(given[i])].popleft()]["iree.abi.tied"] = ir.IntegerAttr.get(i64, i)
        return new_arguments, new_results

    def write(self, module):
        for op in module.body.operations:
            function = op.operation
            if function.name != "func.func" or function.attributes["sym_name"].value not in self.functions:
                continue
            arguments, results = self.functions[function.attributes["sym_name"].value]
            for name, each in (("arg_attrs", arguments), ("res_attrs", results)):
                function.attributes[name] = ir.ArrayAttr.get([ir.DictAttr.get(attributes) for attributes in each])


def _give_bytes_to_narrow_integers(function):
    """Callers have integers of 2 and 4 bits in a byte each, because buffers have none smaller; the program computes on them as they are."""
    block = function.regions[0].blocks[0]
    end = list(block.operations)[-1].operation
    narrow = [each.type for each in (*block.arguments, *end.operands) if _is_narrow(each.type)]
    if end.name != "func.return" or not narrow:
        return
    for argument in block.arguments:
        if _is_narrow(argument.type):
            element = element_of(argument)
            argument.set_type(_with_bytes(argument.type))
            converted = Builder(ir.InsertionPoint.at_block_begin(block), function.location).convert(argument, element)
            argument.replace_all_uses_except(converted, converted.owner.operation)
    for i, value in enumerate(end.operands):
        if _is_narrow(value.type):
            end.operands[i] = Builder.before(end).convert(value, _with_bytes(value.type).element_type)
    made = ir.FunctionType.get([each.type for each in block.arguments], [each.type for each in end.operands])
    function.attributes["function_type"] = ir.TypeAttr.get(made)


def _is_narrow(type_):
    if not isinstance(type_, ir.RankedTensorType) or not isinstance(type_.element_type, ir.IntegerType):
        return False
    return 1 < type_.element_type.width < 8  # Booleans have bytes without this.


def _with_bytes(type_):
    made = ir.IntegerType.get_unsigned(8) if type_.element_type.is_unsigned else ir.IntegerType.get_signless(8)
    return ir.RankedTensorType.get(type_.shape, made)


def _encoding(type_):
    """The type that the caller sees, where the program computes on another."""
    if not isinstance(type_, ir.RankedTensorType):
        return {}
    element = type_.element_type
    if isinstance(element, ir.ComplexType) or (isinstance(element, ir.IntegerType) and element.is_unsigned):
        return {"iree.abi.encoding": ir.TypeAttr.get(type_)}
    return {}
