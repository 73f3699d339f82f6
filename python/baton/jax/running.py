"""Windows that reach back to where the tensor begins, or on to its end, as running sums have them: runs side by side, each of which
knows what stands before it; on cores one pass, which adds floats in wider ones.
"""
from jaxlib.mlir import ir

from .build import Builder, element_of, integers, is_integer, shape_of, tensor_type
from .on_cores import call_either
from .sorting import replace
from .windows import is_closed, numbers_of, padding_of
from .windows_unknown import padded

FEW_ELEMENTS = 16  # As windows they are one kernel.
RUN = 16  # Elements that are joined with all before them in their run.
SHORT_RUN = 4  # The same where joining takes more time than memory does; cores join those that follow each other in memory no sooner so.


def lower_running(op, module):
    """True when the operation is gone."""
    found = _running_dimension(op)
    shape = shape_of(op.operands[0])
    if found is None or shape[found[0]] <= FEW_ELEMENTS:
        return False
    b, (dimension, is_backward) = Builder.before(op), found
    values, firsts = list(op.operands)[:len(op.results)], list(op.operands)[len(op.results):]
    combiner = op.regions[0].blocks[0]
    body = _body(combiner, values, firsts)
    if body is None:
        replace(op, _joined(b, module, combiner, values, firsts, dimension, is_backward))
        return True

    def rounds(inner, arguments):
        first = inner.scalar(body.neutral, element_of(values[0]))
        return _rounds(inner, combiner, arguments, [first], dimension, is_backward, RUN)

    def one_pass(name):
        return _one_pass(name, shape, body, dimension, is_backward)

    replace(op, call_either(b, module, "running", values, [values[0].type], rounds, one_pass))
    return True


def _joined(b, module, combiner, values, firsts, dimension, is_backward):
    """By any combiner."""
    def rounds(run):
        return lambda inner, given: _rounds(inner, combiner, given[:len(values)], given[len(values):], dimension, is_backward, run)

    operands = [*values, *firsts]
    if not any(op.operation.name in SLOW for op in combiner.operations):
        return rounds(RUN)(b, operands)
    if dimension < len(shape_of(values[0])) - 1 or not is_closed(combiner):
        return rounds(SHORT_RUN)(b, operands)
    return call_either(b, module, "joined", operands, [each.type for each in values], rounds(RUN), on_blocks=rounds(SHORT_RUN))


def _running_dimension(op):
    """Along which each window holds all elements before its own (or all behind it, then the second result is True); or None."""
    shape, rank = shape_of(op.operands[0]), len(shape_of(op.operands[0]))
    window = numbers_of(op, "window_dimensions", [1] * rank)
    steps = [numbers_of(op, name, [1] * rank) for name in ("window_strides", "window_dilations", "base_dilations")]
    wide = [i for i, size in enumerate(window) if size != 1]
    if len(wide) != 1 or shape[wide[0]] != window[wide[0]] or any(each != 1 for every in steps for each in every):
        return None
    (dimension,) = wide
    around, reach = padding_of(op, rank), window[dimension] - 1
    if any(around[i] != (0, 0) for i in range(rank) if i != dimension) or around[dimension] not in ((reach, 0), (0, reach)):
        return None
    return dimension, around[dimension] == (0, reach)


def _rounds(b, combiner, values, firsts, dimension, is_backward, run):
    """Runs of so many elements side by side: what each of them joins to, what those before a run join to (the same again, of fewer elements), then each
    element from what stands before its run and from the elements of the run up to itself."""
    shape = shape_of(values[0])
    if shape[dimension] <= run:
        one_run = _divided(shape, dimension, shape[dimension])
        made = _run(b, combiner, [b.reshape(each, one_run) for each in values], firsts, dimension, is_backward)
        return [b.reshape(each, shape) for each in made]
    count = -(-shape[dimension] // run)
    missing = count * run - shape[dimension]
    runs = [b.reshape(_with_room(b, each, first, dimension, missing, is_backward), _divided(shape, dimension, run))
            for each, first in zip(values, firsts)]
    before = _rounds(b, combiner, _reduced(b, combiner, runs, firsts, dimension + 1), firsts, dimension, is_backward, run)
    low = [0] * len(shape)
    low[dimension] = -1 if is_backward else 1
    divided = shape_of(runs[0])
    beside = [i for i in range(len(divided)) if i != dimension + 1]
    before = [b.broadcast(_moved(b, each, first, low), divided, beside) for each, first in zip(before, firsts)]
    inside = _run(b, combiner, runs, firsts, dimension, is_backward)
    made = b.apply(combiner, [*inside, *before] if is_backward else [*before, *inside])
    made = [b.reshape(each, _undivided(shape, dimension, count * run)) for each in made]
    begin, end = [0] * len(shape), list(shape)
    if is_backward:
        begin[dimension], end[dimension] = missing, missing + shape[dimension]
    return made if missing == 0 else [b.slice(each, begin, end) for each in made]


def _divided(shape, dimension, run):
    """Of a tensor with runs of so many elements as a dimension behind that of the runs."""
    return [*shape[:dimension], -(-shape[dimension] // run), run, *shape[dimension + 1:]]


def _undivided(shape, dimension, size):
    return [*shape[:dimension], size, *shape[dimension + 1:]]


def _with_room(b, value, first, dimension, missing, is_backward):
    """With what changes nothing where the last run, or the first, has no element."""
    none = [0] * len(shape_of(value))
    room = list(none)
    room[dimension] = missing
    return padded(b, value, first, *((room, none) if is_backward else (none, room)), [1] * len(none))


def _run(b, combiner, values, firsts, dimension, is_backward):
    """Each element joined with those of its run that stand before it, or behind it."""
    runs = shape_of(values[0])
    beside = [*runs[:dimension + 2], *runs[dimension + 1:]]  # An element, then those that it may be joined with.
    mine, other = b.iota(beside, dimension + 1), b.iota(beside, dimension + 2)
    joins = b.compare("GE" if is_backward else "LE", other, mine)
    dimensions = [i for i in range(len(beside)) if i != dimension + 1]
    seen = [b.select(joins, b.broadcast(each, beside, dimensions), b.broadcast(first, beside, [])) for each, first in zip(values, firsts)]
    return _reduced(b, combiner, seen, firsts, dimension + 2)


def _reduced(b, combiner, values, firsts, dimension):
    """stablehlo.reduce by the region of another operation."""
    shape = shape_of(values[0])
    del shape[dimension]
    op = b.operation("stablehlo.reduce", [*values, *firsts], [tensor_type(shape, element_of(each)) for each in values],
                     {"dimensions": integers([dimension])}, regions=1)
    lent = combiner.owner.clone(ip=b.point)
    lent.regions[0].blocks[0].append_to(op.regions[0])
    lent.erase()
    return list(op.results)


def _moved(b, value, first, low):
    """Elements go up by `low`; `first` comes where none is."""
    return padded(b, value, first, low, [-each for each in low], [1] * len(low))


# On cores ------------------------------------------------------------------------------------------------------------

# By operation: of floats and of integers, and the number that changes nothing.
OPERATIONS = {
    "stablehlo.add": ("arith.addf", "arith.addi", lambda element: 0),
    "stablehlo.multiply": ("arith.mulf", "arith.muli", lambda element: 1),
    "stablehlo.maximum": ("arith.maximumf", "arith.maxsi", lambda element: _extreme(element, -1)),
    "stablehlo.minimum": ("arith.minimumf", "arith.minsi", lambda element: _extreme(element, 1)),
}
SLOW = {f"stablehlo.{name}" for name in ("exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "power", "tanh", "sine", "cosine")}
WIDER = {"f16": "f32", "bf16": "f32", "f32": "f64", "f64": "f64"}


def _extreme(element, sign):
    if not is_integer(element):
        return sign * float("inf")
    return -(1 << (element.width - 1)) if sign < 0 else (1 << (element.width - 1)) - 1


class Body:
    """One operation on one tensor of floats, or of integers without signs of their own, from the number that changes nothing."""

    def __init__(self, element, name):
        of_floats, of_integers, neutral = OPERATIONS[name]
        self.element, self.neutral = str(element), neutral(element)
        self.operation = of_integers if is_integer(element) else of_floats
        self.carried = WIDER[self.element] if self.operation in ("arith.addf", "arith.mulf") else self.element

    def lines(self):
        """From %x, an element, and %carried, what is carried: %next, and %given, of the element's type."""
        if self.carried == self.element:
            return [f"%next = {self.operation} %carried, %x : {self.carried}"], "%next"
        return [f"%wide = arith.extf %x : {self.element} to {self.carried}", f"%next = {self.operation} %carried, %wide : {self.carried}",
                f"%given = arith.truncf %next : {self.carried} to {self.element}"], "%given"

    def number(self):
        if self.operation in ("arith.maximumf", "arith.minimumf"):
            bits = {"f16": 0x7c00, "bf16": 0x7f80, "f32": 0x7f800000, "f64": 0x7ff0000000000000}[self.element]
            width = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}[self.element]
            return hex(bits | (1 << (width - 1)) if self.neutral < 0 else bits)
        return str(float(self.neutral) if self.operation.endswith("f") else self.neutral)


def _body(combiner, values, firsts):
    """What one pass does; None where it is anything else."""
    operations = [each.operation for each in combiner.operations]
    if len(values) != 1 or len(operations) != 2 or operations[0].name not in OPERATIONS:
        return None
    if {*operations[0].operands} != {*combiner.arguments} or operations[1].operands[0] != operations[0].results[0]:
        return None
    element = element_of(values[0])
    good = is_integer(element) and element.is_signless and element.width in (8, 16, 32, 64) or str(element) in WIDER
    body = Body(element, operations[0].name) if good else None
    return body if body and _constant(firsts[0]) == body.neutral else None


def _constant(value):
    """The number that a tensor of no dimensions holds, where it is written."""
    op = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if op is not None and op.name == "stablehlo.broadcast_in_dim":
        return _constant(op.operands[0])
    if op is None or op.name != "stablehlo.constant":
        return None
    splat = ir.DenseElementsAttr(op.attributes["value"]).get_splat_value()
    return splat.value


def _one_pass(name, shape, body, dimension, is_backward):
    """A function of linalg, whose loop along the dimension goes in order: the last element it made is carried to the next."""
    loops = [f"d{i}" for i in range(len(shape))]
    turned = [f"{shape[dimension] - 1} - {each}" if i == dimension else each for i, each in enumerate(loops)]
    straight, back = (f"affine_map<({', '.join(loops)}) -> ({', '.join(each)})>" for each in (loops, turned))
    beside = f"affine_map<({', '.join(loops)}) -> ({', '.join(loops[:dimension] + loops[dimension + 1:])})>"
    whole = _type(shape, body.element)
    carried = _type(shape[:dimension] + shape[dimension + 1:], body.carried)
    kinds = ", ".join('"reduction"' if i == dimension else '"parallel"' for i in range(len(shape)))
    lines, given = body.lines()
    inner = "\n".join("      " + line for line in lines)
    turn_back = f"""
    %made = tensor.empty() : {whole}
    %turned = linalg.generic {{indexing_maps = [{back}, {straight}], iterator_types = [{', '.join(['"parallel"'] * len(shape))}]}}
        ins(%run#1 : {whole}) outs(%made : {whole}) {{
    ^bb0(%x: {body.element}, %old: {body.element}):
      linalg.yield %x : {body.element}
    }} -> {whole}
    return %turned : {whole}"""
    return f"""func.func private @{name}(%values: {whole}) -> {whole} {{
    %first = arith.constant {body.number()} : {body.carried}
    %memory = tensor.empty() : {carried}
    %begin = linalg.fill ins(%first : {body.carried}) outs(%memory : {carried}) -> {carried}
    %places = tensor.empty() : {whole}
    %run:2 = linalg.generic {{indexing_maps = [{back if is_backward else straight}, {beside}, {straight}], iterator_types = [{kinds}]}}
        ins(%values : {whole}) outs(%begin, %places : {carried}, {whole}) {{
    ^bb0(%x: {body.element}, %carried: {body.carried}, %old: {body.element}):
{inner}
      linalg.yield %next, {given} : {body.carried}, {body.element}
    }} -> ({carried}, {whole}){turn_back if is_backward else f'''
    return %run#1 : {whole}'''}
}}"""


def _type(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"
