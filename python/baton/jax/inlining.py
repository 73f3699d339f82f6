"""Replaces calls of functions, and composites, by their bodies, also inside the regions of StableHLO, which MLIR's own inliner passes over."""
from jaxlib.mlir import ir


def inline_calls(module):
    functions = {op.attributes["sym_name"].value: op.operation for op in module.body.operations if op.operation.name == "func.func"}
    while True:
        calls = [call for call in _calls(module) if _has_body(functions.get(_callee(call)))]
        if not calls:
            break
        for call in calls:
            _inline(call, functions[_callee(call)])
    for function in functions.values():
        if "sym_visibility" in function.attributes and function.attributes["sym_visibility"].value == "private" and _has_body(function):
            function.erase()


def _callee(call):
    return call.attributes["callee" if call.name == "func.call" else "decomposition"].value


def _has_body(function):
    return function is not None and len(function.regions[0].blocks) == 1


def _calls(module):
    """Calls in functions that stay: those in private ones go with them."""
    found = []

    def visit(op):
        if op.operation.name in ("func.call", "stablehlo.composite"):
            found.append(op.operation)
        return ir.WalkResult.ADVANCE

    for function in module.body.operations:
        if "sym_visibility" not in function.attributes or function.attributes["sym_visibility"].value != "private":
            function.operation.walk(visit)
    return found


def _inline(call, function):
    clone = function.clone(ip=ir.InsertionPoint.after(function))
    block = clone.regions[0].blocks[0]
    for argument, operand in zip(block.arguments, call.operands):
        argument.replace_all_uses_with(operand)
    for op in list(block.operations):
        if op.operation.name == "func.return":
            for result, value in zip(call.results, op.operands):
                result.replace_all_uses_with(value)
        else:
            op.operation.move_before(call)
    call.erase()
    clone.erase()
