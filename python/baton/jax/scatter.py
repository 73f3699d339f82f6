"""stablehlo.scatter, for any combiner; what comes twice is combined in order.

The tensor becomes a matrix: a row for each position along the dimensions that indices choose, a column for each that they don't.
Windows that reach over chosen dimensions are cut into their positions. Then each update has one row, or none when its window
would reach outside, and one of these is written:

    one window        a slice is read, combined, and written in place
    few of each batch element by element: each update of its batch in turn, where it hits
    whole updates     of those that hit a row the last counts: its number is found, and its row gathered
    sums and the like few: sums over updates, those of other rows left out; many: updates sorted by row, those of one row joined
    anything          updates sorted by row; round k combines each row with its k-th update

On cores updates of known sizes, combined by one operation, are combined one after the other (`scatter_on_cores`); where threads have
atomic operations, at once (`scatter_with_atomics`).
"""
from jaxlib.mlir import ir

from .build import Builder, element_of, has_unknown_sizes, is_integer, is_value, shape_of
from .on_cores import call_either
from .scatter_on_cores import one_after_the_other
from .scatter_with_atomics import written_at_once
from .sorting import _permuted, order_of_keys, replace

COMPARED_MAX = 1 << 26  # Updates times rows that are compared one with the other.
FEW_MAX = 8  # Updates of a batch that each element of it looks at.
LITTLE = 1 << 14  # Elements that look at few updates sooner than these are scattered by several kernels.
SUMMED_MAX = 1 << 16  # Updates times elements that are summed one with the other.


def lower_scatter(op, module):
    operand, indices, updates = _operands(op)
    if 0 in shape_of(updates[0]) or 0 in shape_of(operand[0]):
        replace(op, operand)
        return
    from .scatter_unknown import ScatterOfUnknownSizes

    kind = ScatterOfUnknownSizes if has_unknown_sizes(*operand, indices, *updates) else Scatter
    scatter = kind(op, module, operand, indices, updates)
    is_one = not is_value(scatter.windows) and scatter.windows == 1 and not scatter.batching
    replace(op, scatter.one_window() if is_one else scatter.of_rows())


def _operands(op):
    values = list(op.operands)
    count = len(values) // 2
    return values[:count], values[count], values[count + 1:]


def _product(sizes):
    product = 1
    for size in sizes:
        product *= size
    return product


class Scatter:
    def __init__(self, op, module, operand, indices, updates):
        from jaxlib.mlir.dialects import stablehlo

        self.op, self.module, self.b = op, module, Builder.before(op)
        self.operand, self.updates = operand, updates
        numbers = stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
        self.update_window = list(numbers.update_window_dims)
        self.inserted = list(numbers.inserted_window_dims)
        self.batching = list(numbers.input_batching_dims)
        self.index_batching = list(numbers.scatter_indices_batching_dims)
        self.to_operand = list(numbers.scattered_dims_to_operand_dims)
        self.index_dimension = numbers.index_vector_dim
        self.shape = self.b.sizes(operand[0])
        self.update_shape = self.b.sizes(updates[0])
        self.update_scatter = [i for i in range(len(self.update_shape)) if i not in self.update_window]
        self.windows = self.b.product(self.update_shape[i] for i in self.update_scatter)
        # The window's size along each dimension of the operand.
        sizes = iter(self.update_shape[i] for i in self.update_window)
        self.window = [1 if i in self.inserted or i in self.batching else next(sizes) for i in range(len(self.shape))]
        self.indices = self._index_matrix(indices)
        self.combiner = op.regions[0].blocks[0]

    def _index_matrix(self, indices):
        """One row for each window, in order; one column for each dimension that is chosen."""
        b, shape = self.b, shape_of(indices)
        if self.index_dimension == len(shape):
            return b.reshape(indices, [self.windows, 1])
        order = [i for i in range(len(shape)) if i != self.index_dimension] + [self.index_dimension]
        return b.reshape(b.transpose(indices, order), [self.windows, len(self.to_operand)])

    def _combine(self, b, old, new):
        return b.apply(self.combiner, [*old, *new])

    # One window --------------------------------------------------------------------------------------------------------

    def one_window(self):
        b = self.b
        element = element_of(self.indices)
        starts = [b.scalar(0, element)] * len(self.shape)
        for column, dimension in enumerate(self.to_operand):
            starts[dimension] = b.reshape(b.slice(self.indices, [0, column], [1, column + 1]), [])
        inside = b.full([], 1, ir.IntegerType.get_signless(1))
        for dimension in self.to_operand:
            inside = b.both(inside, b.compare("GE", starts[dimension], 0))
            inside = b.both(inside, b.compare("LE", starts[dimension], self._last_start(b, dimension, starts[dimension])))
        order = self.update_scatter + self.update_window
        new = [b.reshape(b.transpose(update, order), self.window) for update in self.updates]
        old = [self._window_at(b, operand, starts) for operand in self.operand]
        everywhere = b.broadcast(inside, self.window, [])
        mixed = [b.select(everywhere, *pair) for pair in zip(self._combine(b, old, new), old)]
        return [b.dynamic_update_slice(operand, each, starts) for operand, each in zip(self.operand, mixed)]

    def _last_start(self, b, dimension, like):
        """The last place along a dimension where a window may begin, for each element of `like`."""
        return b.filled(b.difference(self.shape[dimension], self.window[dimension]), like)

    def _window_at(self, b, operand, starts):
        return b.dynamic_slice(operand, starts, self.window)

    # Many windows ------------------------------------------------------------------------------------------------------

    def of_rows(self):
        chosen = self.batching + sorted(self.to_operand)
        kept = [i for i in range(len(self.shape)) if i not in chosen]
        partly = [i for i in kept if self._is_part(self.window[i], self.shape[i])]
        # A window that does not begin somewhere begins at 0; one that covers a part of such a dimension chooses there.
        chosen, kept = chosen + partly, [i for i in kept if i not in partly]
        # Only of whole windows the program's word that indices are unique is one about rows.
        self.is_cut = any(self.window[i] != 1 for i in chosen if i not in self.batching)
        b, order = self.b, chosen + kept
        rows = b.product(self.shape[i] for i in chosen)
        columns = b.product(self.shape[i] for i in kept)
        matrices = [b.reshape(b.transpose(each, order), [rows, columns]) for each in self.operand]
        lands, cut = self._rows_of_updates(chosen), self._cut_windows(chosen, kept, columns)
        results = self._scattered(matrices, lands, cut)
        shape = [self.shape[i] for i in order]
        back = [order.index(i) for i in range(len(order))]
        return [b.transpose(b.reshape(each, shape), back) for each in results]

    def _is_part(self, window, size):
        return window != size

    def _rows_of_updates(self, chosen):
        """The row of each position of each window; -1 where the window reaches outside."""
        b = self.b
        i32 = ir.IntegerType.get_signless(32)
        sizes = [self.window[i] for i in chosen]
        shape = [self.windows, *sizes]
        row, inside = None, None
        for at, dimension in enumerate(chosen):
            position = b.iota(shape, at + 1)
            if dimension in self.to_operand:
                column = self.to_operand.index(dimension)
                start = b.reshape(b.slice(self.indices, [0, column], [self.windows, column + 1]), [self.windows])
                fits = b.both(b.compare("GE", start, 0), b.compare("LE", start, self._last_start(b, dimension, start)))
                inside = fits if inside is None else b.both(inside, fits)
                position = b.add(position, b.broadcast(b.convert(start, i32), shape, [0]))
            elif dimension in self.batching:
                position = b.add(position, b.broadcast(self._batch_number(dimension), shape, [0]))
            row = position if row is None else b.add(b.multiply(row, b.filled(self.shape[dimension], row)), position)
        if row is None:  # Each update is of the whole tensor.
            row = b.full(shape, 0, i32)
        if inside is not None:
            row = b.select(b.broadcast(inside, shape, [0]), row, b.like(row, -1))
        return b.reshape(row, [b.product(shape)])

    def _batch_number(self, dimension):
        """For each window its index along a batching dimension."""
        b = self.b
        at = self.index_batching[self.batching.index(dimension)]
        at -= 1 if self.index_dimension < at else 0
        return b.reshape(b.iota([self.update_shape[i] for i in self.update_scatter], at), [self.windows])

    def _cut_windows(self, chosen, kept, columns):
        b = self.b
        window_dims = [i for i in range(len(self.shape)) if i not in self.inserted and i not in self.batching]
        at = {dimension: self.update_window[place] for place, dimension in enumerate(window_dims)}
        order = self.update_scatter + [at[i] for i in chosen if i in at] + [at[i] for i in kept if i in at]
        count = b.product([self.windows, *(self.window[i] for i in chosen)])
        return [b.reshape(b.transpose(update, order), [count, columns]) for update in self.updates]

    def _scattered(self, matrices, lands, updates):
        element = element_of(matrices[0])
        is_unsigned = is_integer(element) and element.is_unsigned
        plain = [self._plain(self.b, each) for each in matrices]
        one_pass = one_after_the_other(self._kind(), plain, lands, is_unsigned)
        at_once = self._with_atomics(plain, lands, is_unsigned)
        if one_pass is None and at_once is None:
            return self._in_order_of_updates(matrices, lands, updates)

        def rounds(inner, arguments):
            outer, self.b = self.b, inner
            old, new = (self._cast(inner, each, element) for each in (arguments[0], arguments[2]))
            made = self._in_order_of_updates([old], arguments[1], [new])
            self.b = outer
            return [self._plain(inner, each) for each in made]

        operands = [*plain, lands, *(self._plain(self.b, each) for each in updates)]
        made = call_either(self.b, self.module, "scatter", operands, [plain[0].type], rounds, one_pass, at_once)
        return [self._cast(self.b, each, element) for each in made]

    def _plain(self, b, value):
        """The same bits of a type that says nothing of signs."""
        element = element_of(value)
        return self._cast(b, value, ir.IntegerType.get_signless(element.width)) if is_integer(element) and element.is_unsigned else value

    def _cast(self, b, value, element):
        if element_of(value) == element:
            return value
        return b.value("stablehlo.bitcast_convert", [value], ir.RankedTensorType.get(shape_of(value), element))

    def _with_atomics(self, matrices, lands, is_unsigned):
        """What writes a function for threads that have atomic operations; None where that is no gain, or can't be."""
        (count,), shape = shape_of(lands), shape_of(matrices[0])
        if len(matrices) != 1 or 0 <= count <= FEW_MAX and -1 not in shape and _product(shape) <= LITTLE:
            return None
        is_unique = "unique_indices" in self.op.attributes and ir.BoolAttr(self.op.attributes["unique_indices"]).value
        return written_at_once(self._kind(), matrices[0], lands, is_unique and not self.is_cut, is_unsigned)

    def _in_order_of_updates(self, matrices, lands, updates):
        batches = _product(self.shape[i] for i in self.batching)
        if shape_of(lands)[0] <= FEW_MAX * batches:
            return self._few_of_each(batches, matrices, lands, updates)
        kind = self._kind()
        (count,), (rows, columns) = shape_of(lands), shape_of(matrices[0])
        if kind == "set" and rows * count <= COMPARED_MAX:
            return self._last(matrices, lands, updates)
        if kind in REDUCTIONS:
            is_little = rows * count * columns <= SUMMED_MAX
            return (self._reduced if is_little else self._joined)(REDUCTIONS[kind], matrices, lands, updates)
        return self._in_rounds(matrices, lands, updates)

    def _kind(self):
        """`set`, or the one operation of the combiner, or an empty text."""
        operations = [each.operation for each in self.combiner.operations]
        arguments = list(self.combiner.arguments)
        if len(self.operand) != 1 or not operations:
            return ""
        if len(operations) == 1:
            return "set" if operations[0].operands[0] == arguments[1] else ""
        is_one = len(operations) == 2 and {*operations[0].operands} == {*arguments} and operations[1].operands[0] == operations[0].results[0]
        return operations[0].name if is_one else ""

    def _few_of_each(self, batches, matrices, lands, updates):
        b, (rows, columns) = self.b, shape_of(matrices[0])
        count = shape_of(lands)[0] // batches
        shape = [batches, rows // batches, columns]
        results = [b.reshape(matrix, shape) for matrix in matrices]
        lands = self._by_batch(lands, [batches, count])
        updates = [self._by_batch(update, [batches, count, columns]) for update in updates]
        row = b.add(b.multiply(b.iota(shape, 0), shape[1]), b.iota(shape, 1))
        for turn in range(count):
            land = b.reshape(b.slice(lands, [0, turn], [batches, turn + 1]), [batches])
            new = [b.reshape(b.slice(each, [0, turn, 0], [batches, turn + 1, columns]), [batches, columns]) for each in updates]
            hits = b.compare("EQ", b.broadcast(land, shape, [0]), row)
            mixed = self._combine(b, results, [b.broadcast(each, shape, [0, 2]) for each in new])
            results = [b.select(hits, *pair) for pair in zip(mixed, results)]
        return [b.reshape(each, [rows, columns]) for each in results]

    def _by_batch(self, value, shape):
        """Rows in the order of windows as rows of each batch, in the same order."""
        b = self.b
        windows = [self.update_shape[i] for i in self.update_scatter]
        first = [at - (1 if self.index_dimension < at else 0) for at in self.index_batching]
        behind = [_product(shape) // _product(windows) // (shape[2] if len(shape) == 3 else 1), *shape[2:]]
        order = first + [i for i in range(len(windows) + len(behind)) if i not in first]
        return b.reshape(b.transpose(b.reshape(value, windows + behind), order), shape)

    def _last(self, matrices, lands, updates):
        b = self.b
        (count,), (rows, columns) = b.sizes(lands), b.sizes(matrices[0])
        square = [rows, count]
        hits = b.compare("EQ", b.broadcast(lands, square, [1]), b.iota(square, 0))
        last = b.reduce("maximum", b.select(hits, b.iota(square, 1), b.full(square, -1, element_of(lands))), -1, 1)
        some = b.broadcast(b.compare("GE", last, 0), [rows, columns], [0])
        return [b.select(some, b.take(update, b.maximum(last, 0)), old) for update, old in zip(updates, matrices)]

    def _reduced(self, reduction, matrices, lands, updates):
        b, (old,), (update,) = self.b, matrices, updates
        (count,), (rows, columns) = b.sizes(lands), b.sizes(old)
        name, neutral = reduction
        element = element_of(old)
        cube = [rows, columns, count]
        hits = b.compare("EQ", b.broadcast(lands, cube, [2]), b.iota(cube, 0))
        neutral = neutral(element)
        wide = b.broadcast(update, cube, [2, 1])
        total = b.reduce(name, b.select(hits, wide, b.like(wide, neutral)), neutral, 2)
        return [b.each(name, old, total)]

    def _joined(self, reduction, matrices, lands, updates):
        """Updates stand in the order of their rows; each is joined with those of its row behind it, twice as many in each turn."""
        b, (old,), (update,) = self.b, matrices, updates
        (count,), (rows, columns) = shape_of(lands), shape_of(old)
        name, _ = reduction
        ordered, order = self._in_order(lands)
        total, distance = b.take(update, order), 1
        while distance < count:
            left, right = [count - distance, columns], [count, columns]
            same = b.compare("EQ", b.slice(ordered, [0], left[:1]), b.slice(ordered, [distance], [count]))
            before, behind = b.slice(total, [0, 0], left), b.slice(total, [distance, 0], right)
            joined = b.select(b.broadcast(same, left, [0]), b.each(name, before, behind), before)
            total, distance = b.concatenate([joined, b.slice(total, left[:1] + [0], right)], 0), 2 * distance
        wanted = b.iota([rows], 0)
        begin = b.minimum(self._bisected(ordered, wanted), count - 1)
        has = b.broadcast(b.compare("EQ", b.take(ordered, begin), wanted), [rows, columns], [0])
        return [b.select(has, b.each(name, old, b.take(total, begin)), old)]

    def _in_order(self, lands):
        """The rows of all updates in order, and for each place the number of the update."""
        b, (count,) = self.b, shape_of(lands)
        row = b.reshape(lands, [1, count])
        order = order_of_keys(b, [(row, 32)])
        return b.reshape(_permuted(b, [row], order)[0], [count]), b.reshape(order, [count])

    def _in_rounds(self, matrices, lands, updates):
        """Round k: each row that has more than k updates is combined with the k-th of them."""
        b = self.b
        (count,), (rows, columns) = shape_of(lands), shape_of(matrices[0])
        ordered, order = self._in_order(lands)
        begin = self._bisected(ordered, b.iota([rows], 0))
        end = self._bisected(ordered, b.add(b.iota([rows], 0), 1))
        sizes = b.subtract(end, begin)
        most = b.reduce("maximum", sizes, 0, 0)

        def combine(inner, carried):
            k, matrices = carried[0], carried[1:]
            wide = inner.broadcast(k, [rows], [])
            has = inner.broadcast(inner.compare("LT", wide, sizes), [rows, columns], [0])
            which = inner.take(order, inner.minimum(inner.add(begin, wide), count - 1))
            new = self._combine(inner, matrices, [inner.take(update, which) for update in updates])
            return [inner.add(k, inner.scalar(1)), *(inner.select(has, *pair) for pair in zip(new, matrices))]

        return b.loop([b.scalar(0), *matrices], lambda inner, carried: inner.compare("LT", carried[0], most), combine)[1:]

    def _bisected(self, ordered, wanted):
        """For each number how many of the ordered ones are smaller: steps of halved width go forward where all before are."""
        b, (count,) = self.b, shape_of(ordered)
        found, width = b.like(wanted, 0), 1 << (count.bit_length() - 1)
        while width:
            ahead = b.add(found, width)
            smaller = b.compare("LT", b.take(ordered, b.subtract(b.minimum(ahead, count), 1)), wanted)
            found = b.select(b.both(b.compare("LE", ahead, count), smaller), ahead, found)
            width //= 2
        return found


def _smallest(element):
    if not is_integer(element):
        return float("-inf")
    return 0 if element.is_unsigned or element.width == 1 else -(1 << (element.width - 1))


def _largest(element):
    if not is_integer(element):
        return float("inf")
    return (1 << element.width - (0 if element.is_unsigned or element.width == 1 else 1)) - 1


# Combiners that may be applied to all updates first, and the number that changes nothing.
REDUCTIONS = {
    "stablehlo.add": ("add", lambda element: 0 if is_integer(element) else -0.0),
    "stablehlo.multiply": ("multiply", lambda element: 1),
    "stablehlo.maximum": ("maximum", _smallest),
    "stablehlo.minimum": ("minimum", _largest),
    "stablehlo.or": ("or", lambda element: 0),
}
