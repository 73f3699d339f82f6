"""What kernels of one core (factorizations_on_cores.py) are written of where they work on rows of a matrix: rows lie in memory of their
own, as whole vectors, behind whose last number stand zeros, and every loop over numbers of a row is one over vectors.

LLVM finds no vectors in a row's loop whose ends it doesn't know, or it asks first whether two rows are one.
"""
from .factorizations_on_cores import Text, tensor_kind

VECTOR_BYTES = 64  # The widest of any processor; others take several.


class Rows(Text):
    def __init__(self, element):
        super().__init__(element)
        self.lanes = VECTOR_BYTES // (8 if element == "f64" else 4)
        self.vector = f"vector<{self.lanes}x{element}>"
        self.none = self.index(0)
        self.zero, self.one = self.real(0), self.real(1)
        self.zeros = self.wide(self.zero)

    # Numbers ----------------------------------------------------------------------------------------------------------------

    def plus(self, a, b):
        return self.value(f"arith.addf {a}, {b} : {self.element}")

    def not_a_number(self):
        return self.over(self.zero, self.zero)

    def root(self, a):
        return self.float("math.sqrt", a)

    def negative(self, a):
        return self.float("arith.negf", a)

    def joined(self, a, b, c, kind=None):
        """a b + c, of one rounding or two."""
        product = self.value(f"arith.mulf {a}, {b} fastmath<contract> : {kind or self.element}")
        return self.value(f"arith.addf {product}, {c} fastmath<contract> : {kind or self.element}")

    def less(self, a, b, c):
        """a b - c."""
        product = self.value(f"arith.mulf {a}, {b} fastmath<contract> : {self.element}")
        return self.value(f"arith.subf {product}, {c} fastmath<contract> : {self.element}")

    def with_sign(self, a, b):
        return self.float("math.copysign", a, b)

    def both(self, a, b):
        return self.value(f"arith.andi {a}, {b} : i1")

    def either(self, a, b):
        return self.value(f"arith.ori {a}, {b} : i1")

    def places(self, name, a, b):
        return self.value(f"arith.{name} {a}, {b} : index")

    def add(self, a, b):
        return self.places("addi", a, b)

    def before(self, a, b):
        return self.places("subi", a, b)

    def is_less(self, a, b):
        return self.value(f"arith.cmpi ult, {a}, {b} : index")

    def chosen(self, condition, a, b):
        return self.choose(condition, a, b, "index")

    # Vectors ----------------------------------------------------------------------------------------------------------------

    def wide(self, a):
        return self.value(f"vector.broadcast {a} : {self.element} to {self.vector}")

    def each(self, name, *operands):
        return self.value(f"{name} {', '.join(operands)} : {self.vector}")

    def sizes(self, a):
        """Without signs."""
        return self.each("math.absf", a)

    def part(self, tensor, *place):
        return self.value(f"vector.transfer_read {tensor[0]}[{', '.join(place)}], {self.zero} {{in_bounds = [true]}} : {tensor[1]}, {self.vector}")

    def put_part(self, tensor, value, *place):
        target = f"{tensor[0]}[{', '.join(place)}]"
        return self.value(f"vector.transfer_write {value}, {target} {{in_bounds = [true]}} : {self.vector}, {tensor[1]}"), tensor[1]

    def sum(self, a):
        return self.value(f"vector.reduction <add>, {a} fastmath<reassoc> : {self.vector} into {self.element}")

    def most(self, a):
        return self.value(f"vector.reduction <maximumf>, {a} : {self.vector} into {self.element}")

    # Rows -------------------------------------------------------------------------------------------------------------------

    def padded(self, count):
        return -(-max(count, 1) // self.lanes) * self.lanes

    def kind_of(self, sizes):
        return tensor_kind(sizes, self.element)

    def memory(self, count):
        """A row of zeros."""
        kind = self.kind_of([self.padded(count)])
        return self.value(f"linalg.fill ins({self.zero} : {self.element}) outs({self.new(kind)[0]} : {kind}) -> {kind}"), kind

    def first_of_vector(self, place):
        return place if place == self.none else self.places("andi", place, self.value(f"arith.constant {-self.lanes} : index"))

    def clear_row(self, row, begin, width):
        return self.vectors(begin, width, [row[0]], lambda j, tensor: [self.put_part(tensor, self.zeros, *row[1:], j)])[0]

    def exchange_rows(self, width, tensor, one, other):
        def step(j, tensor):
            here, there = self.part(tensor, *one, j), self.part(tensor, *other, j)
            return [self.put_part(self.put_part(tensor, there, *one, j), here, *other, j)]
        return self.vectors(self.none, width, [tensor], step)[0]

    def vectors(self, begin, width, carried, body):
        """A loop over the vectors from that which holds `begin` on to behind a row's last number."""
        return self.loop(self.first_of_vector(begin), self.index(self.padded(width)), carried, body, self.lanes)

    def product(self, begin, width, row, other):
        """Of two rows, each a tensor with what stands before the last index."""
        def step(j, sums):
            return [(self.joined(self.part(row[0], *row[1:], j), self.part(other[0], *other[1:], j), sums[0], self.vector), self.vector)]
        return self.sum(self.vectors(begin, width, [(self.zeros, self.vector)], step)[0][0])

    def add_row(self, begin, width, row, factor, other):
        """Adds `factor` times another row, of the same matrix or another one, to a row."""
        factor = self.wide(factor)

        def step(j, tensor):
            added = self.part(tensor if other[0] is row[0] else other[0], *other[1:], j)
            value = self.joined(factor, added, self.part(tensor, *row[1:], j), self.vector)
            return [self.put_part(tensor, value, *row[1:], j)]
        return self.vectors(begin, width, [row[0]], step)[0]

    def turn_rows(self, width, tensor, upper, lower, cosine, sine):
        """The upper row becomes c upper - s lower, the lower one s upper + c lower."""
        cosine, sine, opposite = self.wide(cosine), self.wide(sine), self.wide(self.negative(sine))

        def step(j, tensor):
            here, there = self.part(tensor, *upper, j), self.part(tensor, *lower, j)
            above = self.joined(cosine, here, self.each("arith.mulf", opposite, there), self.vector)
            below = self.joined(cosine, there, self.each("arith.mulf", sine, here), self.vector)
            return [self.put_part(self.put_part(tensor, above, *upper, j), below, *lower, j)]
        return self.vectors(self.none, width, [tensor], step)[0]
