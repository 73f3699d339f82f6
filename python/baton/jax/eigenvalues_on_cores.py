"""Eigenvalues of symmetric matrices, and their eigenvectors where somebody wants them, as a kernel of one core (rows_on_cores.py).

Reflections make the matrix tridiagonal: one after another, each of what is left of a row. Rotations of neighbouring rows and columns,
implicit QL with Wilkinson's shifts, make what is beside the diagonal vanish, from one end on. Eigenvectors are rows, which the
reflections make of those of a unit matrix, and which the rotations turn: what they cost is hidden behind a rotation's square root and
quotients, each of which waits for the one before.

QL wants its smallest numbers first: where they come last, all goes in reverse, rows of eigenvectors, too. So a graded matrix keeps
its small eigenvalues.
"""
from .rows_on_cores import Rows
from .spectra_on_cores import SWEEPS_MAX, Ranges, in_order, is_small, reflection, rotation, scaled


class Matrix:
    """One of n rows in memory; with vectors, they are as many rows before these."""

    def __init__(self, t, n, with_vectors):
        self.t, self.n, self.with_vectors = t, n, with_vectors
        self.ranges = Ranges(t.element)
        self.begin, self.end = (t.index(n), t.index(2 * n)) if with_vectors else (t.none, t.index(n))

    def row(self, i):
        return (self.t.add(self.begin, i),) if self.with_vectors else (i,)

    def vector(self, i):
        return (i,)

    def mirrored(self, given, b, lower, a):
        """The symmetric matrix of which one triangle is given."""
        t = self.t

        def row(i, a):
            def number(j, a):
                value = t.at(given, b, *((i, j) if lower else (j, i)))
                return [t.put(t.put(a, value, *self.row(i), j), value, *self.row(j), i)]
            return t.loop(t.none, t.next(i), [t.clear_row((a, *self.row(i)), t.none, self.n)], number)
        return t.loop(t.none, t.index(self.n), [a], row)[0]

    def tridiagonal(self, a):
        """The diagonal, what stands beside it, the vectors that rows were reflected in, as what is left of these rows, and their taus. What a
        reflection takes from the rows below it the next one's products are made of in the same pass."""
        t, n, last = self.t, self.n, self.t.index(self.n - 1)
        line = [t.memory(n + 1) for _ in range(3)] + [t.memory(n) for _ in range(3)]

        def step(k, a, diagonal, beside, taus, v, w, p):
            """Row k has lost what it had to; v and w hold what the rows below it have still to lose, v_i w + w_i v."""
            behind, mine = t.next(k), self.row(k)
            diagonal = t.put(diagonal, t.at(a, *mine, k), k)
            # What stands before is no part of the vector.
            a = t.loop(t.first_of_vector(behind), behind, [a], lambda j, a: [t.put(a, t.zero, *mine, j)])[0]
            a, tau, beta, _ = reflection(t, (a, *mine), behind, n)
            beside, taus = t.put(beside, beta, k), t.put(taus, tau, k)

            def row(i, a, p):
                here, by_v, by_w = self.row(i), t.wide(t.negative(t.at(v, i))), t.wide(t.negative(t.at(w, i)))

                def number(j, a, sums):
                    value = t.joined(by_v, t.part(w, j), t.joined(by_w, t.part(v, j), t.part(a, *here, j), t.vector), t.vector)
                    total = t.joined(value, t.part(a, *mine, j), sums[0], t.vector)
                    return [t.put_part(a, value, *here, j), (total, t.vector)]
                a, sums = t.vectors(behind, n, [a, (t.zeros, t.vector)], number)
                return [a, t.put(p, t.sum(sums[0]), i)]
            a, p = t.loop(behind, t.index(n), [a, p], row)
            v = t.vectors(behind, n, [v], lambda j, v: [t.put_part(v, t.part(a, *mine, j), j)])[0]
            half = t.wide(t.times(t.real(-0.5), t.times(t.times(tau, tau), t.product(behind, n, (p,), (v,)))))
            by_tau = t.wide(tau)

            def taken(j, w):
                return [t.put_part(w, t.joined(half, t.part(v, j), t.each("arith.mulf", by_tau, t.part(p, j)), t.vector), j)]
            w = t.vectors(behind, n, [w], taken)[0]
            # The next row loses it at once, of which v has a one.
            below, by_v, by_w = self.row(behind), t.wide(t.real(-1)), t.wide(t.negative(t.at(w, behind)))

            def lost(j, a):
                value = t.joined(by_v, t.part(w, j), t.joined(by_w, t.part(v, j), t.part(a, *below, j), t.vector), t.vector)
                return [t.put_part(a, value, *below, j)]
            a = t.vectors(behind, n, [a], lost)[0]
            return [a, diagonal, beside, taus, *(t.put(each, t.zero, behind) for each in (v, w, p))]
        a, diagonal, beside, taus, *_ = t.loop(t.none, last, [a, *line], step)
        return a, t.put(diagonal, t.at(a, *self.row(last), last), last), beside, taus

    def vectors(self, a, taus, is_reversed):
        """Rows of a unit matrix, last ones first where all is reversed, after the reflections."""
        t, n, last = self.t, self.n, self.t.index(self.n - 1)

        def unit(i, a):
            a = t.clear_row((a, *self.vector(i)), t.none, n)
            return [t.put(a, t.one, *self.vector(i), t.chosen(is_reversed, t.before(last, i), i))]
        a = t.loop(t.none, t.index(n), [a], unit)[0]

        def step(turn, a):
            k = t.before(t.index(n - 2), turn)
            behind, tau = t.next(k), t.negative(t.at(taus, k))

            def row(i, a):
                mine = self.vector(i)
                factor = t.times(tau, t.product(behind, n, (a, *mine), (a, *self.row(k))))
                return [t.add_row(behind, n, (a, *mine), factor, (a, *self.row(k)))]
            begin, end = t.chosen(is_reversed, t.none, behind), t.chosen(is_reversed, t.before(last, k), t.index(n))
            return t.loop(begin, end, [a], row)
        return t.loop(t.none, last, [a], step)[0]

    def sweep(self, begin, end, d, e, a):
        """One of implicit QL between two places: e is nothing at the last one, and something before."""
        t = self.t
        head, next_to = t.at(d, begin), t.at(e, begin)
        slope = t.over(t.minus(t.at(d, t.next(begin)), head), t.times(t.real(2), next_to))
        steep = t.plus(t.size(slope), t.root(t.joined(slope, slope, t.one)))
        shift = t.minus(head, t.over(next_to, t.with_sign(steep, slope)))

        def step(turn, a, d, e, s, c, p, g):
            s, c, p, g = (value for value, _ in (s, c, p, g))
            i = t.before(t.before(end, t.index(1)), turn)
            behind, mine = t.next(i), t.at(e, i)
            f, b = t.times(s, mine), t.times(c, mine)
            c, s, r = rotation(t, g, f)
            e = t.put(e, r, behind)
            g = t.minus(t.at(d, behind), p)
            r = t.joined(t.minus(t.at(d, i), g), s, t.times(t.times(t.real(2), b), c))
            p = t.times(s, r)
            d = t.put(d, t.plus(g, p), behind)
            a = t.turn_rows(self.n, a, self.vector(i), self.vector(behind), c, s) if self.with_vectors else a
            return [a, d, e, *((each, t.element) for each in (s, c, p, t.less(c, r, b)))]
        numbers = [(each, t.element) for each in (t.one, t.one, t.zero, t.minus(t.at(d, end), shift))]
        a, d, e, _, _, p, g = t.loop(t.none, t.before(end, begin), [a, d, e, *numbers], step)
        d = t.put(d, t.minus(t.at(d, begin), p[0]), begin)
        return [d, t.put(t.put(e, t.zero, end), g[0], begin), a]

    def diagonal(self, d, e, a):
        """The eigenvalues, rows turned along, and how many were found."""
        t, n, kind = self.t, self.n, "index"
        eps = t.real(self.ranges.eps)

        def counts(i, d, e):
            mine, here, there = t.at(e, i), t.size(t.at(d, i)), t.size(t.at(d, t.next(i)))
            return t.compare("ugt", t.times(mine, mine), t.times(t.times(eps, here), t.times(eps, there)))

        def goes_on(begin, sweeps, *_):
            return t.both(t.is_less(begin[0], t.index(n)), t.is_less(sweeps[0], t.index(SWEEPS_MAX * n)))

        def turn(begin, sweeps, d, e, a):
            begin, sweeps = begin[0], sweeps[0]
            end = t.repeat([(begin, kind)], lambda i: counts(i[0], d, e), lambda i: [(t.next(i[0]), kind)])[0][0]
            is_more = t.is_less(begin, end)
            made = t.when(is_more, [d, e, a], lambda *carried: self.sweep(begin, end, *carried))
            return [(t.chosen(is_more, begin, t.next(begin)), kind), (t.next(sweeps), kind), *made]
        found, _, d, _, a = t.repeat([(t.none, kind), (t.none, kind), d, e, a], goes_on, turn)
        return d, a, found[0]


class Shapes:
    """Of what a kernel for so many matrices gives: values, and vectors where they are wanted; or its memory, where it has no room beside these: it
    is for one matrix, then. A place says whether vectors are columns, and which memory begins with them, as rows."""

    def __init__(self, shape, element, with_vectors):
        self.count, self.n, _ = shape
        self.element, self.with_vectors = element, with_vectors
        rows = 2 * self.n if with_vectors else self.n
        self.has_room = is_small(element, (rows, self.n))
        self.memory = [[rows, Rows(element).padded(self.n)]]
        self.values, self.vectors, self.places = shape[:2], [shape] if with_vectors else [], [(True, 0)]
        self.results = [self.values, *(self.vectors if self.has_room else self.memory)]


def eigenvalues(name, shapes, lower):
    """The eigenvalues, the least first, and the eigenvectors or the memory."""
    count, n, element, with_vectors = shapes.count, shapes.n, shapes.element, shapes.with_vectors
    t = Rows(element)
    large, given = t.real(Ranges(element).large), ("%a", t.kind_of([count, n, n]))

    def matrix(b, values, *others):
        # What begins outside of a loop and is handed on is looked at again and again by who finds memory for it.
        memory, vectors = (t.new(t.kind_of(shapes.memory[0])), others) if shapes.has_room else (others[0], ())
        it = Matrix(t, n, with_vectors)
        a, scale = scaled(t, it.mirrored(given, b, lower, memory), it.begin, it.end, n)
        a, d, e, taus = it.tridiagonal(a)
        is_reversed = t.compare("olt", t.size(t.at(d, t.index(n - 1))), t.size(t.at(d, t.none)))

        def turned(numbers, size):
            def number(i, made):
                return [t.put(made, t.at(numbers, i), t.chosen(is_reversed, t.before(t.index(size - 1), i), i))]
            return t.loop(t.none, t.index(size), [t.memory(n + 1)], number)[0]
        d, e = turned(d, n), turned(e, n - 1)
        a = it.vectors(a, taus, is_reversed) if with_vectors else a
        d, a, found = it.diagonal(d, e, a)
        # Where one was not found none is a number.
        scale = t.choose(t.is_less(found, t.index(n)), t.not_a_number(), scale)
        if with_vectors:
            d, a = in_order(t, n, "olt", d, a, exchanged=lambda i, j, a: [t.exchange_rows(n, a, it.vector(i), it.vector(j))])
        else:
            d = in_order(t, n, "olt", d)[0]
        values = t.loop(t.none, t.index(n), [values], lambda i, values: [t.put(values, t.times(t.over(t.at(d, i), large), scale), b, i)])[0]
        if vectors:
            def column(i, vectors):
                return t.loop(t.none, t.index(n), [vectors], lambda j, vectors: [t.put(vectors, t.at(a, *it.vector(j), i), b, i, j)])
            vectors = t.loop(t.none, t.index(n), list(vectors), column)
        return [values, *(vectors if shapes.has_room else [a])]
    results = [t.new(t.kind_of(each)) for each in shapes.results]
    return t.function(name, [given], t.loop(t.none, t.index(count), results, matrix))
