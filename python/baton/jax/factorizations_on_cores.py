"""Factorizations of real matrices as kernels of one core (on_cores.py): loops over elements, matrix after matrix, whose innermost ones go
along rows. Matrices of a batch are one dimension before the last two.

factorizations.py and reflections.py say what each computes, and write it in rounds for everybody else.
"""
import math


class Text:
    """Writes a function: operations on numbers, and loops that hand tensors on."""

    def __init__(self, element):
        self.element, self.lines, self.count, self.depth = element, [], 0, 1
        self.numbers = {}

    def line(self, text):
        self.lines.append("  " * self.depth + text)

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def value(self, text):
        name = self.name()
        self.line(f"{name} = {text}")
        return name

    def float(self, name, *operands):
        return self.value(f"{name} {', '.join(operands)} : {self.element}")

    def minus(self, a, b):
        return self.float("arith.subf", a, b)

    def times(self, a, b):
        return self.float("arith.mulf", a, b)

    def over(self, a, b):
        return self.float("arith.divf", a, b)

    def size(self, a):
        return self.float("math.absf", a)

    def compare(self, how, a, b):
        return self.value(f"arith.cmpf {how}, {a}, {b} : {self.element}")

    def choose(self, condition, a, b, kind=None):
        return self.value(f"arith.select {condition}, {a}, {b} : {kind or self.element}")

    def index(self, number):
        return self.numbers.setdefault(number, f"%c{number}")

    def next(self, index):
        return self.value(f"arith.addi {index}, {self.index(1)} : index")

    def real(self, number):
        return self.value(f"arith.constant {float(number)} : {self.element}")

    def at(self, tensor, *place):
        return self.value(f"tensor.extract {tensor[0]}[{', '.join(place)}] : {tensor[1]}")

    def put(self, tensor, value, *place):
        return self.value(f"tensor.insert {value} into {tensor[0]}[{', '.join(place)}] : {tensor[1]}"), tensor[1]

    def new(self, kind):
        return self.value(f"tensor.empty() : {kind}"), kind

    def copy(self, tensor):
        memory, kind = self.new(tensor[1])
        return self.value(f"linalg.copy ins({tensor[0]} : {kind}) outs({memory} : {kind}) -> {kind}"), kind

    def loop(self, begin, end, carried, body, step=1):
        """`body` gets the index and what is carried, pairs of a value and a type, and gives what is handed on."""
        index, result, inner = self.name(), self.name(), [(self.name(), kind) for _, kind in carried]
        given = ", ".join(f"{mine} = {value}" for (mine, _), (value, _) in zip(inner, carried))
        kinds = ", ".join(kind for _, kind in carried)
        self.line(f"{result}:{len(carried)} = scf.for {index} = {begin} to {end} step {self.index(step)} iter_args({given}) -> ({kinds}) {{")
        self.depth += 1
        handed = body(index, *inner)
        self.line(f"scf.yield {', '.join(value for value, _ in handed)} : {kinds}")
        self.depth -= 1
        self.line("}")
        return [(f"{result}#{i}", kind) for i, (_, kind) in enumerate(carried)]

    def when(self, condition, carried, body):
        """What `body` makes of what is carried, or that as it is."""
        return self.choice(condition, carried, body, lambda *carried: carried)

    def repeat(self, carried, condition, body):
        """`body` as long as the condition holds of what is carried."""
        result, kinds = self.name(), ", ".join(kind for _, kind in carried)
        before, inner = ([(self.name(), kind) for _, kind in carried] for _ in range(2))
        given = ", ".join(f"{mine} = {value}" for (mine, _), (value, _) in zip(before, carried))
        self.line(f"{result}:{len(carried)} = scf.while ({given}) : ({kinds}) -> ({kinds}) {{")
        self.depth += 1
        self.line(f"scf.condition({condition(*before)}) {', '.join(value for value, _ in before)} : {kinds}")
        self.line("} do {")
        self.line(f"^bb0({', '.join(f'{value}: {kind}' for value, kind in inner)}):")
        handed = body(*inner)
        self.line(f"scf.yield {', '.join(value for value, _ in handed)} : {kinds}")
        self.depth -= 1
        self.line("}")
        return [(f"{result}#{i}", kind) for i, (_, kind) in enumerate(carried)]

    def choice(self, condition, carried, body, other):
        """What `body` makes of what is carried, or what `other` does."""
        result, kinds = self.name(), ", ".join(kind for _, kind in carried)
        self.line(f"{result}:{len(carried)} = scf.if {condition} -> ({kinds}) {{")
        for write, end in ((body, "} else {"), (other, "}")):
            self.depth += 1
            self.line(f"scf.yield {', '.join(value for value, _ in write(*carried))} : {kinds}")
            self.depth -= 1
            self.line(end)
        return [(f"{result}#{i}", kind) for i, (_, kind) in enumerate(carried)]

    def summed(self, a, b):
        """A sum whose parts may be added in any order, as registers hold several."""
        return self.value(f"arith.addf {a}, {b} fastmath<reassoc,contract> : {self.element}")

    def function(self, name, arguments, results):
        numbers = [f"  {named} = arith.constant {number} : index" for number, named in self.numbers.items()]
        takes = ", ".join(f"{value}: {kind}" for value, kind in arguments)
        kinds = ", ".join(kind for _, kind in results)
        returned = f"  return {', '.join(value for value, _ in results)} : {kinds}"
        return "\n".join([f"func.func private @{name}({takes}) -> ({kinds}) attributes {{baton.one_kernel}} {{", *numbers, *self.lines, returned, "}"])


def tensor_kind(sizes, element):
    return f"tensor<{'x'.join(map(str, [*sizes, element]))}>"


def _row_minus(t, a, row, other, factor, begin, end, b):
    """Takes `factor` times another row from a row, between two columns."""
    def one(j, a):
        return [t.put(a, t.minus(t.at(a, b, row, j), t.times(factor, t.at(a, b, other, j))), b, row, j)]
    return t.loop(begin, end, [a], one)[0]


def lu(name, shape, element):
    """The packed factors, and the rows that rows were exchanged with."""
    count, rows, columns = shape
    t, kind, pivots = Text(element), tensor_kind(shape, element), tensor_kind([count, min(rows, columns)], "i32")
    zero, one = t.real(0), t.real(1)

    def eliminate(b, k, a):
        head = t.at(a, b, k, k)
        safe, behind = t.choose(t.compare("oeq", head, zero), one, head), t.next(k)

        def row(i, a):
            factor = t.over(t.at(a, b, i, k), safe)
            return [_row_minus(t, t.put(a, factor, b, i, k), i, k, factor, behind, t.index(columns), b)]
        return t.loop(behind, t.index(rows), [a], row)[0]

    def step(b, k, a, pivots):
        def larger(i, most, at):
            size = t.size(t.at(a, b, i, k))
            is_larger = t.compare("ogt", size, most[0])
            return [(t.choose(is_larger, size, most[0]), element), (t.choose(is_larger, i, at[0], "index"), "index")]
        first = t.size(t.at(a, b, k, k))
        at = t.loop(t.next(k), t.index(rows), [(first, element), (k, "index")], larger)[1][0]

        def exchanged(j, a):
            here, there = t.at(a, b, k, j), t.at(a, b, at, j)
            return [t.put(t.put(a, there, b, k, j), here, b, at, j)]
        a = t.loop(t.index(0), t.index(columns), [a], exchanged)[0]
        return [eliminate(b, k, a), t.put(pivots, t.value(f"arith.index_cast {at} : index to i32"), b, k)]

    def matrix(b, a, pivots):
        return t.loop(t.index(0), t.index(min(rows, columns)), [a, pivots], lambda k, *carried: step(b, k, *carried))
    made = t.loop(t.index(0), t.index(count), [t.copy(("%a", kind)), t.new(pivots)], matrix)
    return t.function(name, [("%a", kind)], made)


def cholesky(name, shape, element):
    """The first columns of a lower factor; above the diagonal stays what stood there."""
    count, rows, columns = shape
    t, kind, line = Text(element), tensor_kind(shape, element), tensor_kind([rows], element)
    width = t.index(columns)

    def step(b, k, a, column):
        head, behind = t.float("math.sqrt", t.at(a, b, k, k)), t.next(k)
        a = t.put(a, head, b, k, k)

        def divided(i, a, column):
            value = t.over(t.at(a, b, i, k), head)
            return [t.put(a, value, b, i, k), t.put(column, value, i)]
        a, column = t.loop(behind, t.index(rows), [a, column], divided)

        def row(i, a):
            factor, end = t.at(column, i), t.value(f"arith.minui {t.next(i)}, {width} : index")

            def one(j, a):
                return [t.put(a, t.minus(t.at(a, b, i, j), t.times(factor, t.at(column, j))), b, i, j)]
            return t.loop(behind, end, [a], one)
        return [*t.loop(behind, t.index(rows), [a], row), column]

    def matrix(b, a, column):
        return t.loop(t.index(0), width, [a, column], lambda k, *carried: step(b, k, *carried))
    made = t.loop(t.index(0), t.index(count), [t.copy(("%a", kind)), t.new(line)], matrix)
    return t.function(name, [("%a", kind)], made[:1])


def solve(name, shape, right, element, lower, unit):
    """x of a x = right, for a triangle of `a`."""
    count, size, columns = right
    t, triangle, kind = Text(element), ("%a", tensor_kind(shape, element)), tensor_kind(right, element)
    last = t.index(size - 1)

    def step(b, turn, x):
        k = turn if lower else t.value(f"arith.subi {last}, {turn} : index")
        if not unit:
            head = t.at(triangle, b, k, k)
            x = t.loop(t.index(0), t.index(columns), [x], lambda j, x: [t.put(x, t.over(t.at(x, b, k, j), head), b, k, j)])[0]

        def row(i, x):
            return [_row_minus(t, x, i, k, t.at(triangle, b, i, k), t.index(0), t.index(columns), b)]
        begin, end = (t.next(k), t.index(size)) if lower else (t.index(0), k)
        return t.loop(begin, end, [x], row)

    def matrix(b, x):
        return t.loop(t.index(0), t.index(size), [x], lambda k, x: step(b, k, x))
    made = t.loop(t.index(0), t.index(count), [t.copy(("%x", kind))], matrix)
    return t.function(name, [triangle, ("%x", kind)], made)


def _reflect(t, b, k, a, sums, v_of, tau, begin, shape):
    """Takes from the columns from `begin` on what a reflection, a one at row k and `v_of(i, a)` at each row i behind it, turns them by."""
    _, rows, columns = shape
    end, behind = t.index(columns), t.next(k)
    sums = t.loop(begin, end, [sums], lambda j, sums: [t.put(sums, t.at(a, b, k, j), j)])[0]

    def add(i, sums):
        v = v_of(i, a)
        return t.loop(begin, end, [sums], lambda j, sums: [t.put(sums, t.float("arith.addf", t.at(sums, j), t.times(v, t.at(a, b, i, j))), j)])
    sums = t.loop(behind, t.index(rows), [sums], add)[0]

    def take(i, a, factor):
        return t.loop(begin, end, [a], lambda j, a: [t.put(a, t.minus(t.at(a, b, i, j), t.times(factor, t.at(sums, j))), b, i, j)])
    a = take(k, a, tau)[0]
    return t.loop(behind, t.index(rows), [a], lambda i, a: take(i, a, t.times(tau, v_of(i, a))))[0], sums


def qr(name, shape, element):
    """The packed factors and for each column its tau."""
    count, rows, columns = shape
    least = min(rows, columns)
    t, kind, taus = Text(element), tensor_kind(shape, element), tensor_kind([count, least], element)
    zero, one = t.real(0), t.real(1)

    def over_rows(begin, first, join):
        return t.loop(begin, t.index(rows), [(first, element)], lambda i, all: [(join(i, all[0]), element)])[0][0]

    def step(b, k, a, taus, sums):
        head, behind = t.at(a, b, k, k), t.next(k)

        def sized(i):
            return t.size(t.at(a, b, i, k))
        below = over_rows(behind, zero, lambda i, most: t.float("arith.maximumf", sized(i), most))
        most = t.float("arith.maximumf", below, t.size(head))
        nothing = t.compare("oeq", below, zero)
        scale = t.choose(t.compare("ogt", most, zero), most, one)

        def square(i, all):  # All of the column is divided by its largest number: numbers that are very small have few digits.
            scaled = t.over(t.at(a, b, i, k), scale)
            return t.float("arith.addf", all, t.times(scaled, scaled))
        length, front = t.float("math.sqrt", over_rows(k, zero, square)), t.over(head, scale)
        beta = t.choose(t.compare("oge", head, zero), t.float("arith.negf", length), length)
        away = t.minus(beta, front)
        tau = t.choose(nothing, zero, t.over(away, t.choose(nothing, one, beta)))
        safe = t.choose(nothing, one, t.float("arith.negf", away))
        beta = t.choose(nothing, head, t.times(beta, scale))
        scale = t.choose(nothing, one, scale)
        a = t.loop(behind, t.index(rows), [a], lambda i, a: [t.put(a, t.over(t.over(t.at(a, b, i, k), scale), safe), b, i, k)])[0]
        a = t.put(a, beta, b, k, k)
        moved, sums = _reflect(t, b, k, a, sums, lambda i, a: t.at(a, b, i, k), tau, behind, shape)
        return [moved, t.put(taus, tau, b, k), sums]

    def matrix(b, *carried):
        return t.loop(t.index(0), t.index(least), list(carried), lambda k, *carried: step(b, k, *carried))
    carried = [t.copy(("%a", kind)), t.new(taus), t.new(tensor_kind([columns], element))]
    return t.function(name, [("%a", kind)], t.loop(t.index(0), t.index(count), carried, matrix)[:2])


def reflections(name, shape, taus, element):
    """Their product, as many columns as `a` has."""
    count, rows, columns = shape
    t, packed, taus = Text(element), ("%a", tensor_kind(shape, element)), ("%taus", tensor_kind(taus, element))
    zero, one, last = t.real(0), t.real(1), t.index(int(taus[1].split("x")[1]) - 1)

    def begin(b, q):
        def place(i, j, q):
            is_one = t.value(f"arith.cmpi eq, {i}, {j} : index")
            return [t.put(q, t.choose(is_one, one, zero), b, i, j)]
        return t.loop(t.index(0), t.index(rows), [q], lambda i, q: t.loop(t.index(0), t.index(columns), [q], lambda j, q: place(i, j, q)))[0]

    def matrix(b, q, sums):
        def step(turn, q, sums):
            k = t.value(f"arith.subi {last}, {turn} : index")
            return _reflect(t, b, k, q, sums, lambda i, _: t.at(packed, b, i, k), t.at(taus, b, k), t.index(0), shape)
        return t.loop(t.index(0), t.next(last), [begin(b, q), sums], step)
    carried = [t.new(packed[1]), t.new(tensor_kind([columns], element))]
    return t.function(name, [packed, taus], t.loop(t.index(0), t.index(count), carried, matrix)[:1])


def permutation(name, shape, made):
    """The order in which exchanges leave rows: each row with the one that it names."""
    t, pivots, kind = Text("i32"), ("%pivots", tensor_kind(shape, "i32")), tensor_kind(made, "i32")
    none = t.index(0)

    def line(b, order):
        def begin(i, order):
            return [t.put(order, t.value(f"arith.index_cast {i} : index to i32"), b, none, i)]

        def exchange(k, order):
            pivot = t.value(f"arith.index_cast {t.at(pivots, b, none, k)} : i32 to index")
            pivot = t.value(f"arith.minui {pivot}, {t.index(made[-1] - 1)} : index")
            here, there = t.at(order, b, none, k), t.at(order, b, none, pivot)
            return [t.put(t.put(order, there, b, none, k), here, b, none, pivot)]
        order = t.loop(none, t.index(made[-1]), [order], begin)[0]
        return t.loop(none, t.index(shape[-1]), [order], exchange)
    return t.function(name, [pivots], t.loop(none, t.index(made[0]), [t.new(kind)], line))


def rotations(name, shape, element, compared, precision, sweeps):
    """Lines turned, two at a time, until all are orthogonal in their first numbers, or there were so many sweeps. spectral.py says how far
    two are turned."""
    count, lines, numbers = shape
    t, kind = Text(element), tensor_kind(shape, element)
    none, zero, one, two = t.index(0), t.real(0), t.real(1), t.real(2)
    minus_one, tolerance, least = t.real(-1), t.real(precision * max(8.0, math.sqrt(compared))), t.real(precision ** 3)
    yes, no = (t.value(f"arith.constant {each}") for each in ("true", "false"))

    def root(a):
        return t.float("math.sqrt", a)

    def products(b, p, q, a):
        def step(j, *sums):
            here, there = t.at(a, b, p, j), t.at(a, b, q, j)
            return [(t.summed(so_far[0], t.times(*pair)), element) for so_far, pair in zip(sums, ((here, here), (there, there), (here, there)))]
        return [value for value, _ in t.loop(none, t.index(compared), [(zero, element)] * 3, step)]

    def turned(b, p, q, a, first, last, between):
        slope = t.over(t.minus(last, first), t.times(between, two))
        steep = t.float("arith.addf", t.size(slope), root(t.float("arith.addf", t.times(slope, slope), one)))
        tangent = t.over(t.choose(t.compare("olt", slope, zero), minus_one, one), steep)
        cosine = t.over(one, root(t.float("arith.addf", t.times(tangent, tangent), one)))
        sine = t.times(cosine, tangent)

        def number(j, a):
            here, there = t.at(a, b, p, j), t.at(a, b, q, j)
            a = t.put(a, t.minus(t.times(cosine, here), t.times(sine, there)), b, p, j)
            return [t.put(a, t.float("arith.addf", t.times(sine, here), t.times(cosine, there)), b, q, j)]
        return t.loop(none, t.index(numbers), [a], number)[0]

    def pair(b, p, q, a, found):
        first, last, between = products(b, p, q, a)
        bound = t.float("arith.addf", t.times(t.times(root(first), root(last)), tolerance), least)
        counts = t.compare("ogt", t.size(between), bound)
        return t.when(counts, [a, found], lambda a, _: [turned(b, p, q, a, first, last, between), (yes, "i1")])

    def sweep(b, a):
        def others(p, *carried):
            return t.loop(t.next(p), t.index(lines), list(carried), lambda q, *carried: pair(b, p, q, *carried))
        return t.loop(none, t.index(lines - 1), [a, (no, "i1")], others)

    def matrix(b, a):
        return [t.loop(none, t.index(sweeps), [a, (yes, "i1")],
                       lambda _, a, goes_on: t.when(goes_on[0], [a, goes_on], lambda a, _: sweep(b, a)))[0]]
    return t.function(name, [("%a", kind)], t.loop(none, t.index(count), [t.copy(("%a", kind))], matrix))
