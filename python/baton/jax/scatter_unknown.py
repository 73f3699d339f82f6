"""stablehlo.scatter with unknown sizes: the matrices of `scatter`, and a way that fits any count of updates.

The program decides when it runs: where updates times rows are few, each row looks at all updates; else updates are sorted by their
rows, and each row finds its own by bisection. Of dimensions that no index chooses, a window covers all, which the program checks.
"""
import copy

from jaxlib.mlir import ir

from .build import is_value
from .scatter import REDUCTIONS, Scatter
from .sorting import merged_from_single

LOOKED_MAX = 1 << 24  # Updates times rows, of which each row looks at each update.
SUMMED_MAX = 1 << 22  # Updates times elements.


class ScatterOfUnknownSizes(Scatter):
    def _window_at(self, b, operand, starts):
        """Like a dynamic_slice, with a size that is a value: `starts` are moved so that the window ends inside."""
        i32 = ir.IntegerType.get_signless(32)
        moved = [b.convert(b.maximum(b.minimum(start, self._last_start(b, i, start)), 0), i32) for i, start in enumerate(starts)]
        ends = [b.add(start, b.number(size)) for start, size in zip(moved, self.window)]
        return b.reshape(b.slice(operand, moved, ends), self.window)

    def _is_part(self, window, size):
        if not is_value(window) and not is_value(size):
            return window != size
        if is_value(window) and is_value(size):
            self._assert_equal(window, size)
            return False
        return True

    def _assert_equal(self, window, size):
        b = self.b
        said = "a scatter's window is smaller than its tensor along a dimension of unknown size that no index chooses"
        b.operation("stablehlo.custom_call", [b.compare("EQ", window, size)], [], {
            "call_target_name": ir.StringAttr.get("shape_assertion"), "error_message": ir.StringAttr.get(said), "has_side_effect": ir.BoolAttr.get(True)})

    def _scattered(self, matrices, lands, updates):
        (count,), types = self.b.sizes(lands), [each.type for each in matrices]
        if not is_value(count):
            return self._by_count(self.b, matrices, lands, updates)
        some = self.b.compare("GT", count, 0)
        return self.b.choose(some, types, lambda b: self._by_count(b, matrices, lands, updates), lambda b: list(matrices))

    def _by_count(self, b, matrices, lands, updates):
        kind = self._kind()
        if kind != "set" and kind not in REDUCTIONS:
            return self._at(b)._in_rounds(matrices, lands, updates)
        sizes = b.sizes(matrices[0]) if kind != "set" else b.sizes(matrices[0])[:1]
        is_few = self._is_at_most(b, [*sizes, *b.sizes(lands)], SUMMED_MAX if kind != "set" else LOOKED_MAX)

        def looking(inner):
            at = self._at(inner)
            return at._last(matrices, lands, updates) if kind == "set" else at._reduced(REDUCTIONS[kind], matrices, lands, updates)

        def sorting(inner):
            at = self._at(inner)
            return at._last_in_order(matrices, lands, updates) if kind == "set" else at._joined(REDUCTIONS[kind], matrices, lands, updates)

        return b.choose(is_few, [each.type for each in matrices], looking, sorting)

    def _at(self, b):
        """The same scatter, which writes elsewhere."""
        other = copy.copy(self)
        other.b = b
        return other

    @staticmethod
    def _is_at_most(b, sizes, most):
        i64 = ir.IntegerType.get_signless(64)
        return b.compare("LE", b.product([b.convert(b.number(size), i64) for size in sizes]), most)

    def _last_in_order(self, matrices, lands, updates):
        b = self.b
        ordered, order = self._in_order(lands)
        begin, end = self._updates_of_rows(b.sizes(matrices[0])[0], ordered)
        has = b.broadcast(b.compare("LT", begin, end), b.sizes(matrices[0]), [0])
        which = b.take(order, b.maximum(b.subtract(end, 1), 0))
        return [b.select(has, b.take(update, which), old) for update, old in zip(updates, matrices)]

    def _joined(self, reduction, matrices, lands, updates):
        b, (old,), (update,) = self.b, matrices, updates
        (count,), (rows, _) = b.sizes(lands), b.sizes(old)
        name, _ = reduction
        ordered, order = self._in_order(lands)
        place = b.iota([count], 0)

        def join(inner, carried):
            distance, total = carried
            behind = inner.add(place, inner.filled(distance, place))
            inside = inner.minimum(behind, self._last_place(inner, count, place))
            same = inner.both(inner.compare("EQ", behind, inside), inner.compare("EQ", inner.take(ordered, inside), ordered))
            joined = inner.each(name, total, inner.take(total, inside))
            return [inner.add(distance, distance), inner.select(inner.broadcast(same, inner.sizes(total), [0]), joined, total)]

        total = b.loop([b.scalar(1), b.take(update, order)], lambda inner, carried: inner.compare("LT", carried[0], inner.number(count)), join)[1]
        begin, end = self._updates_of_rows(rows, ordered)
        has = b.broadcast(b.compare("LT", begin, end), b.sizes(old), [0])
        return [b.select(has, b.each(name, old, b.take(total, b.minimum(begin, self._last_place(b, count, begin)))), old)]

    @staticmethod
    def _last_place(b, count, like):
        return b.filled(b.difference(count, 1), like)

    def _in_order(self, lands):
        b, (count,) = self.b, self.b.sizes(lands)
        rows = [b.reshape(lands, [1, count]), b.iota([1, count], 1)]
        made = merged_from_single(b, rows, lambda inner, lefts, rights: inner.compare("LT", lefts[0], rights[0]))
        return [b.reshape(each, [count]) for each in made]

    def _updates_of_rows(self, rows, ordered):
        row = self.b.iota([rows], 0)
        return self._bisected(ordered, row), self._bisected(ordered, self.b.add(row, 1))

    def _in_rounds(self, matrices, lands, updates):
        b = self.b
        ordered, order = self._in_order(lands)
        (count,), (rows, columns) = b.sizes(lands), b.sizes(matrices[0])
        begin, end = self._updates_of_rows(rows, ordered)
        sizes = b.subtract(end, begin)
        most = b.reduce("maximum", sizes, 0, 0)

        def combine(inner, carried):
            k, matrices = carried[0], carried[1:]
            wide = inner.filled(k, begin)
            has = inner.broadcast(inner.compare("LT", wide, sizes), [rows, columns], [0])
            which = inner.take(order, inner.minimum(inner.add(begin, wide), self._last_place(inner, count, begin)))
            new = self._combine(inner, matrices, [inner.take(update, which) for update in updates])
            return [inner.add(k, inner.scalar(1)), *(inner.select(has, *pair) for pair in zip(new, matrices))]

        return b.loop([b.scalar(0), *matrices], lambda inner, carried: inner.compare("LT", carried[0], most), combine)[1:]

    def _bisected(self, ordered, wanted):
        """For each number how many of the ordered ones are smaller: between low and high lies the answer, until they are equal."""
        b, (count,) = self.b, self.b.sizes(ordered)

        def halve(inner, carried):
            width, low, high = carried
            middle = inner.divide(inner.add(low, high), 2)
            is_open = inner.compare("LT", low, high)
            at = inner.minimum(middle, self._last_place(inner, count, middle))
            smaller = inner.compare("LT", inner.take(ordered, at), wanted)
            low = inner.select(inner.both(is_open, smaller), inner.add(middle, 1), low)
            high = inner.select(inner.both(is_open, inner.negated(smaller)), middle, high)
            return [inner.divide(width, inner.scalar(2)), low, high]

        begin, end = b.like(wanted, 0), b.filled(count, wanted)
        return b.loop([b.number(count), begin, end], lambda inner, carried: inner.compare("GT", carried[0], 0), halve)[1]
