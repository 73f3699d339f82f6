"""Tokens, by which JAX orders callbacks: a program does all in its order, so that they go, from loops, branches and signatures, too."""
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from . import lines
from .boundary import entries
from .build import Builder

# Which operations have tokens among their values; all others that do are refused by name.
WITH_TOKENS = {"stablehlo.while", "stablehlo.if", "stablehlo.case", "stablehlo.optimization_barrier", "stablehlo.return", "func.return"}


def drop_tokens(operations):
    """`operations` stand behind those inside of them."""
    concerned = [op for op in operations if _has_tokens(op)]
    if not concerned:
        return
    tokens = {}
    for op in concerned:
        if op.name not in WITH_TOKENS | {"func.func", "stablehlo.create_token", "stablehlo.after_all", "stablehlo.custom_call"}:
            raise NotImplementedError(lines.said(op, f"{op.name} is not lowered: a program has no channels to its host"))
        function = _function_of(op)
        if function not in tokens:
            block = function.regions[0].blocks[0]
            tokens[function] = Builder(ir.InsertionPoint.at_block_begin(block), function.location).value(
                "stablehlo.create_token", [], stablehlo.TokenType.get())
    for op in concerned:
        for value in (*op.results, *_arguments(op)):
            if _is_token(value.type):
                value.replace_all_uses_with(tokens[_function_of(op)])
    for op in concerned:
        for region in op.regions:
            for block in region.blocks:
                for i in reversed(range(len(block.arguments))):
                    if _is_token(block.arguments[i].type):
                        block.erase_argument(i)
        if op.name == "func.func":
            _drop_from_signature(op)
        elif op.name in WITH_TOKENS:
            _rebuild(op)
        else:
            assert op.name != "stablehlo.custom_call" or not len(op.results)
            op.erase()
    for token in tokens.values():
        token.owner.erase()


def _has_tokens(op):
    if op.name == "func.func":
        made = ir.FunctionType(op.attributes["function_type"].value)
        return any(map(_is_token, (*made.inputs, *made.results)))
    return any(_is_token(value.type) for value in (*op.operands, *op.results, *_arguments(op)))


def _arguments(op):
    return [argument for region in op.regions for block in region.blocks for argument in block.arguments]


def _is_token(type_):
    return stablehlo.TokenType.isinstance(type_)


def _function_of(op):
    while op.name != "func.func":
        op = op.parent.operation
    return op


def _rebuild(op):
    made = ir.Operation.create(op.name, results=[each.type for each in op.results if not _is_token(each.type)],
                               operands=[each for each in op.operands if not _is_token(each.type)],
                               attributes=dict(op.attributes.items()), regions=len(op.regions), loc=op.location, ip=ir.InsertionPoint(op))
    for region, source in zip(made.regions, op.regions):
        source.blocks[0].append_to(region)
    for value, result in zip([each for each in op.results if not _is_token(each.type)], made.results):
        value.replace_all_uses_with(result)
    op.erase()


def _drop_from_signature(function):
    made = ir.FunctionType(function.attributes["function_type"].value)
    for name, types in (("arg_attrs", made.inputs), ("res_attrs", made.results)):
        if name in function.attributes:
            kept = [_with_place(each, made.results) for each, type_ in zip(ir.ArrayAttr(function.attributes[name]), types) if not _is_token(type_)]
            function.attributes[name] = ir.ArrayAttr.get(kept)
    kept = [[each for each in types if not _is_token(each)] for types in (made.inputs, made.results)]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(*kept))


def _with_place(attributes, results):
    """A donated argument names its result by its place, which is another one without the tokens before it."""
    found = entries(attributes)
    if "tf.aliasing_output" in found:
        place = ir.IntegerAttr(found["tf.aliasing_output"])
        found["tf.aliasing_output"] = ir.IntegerAttr.get(place.type, place.value - sum(map(_is_token, list(results)[:place.value])))
    return ir.DictAttr.get(found)
