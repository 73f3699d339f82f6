"""Singular values, and singular vectors where somebody wants them, as a kernel of one core (rows_on_cores.py).

A matrix of which no side is longer than its rows is bidiagonal after reflections of what is left of a row and of a column, by turns:
A = S M' C', where M has its numbers on the diagonal and above it. Rotations from both sides, implicit QR as LAPACK has it, make what is
above vanish; Demmel's and Kahan's steps without a shift keep values that are small beside others. Vectors are rows, of C' and S'.
"""
from .rows_on_cores import Rows
from .spectra_on_cores import SWEEPS_MAX, Ranges, in_order, is_small, reflection, rotation, scaled

LONG_LINES = 3  # Rows behind those of a matrix.
TOLERANCE = 2  # Times eps.


class Bidiagonal:
    """A matrix in memory: `rows` lines of `width` numbers, no more rows than that, and behind the first `all_rows` lines of memory."""

    def __init__(self, t, rows, width, all_rows, with_vectors):
        self.t, self.rows, self.width, self.all_rows, self.with_vectors = t, rows, width, all_rows, with_vectors
        self.ranges = Ranges(t.element)

    def row(self, i):
        return (i,)

    def bidiagonal(self, a, y_rows):
        """The diagonal and what is beside it, each number in the place behind its own, vectors that were reflected in, in rows, with their taus.
        One pass goes over the rows below: they lose what the last step left to do, z_i v + y_i w, and give their products with both new vectors."""
        t, rows, width = self.t, self.rows, self.width
        v, w, sums = (self.row(t.index(self.all_rows + i)) for i in range(LONG_LINES))
        lines = [t.memory(rows + 2) for _ in range(4)] + [t.memory(rows), t.memory(rows)]
        for each in (v, w):
            a = t.clear_row((a, *each), t.none, width)

        def lengthwise(k, a, d, taus):
            mine = self.row(k)
            a = t.loop(t.first_of_vector(k), k, [a], lambda j, a: [t.put(a, t.zero, *mine, j)])[0]
            a, tau, beta, _ = reflection(t, (a, *mine), k, width)
            return a, t.put(d, beta, t.next(k)), t.put(taus, tau, k), tau

        def step(k, a, y_rows, d, e, taus, others, y, z):
            behind, mine, below = t.next(k), self.row(k), self.row(t.next(k))
            a, d, taus, tau = lengthwise(k, a, d, taus)
            y, z = t.put(y, t.zero, k), t.put(z, t.zero, k)
            a = t.clear_row((a, *sums), k, width)

            def row(i, a, y, z):
                here, by_z, by_y = self.row(i), t.wide(t.negative(t.at(z, i))), t.wide(t.negative(t.at(y, i)))

                def number(j, a, total):
                    value = t.joined(by_z, t.part(a, *v, j), t.joined(by_y, t.part(a, *w, j), t.part(a, *here, j), t.vector), t.vector)
                    total = t.joined(value, t.part(a, *mine, j), total[0], t.vector)
                    return [t.put_part(a, value, *here, j), (total, t.vector)]
                a, total = t.vectors(k, width, [a, (t.zeros, t.vector)], number)
                product = t.times(tau, t.sum(total[0]))
                x = t.minus(t.at(a, *here, k), product)
                y, z = t.put(y, x, i), t.put(z, product, i)
                # The head becomes a one.
                factor = t.choose(t.value(f"arith.cmpi eq, {i}, {behind} : index"), t.zero, x)
                return [t.add_row(k, width, (a, *sums), factor, (a, *here)), y, z]
            a, y, z = t.loop(behind, t.index(rows), [a, y, z], row)
            y, other_tau, beta, by = reflection(t, (y,), behind, rows)
            e, others = t.put(e, beta, behind), t.put(others, other_tau, behind)
            if self.with_vectors:
                y_rows = t.vectors(t.none, rows, [y_rows], lambda j, y_rows: [t.put_part(y_rows, t.part(y, j), *below, j)])[0]
            by, less, tau = t.wide(by), t.wide(t.negative(t.product(behind, rows, (y,), (z,)))), t.wide(other_tau)

            def taken(j, a):
                mine_here = t.part(a, *mine, j)
                value = t.joined(less, mine_here, t.joined(by, t.part(a, *sums, j), t.part(a, *below, j), t.vector), t.vector)
                return [t.put_part(t.put_part(a, mine_here, *v, j), t.each("arith.mulf", tau, value), *w, j)]
            a = t.vectors(k, width, [a], taken)[0]
            a = t.add_row(k, width, (a, *below), t.negative(t.at(z, behind)), (a, *v))
            a = t.add_row(k, width, (a, *below), t.real(-1), (a, *w))
            return [a, y_rows, d, e, taus, others, y, z]
        last = t.index(rows - 1)
        a, y_rows, d, e, taus, others, *_ = t.loop(t.none, last, [a, y_rows, *lines], step)
        a, d, taus, _ = lengthwise(last, a, d, taus)
        return a, y_rows, d, e, taus, others

    def reflected(self, a, taus, count, all_rows, width):
        """Rows of a unit matrix after reflections, whose vectors `count` rows begin as."""
        t = self.t

        def unit(i, a):
            return [t.put(t.clear_row((a, *self.row(i)), t.none, width), t.one, *self.row(i), i)]
        a = t.loop(t.index(count), t.index(all_rows), [a], unit)[0]

        def step(turn, a):
            k = t.before(t.index(count - 1), turn)
            mine, tau = self.row(k), t.negative(t.at(taus, k))

            def row(i, a):
                factor = t.times(tau, t.product(k, width, (a, *self.row(i)), (a, *mine)))
                return [t.add_row(k, width, (a, *self.row(i)), factor, (a, *mine))]
            a = t.loop(t.next(k), t.index(all_rows), [a], row)[0]
            a = t.loop(t.none, t.first_of_vector(k), [a], lambda j, a: [t.put_part(a, t.zeros, *mine, j)], t.lanes)[0]
            by = t.wide(tau)
            a = t.vectors(k, width, [a], lambda j, a: [t.put_part(a, t.each("arith.mulf", by, t.part(a, *mine, j)), *mine, j)])[0]
            return [t.put(a, t.plus(t.one, tau), *mine, k)]
        return t.loop(t.none, t.index(count), [a], step)[0]

    def sweep(self, lo, hi, is_up, shift, d, e, a, y_rows):
        """One of implicit QR between two places. Going up it is one of the transposed matrix in reverse, whose left side is the other one."""
        t = self.t
        both = t.add(lo, hi)

        def at(i):
            return t.chosen(is_up, t.before(both, i), i)

        def beside(i):
            return t.chosen(is_up, t.before(t.before(both, t.index(1)), i), i)

        def before(i):
            return t.chosen(t.is_less(lo, i), beside(t.before(i, t.index(1))), t.index(self.rows + 1))

        def turned(i, a, y_rows, right, left):
            if not self.with_vectors:
                return a, y_rows
            upper, lower = (self.row(t.before(at(each), t.index(1))) for each in (i, t.next(i)))
            (c, s), (other_c, other_s) = [[t.choose(is_up, one, other) for one, other in zip(*pair)] for pair in ((right, left), (left, right))]
            return (t.turn_rows(self.width, a, upper, lower, c, t.negative(s)),
                    t.turn_rows(self.rows, y_rows, upper, lower, other_c, t.negative(other_s)))

        def shifted(d, e, a, y_rows):
            first = t.at(d, at(lo))
            head = t.times(t.minus(t.size(first), shift), t.plus(t.with_sign(t.one, first), t.over(shift, first)))

            def step(i, d, e, a, y_rows, f, g, here, mine):
                f, g, here, mine = (value for value, _ in (f, g, here, mine))
                behind = t.next(i)
                there, next_to = t.at(d, at(behind)), t.at(e, t.chosen(t.is_less(behind, hi), beside(behind), t.none))
                c, s, r = right = rotation(t, f, g)
                e = t.put(e, r, before(i))
                f, mine = t.joined(c, here, t.times(s, mine)), t.less(c, mine, t.times(s, here))
                g, there = t.times(s, there), t.times(c, there)
                c, s, r = left = rotation(t, f, g)
                d = t.put(d, r, at(i))
                f, there = t.joined(c, mine, t.times(s, there)), t.less(c, there, t.times(s, mine))
                a, y_rows = turned(i, a, y_rows, right[:2], left[:2])
                return [d, e, a, y_rows, *((each, t.element) for each in (f, t.times(s, next_to), there, t.times(c, next_to)))]
            mine = t.at(e, beside(lo))
            numbers = [(each, t.element) for each in (head, mine, first, mine)]
            d, e, a, y_rows, f, _, here, _ = t.loop(lo, hi, [d, e, a, y_rows, *numbers], step)
            return [t.put(d, here[0], at(hi)), t.put(e, f[0], beside(t.before(hi, t.index(1)))), a, y_rows]

        def without_shift(d, e, a, y_rows):
            def step(i, d, e, a, y_rows, here, c, other_c, other_s):
                here, c, other_c, other_s = (value for value, _ in (here, c, other_c, other_s))
                there = t.at(d, at(t.next(i)))
                c, s, r = right = rotation(t, t.times(here, c), t.at(e, beside(i)))
                e = t.put(e, t.times(other_s, r), before(i))
                other_c, other_s, r = left = rotation(t, t.times(other_c, r), t.times(there, s))
                d = t.put(d, r, at(i))
                a, y_rows = turned(i, a, y_rows, right[:2], left[:2])
                return [d, e, a, y_rows, *((each, t.element) for each in (there, c, other_c, other_s))]
            numbers = [(each, t.element) for each in (t.at(d, at(lo)), t.one, t.one, t.zero)]
            d, e, a, y_rows, here, c, other_c, other_s = t.loop(lo, hi, [d, e, a, y_rows, *numbers], step)
            last = t.times(here[0], c[0])
            d = t.put(d, t.times(last, other_c[0]), at(hi))
            return [d, t.put(e, t.times(last, other_s[0]), beside(t.before(hi, t.index(1)))), a, y_rows]
        return t.choice(t.compare("oeq", shift, t.zero), [d, e, a, y_rows], without_shift, shifted)

    def shift(self, lo, hi, is_up, least_d, most_d, d, e):
        """The smaller singular value of the last two rows; none where a value is nothing beside others, or this one beside the first row's."""
        t, one = self.t, self.t.index(1)
        f, h = t.size(t.at(d, t.chosen(is_up, t.next(lo), t.before(hi, one)))), t.size(t.at(d, t.chosen(is_up, lo, hi)))
        g, first = t.at(e, t.chosen(is_up, lo, t.before(hi, one))), t.size(t.at(d, t.chosen(is_up, hi, lo)))
        more, less = t.plus(f, h), t.minus(f, h)
        square = t.times(g, g)
        sum = t.plus(t.root(t.joined(more, more, square)), t.root(t.joined(less, less, square)))
        value = t.over(t.times(t.times(t.real(2), f), h), sum)
        eps, root = t.real(self.ranges.eps), t.real(self.ranges.eps ** 0.5)
        counts = t.both(t.compare("ogt", value, t.times(root, first)), t.compare("ogt", least_d, t.times(eps, most_d)))
        return t.choose(counts, value, t.zero)

    def values(self, d, e, a, y_rows):
        """Singular values, of any sign, rows turned along, and how many were not found."""
        t, kind = self.t, "index"
        eps, one = t.real(TOLERANCE * self.ranges.eps), t.index(1)

        def counts(i, d, e):
            """Whether what joins i to the one before it is something."""
            before = t.before(i, one)
            mine, here, there = t.at(e, before), t.size(t.at(d, i)), t.size(t.at(d, before))
            return t.compare("ugt", t.times(mine, mine), t.times(t.times(eps, here), t.times(eps, there)))

        def goes_on(hi, sweeps, *_):
            return t.both(t.is_less(one, hi[0]), t.is_less(sweeps[0], t.index(SWEEPS_MAX * self.rows)))

        def turn(hi, sweeps, old_lo, old_hi, is_up, d, e, a, y_rows):
            hi, sweeps = hi[0], sweeps[0]
            last = t.size(t.at(d, hi))

            def joined(lo, *sizes):
                lo = t.before(lo[0], one)
                size = t.size(t.at(d, lo))
                return [(lo, kind), *((t.float(name, size, most[0]), t.element) for name, most in zip(("arith.minnumf", "arith.maxnumf"), sizes))]
            (lo, _), *sizes = t.repeat([(hi, kind), (last, t.element), (last, t.element)], lambda lo, *_: counts(lo[0], d, e), joined)
            is_more = t.is_less(lo, hi)

            def swept(old_lo, old_hi, is_up, d, e, a, y_rows):
                is_new = t.either(t.is_less(old_hi[0], lo), t.is_less(hi, old_lo[0]))
                rises = t.compare("olt", t.size(t.at(d, lo)), t.size(t.at(d, hi)))
                up = t.choose(is_new, rises, is_up[0], "i1")
                shift = self.shift(lo, hi, up, *(each[0] for each in sizes), d, e)
                return [(lo, kind), (hi, kind), (up, "i1"), *self.sweep(lo, hi, up, shift, d, e, a, y_rows)]
            made = t.when(is_more, [old_lo, old_hi, is_up, d, e, a, y_rows], swept)
            return [(t.chosen(is_more, hi, t.before(hi, one)), kind), (t.next(sweeps), kind), *made]
        no = t.value("arith.constant false")
        begin = [(t.index(self.rows), kind), (t.none, kind), (t.none, kind), (t.none, kind), (no, "i1"), d, e, a, y_rows]
        left, _, _, _, _, d, _, a, y_rows = t.repeat(begin, goes_on, turn)
        return d, a, y_rows, t.before(left[0], one)

    def positive(self, d, y_rows):
        """The values in their places, without signs, which rows get."""
        t = self.t

        def one(i, values, y_rows):
            value = t.at(d, t.next(i))

            def opposite(y_rows):
                mine = self.row(i)
                return [t.vectors(t.none, self.rows, [y_rows], lambda j, y_rows: [t.put_part(
                    y_rows, t.each("arith.negf", t.part(y_rows, *mine, j)), *mine, j)])[0]]
            y_rows = t.when(t.compare("olt", value, t.zero), [y_rows], opposite)[0] if self.with_vectors else y_rows
            return [t.put(values, t.size(value), i), y_rows]
        return t.loop(t.none, t.index(self.rows), [t.memory(self.rows), y_rows], one)

    def ordered(self, values, a, y_rows):
        t = self.t
        if not self.with_vectors:
            return in_order(t, self.rows, "ogt", values)[0], a, y_rows

        def exchanged(i, j, a, y_rows):
            return [t.exchange_rows(self.width, a, self.row(i), self.row(j)), t.exchange_rows(self.rows, y_rows, self.row(i), self.row(j))]
        return in_order(t, self.rows, "ogt", values, a, y_rows, exchanged=exchanged)


class Shapes:
    """As those of eigenvalues_on_cores.py. Vectors are the columns of U and the rows of V', and memory holds those of the longer side first."""

    def __init__(self, shape, element, with_vectors, is_full):
        self.count, self.rows, self.columns = shape
        self.element, self.with_vectors = element, with_vectors
        self.least, self.most, self.is_tall = min(shape[1:]), max(shape[1:]), self.rows >= self.columns
        self.all_rows = self.most if is_full and with_vectors else self.least
        sizes = [(self.all_rows + LONG_LINES, self.most), (self.least if with_vectors else 1, self.least)]
        self.has_room = is_small(element, *sizes)
        self.memory = [[rows, Rows(element).padded(width)] for rows, width in sizes]
        sides = (self.all_rows, self.least) if self.is_tall else (self.least, self.all_rows)
        self.values = [self.count, self.least]
        self.vectors = [[self.count, self.rows, sides[0]], [self.count, sides[1], self.columns]] if with_vectors else []
        self.places = [(True, 0), (False, 1)] if self.is_tall else [(True, 1), (False, 0)]
        # Those of one type would begin as one, and one of them would be copied out of other memory at the end.
        both = self.vectors and [self.vectors[0], [self.count * sides[1], self.columns]]
        self.results = [self.values, *(both if self.has_room else self.memory)]


def singular_values(name, shapes):
    """The singular values, the largest first, and U and V' or the memory."""
    count, least, most, with_vectors = shapes.count, shapes.least, shapes.most, shapes.with_vectors
    t = Rows(shapes.element)
    large, given = t.real(Ranges(shapes.element).large), ("%a", t.kind_of([count, shapes.rows, shapes.columns]))

    def matrix(b, values, *others):
        (a, y_rows), vectors = ([t.new(t.kind_of(each)) for each in shapes.memory], others) if shapes.has_room else (others, ())
        it = Bidiagonal(t, least, most, shapes.all_rows, with_vectors)

        def row(i, a):
            a = t.clear_row((a, *it.row(i)), t.none, most)
            return t.loop(t.none, t.index(most), [a], lambda j, a: [t.put(a, t.at(given, b, *((j, i) if shapes.is_tall else (i, j))), *it.row(i), j)])
        a = t.loop(t.none, t.index(least), [a], row)[0]
        a, scale = scaled(t, a, t.none, t.index(least), most)
        y_rows = t.clear_row((y_rows, t.none), t.none, least)
        a, y_rows, d, e, taus, others = it.bidiagonal(a, y_rows)
        if with_vectors:
            a = it.reflected(a, taus, least, shapes.all_rows, most)
            y_rows = it.reflected(y_rows, others, least, least, least)
        d, a, y_rows, left = it.values(d, e, a, y_rows)
        # Where one was not found none is a number.
        scale = t.choose(t.is_less(t.none, left), t.not_a_number(), scale)
        d, y_rows = it.positive(d, y_rows)
        d, a, y_rows = it.ordered(d, a, y_rows)
        values = t.loop(t.none, t.index(least), [values], lambda i, values: [t.put(values, t.times(t.over(t.at(d, i), large), scale), b, i)])[0]
        if vectors:
            def copied(into, place, shape, are_columns, side):
                def number(i, j, into):
                    return [t.put(into, t.at(side, *((j, i) if are_columns else (i, j))), *place(i), j)]
                return t.loop(t.none, t.index(shape[1]), [into], lambda i, into: t.loop(
                    t.none, t.index(shape[2]), [into], lambda j, into: number(i, j, into)))[0]
            first = t.places("muli", b, t.index(shapes.vectors[1][1]))
            places = (lambda i: (b, i), lambda i: (t.add(first, i),))
            vectors = [copied(into, to, shape, are_columns, (a, y_rows)[side])
                       for into, to, shape, (are_columns, side) in zip(vectors, places, shapes.vectors, shapes.places)]
        return [values, *(vectors if shapes.has_room else (a, y_rows))]
    results = [t.new(t.kind_of(each)) for each in shapes.results]
    return t.function(name, [given], t.loop(t.none, t.index(count), results, matrix))
