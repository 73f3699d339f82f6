"""Cholesky and triangular solves of matrices of known sizes, in blocks: what goes column after column stays in a block, and products of
matrices do the rest. A product runs at a device's rate, and a round over all of a matrix at that of its memory.
"""
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .build import element_of, shape_of, tensor_type

BLOCK = 32
# Each panel of a factorization is a loop of its own to compile; the blocks of a solve are inverted by one.
PANELS, SOLVED_BLOCKS = 8, 16


def is_worth_it(size):
    """Whether one block would not be most of it, and its size is known."""
    return isinstance(size, int) and size >= 2 * BLOCK


def _block_of(size, most):
    """Columns of a block, of which there are so many at most."""
    return max(BLOCK, -(-size // (most * BLOCK)) * BLOCK)


def product(b, x, y, turned=False):
    """x y of the last two dimensions, batches together; of y turned."""
    batch = list(range(len(shape_of(x)) - 2))
    rank = len(batch)
    numbers = stablehlo.DotDimensionNumbers.get(
        lhs_batching_dimensions=batch, rhs_batching_dimensions=batch, lhs_contracting_dimensions=[rank + 1],
        rhs_contracting_dimensions=[rank + 1 if turned else rank])
    shape = [*shape_of(x)[:-1], shape_of(y)[-2 if turned else -1]]
    return b.value("stablehlo.dot_general", [x, y], tensor_type(shape, element_of(x)), {"dot_dimension_numbers": numbers})


def part(b, a, rows, columns):
    """Rows and columns from a number to behind another, of the last two dimensions."""
    shape = shape_of(a)
    none = [0] * (len(shape) - 2)
    return b.slice(a, [*none, rows[0], columns[0]], [*shape[:-2], rows[1], columns[1]])


def with_room(b, a, low, high):
    """With zeros before and behind its rows and columns."""
    none = [0] * (len(shape_of(a)) - 2)
    return b.pad(a, 0, [*none, *low], [*none, *high])


def triangle_solved(b, a, right, lower, inverted):
    """a x = right; `inverted` gives the inverses of triangles, many at once."""
    size = shape_of(a)[-1]
    block = _block_of(size, SOLVED_BLOCKS)
    missing = -size % block
    if missing:
        # What is not there is ones on the diagonal, which concern no other row.
        a, right = with_room(b, a, (0, 0), (missing, missing)), with_room(b, right, (0, 0), (missing, 0))
    count = (size + missing) // block
    heads = _diagonal_blocks(b, a, count, block, size)
    inverses = inverted(heads)
    solved = [None] * count
    order = range(count) if lower else range(count - 1, -1, -1)
    left = right
    for i in order:
        # `left` holds the rows that are not solved.
        first = 0 if lower else i * block
        mine = part(b, left, (first, first + block), (0, shape_of(left)[-1]))
        inverse = _one_of(b, inverses, i)
        x = product(b, inverse, mine)
        # Once more, of what is left of it: an inverse is less exact than what goes row by row.
        solved[i] = b.add(x, product(b, inverse, b.subtract(mine, product(b, _one_of(b, heads, i), x))))
        others = ((i + 1) * block, count * block) if lower else (0, i * block)
        if others[0] == others[1]:
            break
        rest = part(b, left, (block, shape_of(left)[-2]) if lower else (0, i * block), (0, shape_of(left)[-1]))
        factors = part(b, a, others, (i * block, (i + 1) * block))
        left = b.subtract(rest, product(b, factors, solved[i]))
    made = b.concatenate(solved, len(shape_of(right)) - 2)
    return made if not missing else part(b, made, (0, size), (0, shape_of(right)[-1]))


def _diagonal_blocks(b, a, count, block, size):
    """All of them, as a dimension before the last two; behind `size` ones on the diagonal."""
    shape = shape_of(a)
    rank = len(shape) - 2
    tiled = b.reshape(a, [*shape[:-2], count, block, count, block])
    here = b.compare("EQ", b.iota(shape_of(tiled), rank), b.iota(shape_of(tiled), rank + 2))
    blocks = b.reduce("add", b.select(here, tiled, b.like(tiled, 0)), 0, rank + 2)
    if size == count * block:
        return blocks
    row, column = (b.iota(shape_of(blocks), dimension) for dimension in (rank + 1, rank + 2))
    place = b.add(row, b.multiply(b.iota(shape_of(blocks), rank), block))
    behind = b.both(b.compare("GE", place, size), b.compare("EQ", row, column))
    return b.select(behind, b.like(blocks, 1), blocks)


def _one_of(b, blocks, i):
    shape = shape_of(blocks)
    rank = len(shape) - 3
    one = b.slice(blocks, [*[0] * rank, i, 0, 0], [*shape[:-3], i + 1, *shape[-2:]])
    return b.reshape(one, [*shape[:-3], *shape[-2:]])


def cholesky_of(b, a, panel, conjugate):
    """The lower factor, with anything above its diagonal; `panel` factors the first columns of a matrix and what is below them."""
    size = shape_of(a)[-1]
    block = _block_of(size, PANELS)
    made = []
    for begin in range(0, size, block):
        width = min(block, size - begin)
        rows = size - begin
        columns = panel(part(b, a, (0, rows), (0, width)))
        made.append(with_room(b, columns, (begin, 0), (0, 0)))
        if width == rows:
            break
        below = part(b, columns, (width, rows), (0, width))
        rest = part(b, a, (width, rows), (width, rows))
        a = b.subtract(rest, product(b, below, conjugate(below), turned=True))
    return b.concatenate(made, len(shape_of(made[0])) - 1)


def cholesky_by_products(b, a, panel):
    """The same of a real matrix where few columns take turns at all: only blocks on the diagonal are factored column by column, which
    gives their inverses, too, and what is below a block is a product with its inverse. Each block is a turn of a loop, over all of the
    matrix, so that there is little to compile."""
    size, rank = shape_of(a)[-1], len(shape_of(a)) - 2
    missing = -size % BLOCK
    if missing:
        a = _with_ones(b, a, missing)
    shape = shape_of(a)
    head_shape, side_shape = [*shape[:-2], BLOCK, BLOCK], [*shape[:-1], BLOCK]
    one = b.select(b.compare("EQ", b.iota(head_shape, rank), b.iota(head_shape, rank + 1)), *(b.full(head_shape, i, element_of(a)) for i in (1, 0)))
    is_lower = b.compare("GE", b.iota(head_shape, rank), b.iota(head_shape, rank + 1))
    row, none = b.iota(side_shape, rank), [b.scalar(0)] * rank

    def step(s, carried):
        begin, a = carried
        end = s.add(begin, s.scalar(BLOCK))
        both = panel(s, s.concatenate([s.dynamic_slice(a, [*none, begin, begin], head_shape), one], rank))
        lower = s.select(is_lower, part(s, both, (0, BLOCK), (0, BLOCK)), s.like(one, 0))
        inverse = part(s, both, (BLOCK, 2 * BLOCK), (0, BLOCK))  # Turned.
        side = s.dynamic_slice(a, [*none, s.scalar(0), begin], side_shape)
        side = s.select(s.compare("GE", row, s.broadcast(end, side_shape, [])), side, s.like(side, 0))
        below = product(s, side, inverse)
        # Once more, of what is left of it, as in triangle_solved().
        below = s.add(below, product(s, s.subtract(side, product(s, below, lower, turned=True)), inverse))
        a = s.subtract(a, product(s, below, below, turned=True))
        a = s.dynamic_update_slice(a, below, [*none, s.scalar(0), begin])
        return [end, s.dynamic_update_slice(a, lower, [*none, begin, begin])]

    made = b.loop([b.scalar(0), a], lambda s, carried: s.compare("LT", carried[0], s.scalar(shape[-1])), step)[1]
    return made if not missing else part(b, made, (0, size), (0, size))


def _with_ones(b, a, missing):
    """So many rows and columns behind the last ones, with ones on the diagonal, which concern no other row."""
    size, rank = shape_of(a)[-1], len(shape_of(a)) - 2
    a = with_room(b, a, (0, 0), (missing, missing))
    row, column = (b.iota(shape_of(a), dimension) for dimension in (rank, rank + 1))
    return b.select(b.both(b.compare("GE", row, size), b.compare("EQ", row, column)), b.like(a, 1), a)
