"""Complex numbers of two f32 as words of 64 bits, whose halves they are: what callers pass and get, and what kernels may read and write."""
from jaxlib.mlir import ir

from .build import element_of, shape_of, tensor_type
from .scalars import owner_of


def split_word(b, word):
    """Both parts."""
    shape, u32 = shape_of(word), ir.IntegerType.get_unsigned(32)

    def floats(value):
        return b.value("stablehlo.bitcast_convert", [b.convert(value, u32)], tensor_type(shape, ir.F32Type.get()))

    return floats(word), floats(b.each("shift_right_logical", word, b.like(word, 32)))


def joined_word(b, pair):
    """The word that the parts are of, or a new one."""
    if known := word_of(pair):
        return known
    u32, i64 = ir.IntegerType.get_unsigned(32), ir.IntegerType.get_signless(64)
    shape = shape_of(pair[0])
    low, high = (b.convert(b.value("stablehlo.bitcast_convert", [each], tensor_type(shape, u32)), i64) for each in pair)
    return b.either(low, b.each("shift_left", high, b.like(high, 32)))


def word_of(pair):
    """The word that `split_word` made a pair of, or None."""
    low, shifted = (_behind(_behind(each, "bitcast_convert"), "convert") for each in pair)
    word = _behind(shifted, "shift_right_logical")
    if low is None or word is None or low != word or not _is_half(owner_of(shifted).operands[1]):
        return None
    return word if str(element_of(word)) == "i64" else None


def _behind(value, name):
    """The first operand of the operation of this name that makes a value; None where another one does."""
    op = owner_of(value) if value is not None else None
    return op.operands[0] if op is not None and op.name == "stablehlo." + name else None


def _is_half(bits):
    op = owner_of(bits)
    if op is None or op.name != "stablehlo.constant":
        return False
    numbers = ir.DenseElementsAttr(op.attributes["value"])
    return numbers.is_splat and ir.IntegerAttr(numbers.get_splat_value()).value == 32
