"""A scatter as functions of linalg for threads that may write anywhere (compiler-lite/codegen/scatter.hpp): each update is joined with
its row at once, in any order, and still the result is the same each time.

    integers     joined by atomic operations; those of fewer than 32 bits in 32 of them
    set          the last update of each row is found (its number is the greatest), and writes
    min, max     of floats: integers in the same order
    sums         of floats: the greatest magnitude of each element is found, then all updates are added as integers that have so many bits
                 below it that no order can change their sum; it is nearer to the truth than a sum of floats
    unique rows  what the program promises: each update is joined with what it reads, whatever the operation

Where there are many rows and few updates, sums are those of the last update of each row, which adds them to it.
"""
from .build import element_of, is_integer, shape_of

# By operation of the combiner: of floats; of integers with a sign, without one, and of bits.
JOINS = {
    "stablehlo.add": ("arith.addf", "arith.addi", "arith.addi", "arith.ori"),
    "stablehlo.multiply": ("arith.mulf", "arith.muli", "arith.muli", "arith.andi"),
    "stablehlo.maximum": ("arith.maximumf", "arith.maxsi", "arith.maxui", "arith.ori"),
    "stablehlo.minimum": ("arith.minimumf", "arith.minsi", "arith.minui", "arith.andi"),
    "stablehlo.and": (None, "arith.andi", "arith.andi", "arith.andi"),
    "stablehlo.or": (None, "arith.ori", "arith.ori", "arith.ori"),
    "set": ("", "", "", ""),
}
FLOATS = ("f16", "bf16", "f32", "f64")


def written_at_once(kind, matrix, lands, is_unique, is_unsigned):
    """What writes such a function by its name; None where it is anything else. Integers have lost their signs' marks."""
    element = element_of(matrix)
    if kind not in JOINS or str(element_of(lands)) != "i32" or 0 in (*shape_of(matrix), *shape_of(lands)):
        return None
    if not is_integer(element) and str(element) not in FLOATS or is_integer(element) and element.width not in (1, 8, 16, 32, 64):
        return None
    column = 0 if not is_integer(element) else 3 if element.width == 1 else 2 if is_unsigned else 1
    operation = JOINS[kind][column]
    if operation is None:
        return None
    scatter = _Scatter(str(element), operation, shape_of(matrix), shape_of(lands)[0], is_unsigned)
    if is_unique:
        return scatter.unique
    if kind == "set":
        return scatter.last
    if is_integer(element):
        return scatter.integers if operation != "arith.muli" else None
    if operation in ("arith.maximumf", "arith.minimumf"):
        return scatter.extremes
    return scatter.sums if operation == "arith.addf" and str(element) != "f64" else None


class _Scatter:
    """%old, a matrix; %lands, the row of each update, outside where it has none; %updates, a row for each."""

    def __init__(self, element, operation, shape, count, is_unsigned):
        self.element, self.operation, self.is_unsigned = element, operation, is_unsigned
        self.rows, self.columns = shape
        self.count = count

    # Functions -------------------------------------------------------------------------------------------------------

    def unique(self, name):
        text = _Text(self)
        return text.function(name, self._unique(text, "%lands", "%old"))

    def _unique(self, text, lands, old):
        join = [f"%joined = {self.operation} %so_far, %new : {self.element}"] if self.operation else []
        return text.scattered([(lands, "i32", "%land", "i"), ("%updates", self.element, "%new", "ic")], old, self.element,
                            join, "%joined" if join else "%new", is_unique=True)

    def last(self, name):
        text = _Text(self)
        lands = self._lands_of_winners(text, self._winners(text))
        return text.function(name, self._unique(text, lands, "%old"))

    def _lands_of_winners(self, text, places):
        """The rows of those updates that are the last ones of theirs; -1 for all other ones."""
        return text.each("i", "i32", [("%lands", "i32", "%land", "i"), (places, "i32", "%place", "i")], [
            "%number = linalg.index 0 : index", "%mine = arith.index_cast %number : index to i32", "%none = arith.constant -1 : i32",
            "%wins = arith.cmpi eq, %mine, %place : i32", "%row = arith.select %wins, %land, %none : i32"], "%row")

    def _winners(self, text):
        """For each update the number of the last one of its row; -1 where it has no row."""
        none = text.filled("r", "i32", "-1")
        last = text.scattered([("%lands", "i32", "%land", "i")], none, "i32", [
            "%number = linalg.index 1 : index", "%mine = arith.index_cast %number : index to i32",
            "%joined = arith.maxsi %so_far, %mine : i32"], "%joined", of="r")
        rows = text.size("r")
        return text.each("i", "i32", [("%lands", "i32", "%land", "i")], [
            f"%is_inside = arith.cmpi ult, %land, {text.as_i32(rows)} : i32",
            "%none = arith.constant -1 : i32", "%zero = arith.constant 0 : i32",
            "%held = arith.select %is_inside, %land, %zero : i32", "%row = arith.index_cast %held : i32 to index",
            f"%found = tensor.extract {last}[%row] : {text.type('r', 'i32')}",
            "%place = arith.select %is_inside, %found, %none : i32"], "%place")

    def integers(self, name):
        text, width = _Text(self), int(self.element[1:])
        wide = "i32" if width < 32 else self.element
        extend = "arith.extui" if width == 1 or self.is_unsigned else "arith.extsi"
        old, fetch, new = "%old", [], "%new"
        if wide != self.element:
            old = text.each("rc", wide, [("%old", self.element, "%x", "rc")], [f"%wide = {extend} %x : {self.element} to {wide}"], "%wide")
            fetch, new = [f"%wide = {extend} %new : {self.element} to {wide}"], "%wide"
        joined = text.scattered([("%lands", "i32", "%land", "i"), ("%updates", self.element, "%new", "ic")], old, wide,
                              [*fetch, f"%joined = {self.operation} %so_far, {new} : {wide}"], "%joined")
        if wide != self.element:
            joined = text.each("rc", self.element, [(joined, wide, "%x", "rc")], [f"%narrow = arith.trunci %x : {wide} to {self.element}"], "%narrow")
        return text.function(name, joined)

    def extremes(self, name):
        text = _Text(self)
        wide = "f64" if self.element == "f64" else "f32"
        kind, is_greatest = "i" + wide[1:], self.operation == "arith.maximumf"
        join = "arith.maxsi" if is_greatest else "arith.minsi"
        key = text.each("rc", kind, [("%old", self.element, "%x", "rc")], self._key("%x", wide, kind, is_greatest), "%key")
        joined = text.scattered([("%lands", "i32", "%land", "i"), ("%updates", self.element, "%new", "ic")], key, kind,
                              [*self._key("%new", wide, kind, is_greatest), f"%joined = {join} %so_far, %key : {kind}"], "%joined")
        back, number = self._narrow("%number", "%narrow", wide)
        back = [*_turned("%x", "%bits", kind), f"%number = arith.bitcast %bits : {kind} to {wide}", *back]
        return text.function(name, text.each("rc", self.element, [(joined, kind, "%x", "rc")], back, number))

    def _key(self, value, wide, kind, is_greatest):
        """Integers in the order of floats; what is no number comes last of all that is looked for."""
        nan = {"f32": 0x7fc00000, "f64": 0x7ff8 << 48}[wide] - (0 if is_greatest else 1 << (int(kind[1:]) - 1))
        widen, x = self._widen(value, "%wide", wide)
        return [*widen, f"%raw = arith.bitcast {x} : {wide} to {kind}", f"%nan = arith.constant {nan} : {kind}",
                f"%is_none = arith.cmpf uno, {x}, {x} : {wide}", f"%bits = arith.select %is_none, %nan, %raw : {kind}",
                *_turned("%bits", "%key", kind)]

    def _widen(self, value, name, wide):
        """Lines that make `name` of an element, in this type or a wider one, and what it is called then."""
        return ([], value) if self.element == wide else ([f"{name} = arith.extf {value} : {self.element} to {wide}"], name)

    def _narrow(self, value, name, wide):
        return ([], value) if self.element == wide else ([f"{name} = arith.truncf {value} : {wide} to {self.element}"], name)

    def sums(self, name):
        text = _Text(self)
        known = -1 not in (self.rows, self.count)
        if not known or self.rows <= 2 * self.count:
            largest, sums = self._sums(text, "%lands", "r")
            total = text.each("rc", self.element, [("%old", self.element, "%x", "rc"), (largest, "i32", "%most", "rc"), (sums, "i64", "%sum", "rc")],
                              [*self._total(), *self._added("%x")], "%narrow")
            return text.function(name, total)
        places = self._winners(text)
        largest, sums = self._sums(text, places, "i")
        lands = self._lands_of_winners(text, places)
        total = text.scattered([(lands, "i32", "%land", "i"), (largest, "i32", "%most", "ic"), (sums, "i64", "%sum", "ic")], "%old", self.element,
                             [*self._total(), *self._added("%so_far")], "%narrow", is_unique=True)
        return text.function(name, total)

    def _bits(self):
        """How many bits an update has below the greatest magnitude, so that the sum of all fits into 62."""
        return 62 - (31 if self.count == -1 else max(1, (self.count - 1).bit_length()))

    def _sums(self, text, lands, of):
        """The bits of the greatest magnitude for each element, and the sum of all updates as integers."""
        update, magnitude = (lands, "i32", "%land", "i"), 0x7fffffff
        widen, x = self._widen("%new", "%wide", "f32")
        largest = text.scattered([update, ("%updates", self.element, "%new", "ic")], text.filled(of + "c", "i32", "0"), "i32", [
            *widen, f"%raw = arith.bitcast {x} : f32 to i32", f"%mask = arith.constant {magnitude} : i32",
            "%bits = arith.andi %raw, %mask : i32", "%joined = arith.maxsi %so_far, %bits : i32"], "%joined", of=of + "c")
        sums = text.scattered([update, ("%updates", self.element, "%new", "ic")], text.filled(of + "c", "i64", "0"), "i64", [
            "%row = arith.index_cast %land : i32 to index", "%column = linalg.index 1 : index",
            f"%most = tensor.extract {largest}[%row, %column] : {text.type(of + 'c', 'i32')}",
            *widen, *self._exponent(), *self._power("%power_bits = arith.subi %bias, %shift : i64", 1023 + 126 + self._bits()),
            f"%exact = arith.extf {x} : f32 to f64", "%moved = arith.mulf %exact, %power : f64", "%whole = math.roundeven %moved : f64",
            "%number = arith.fptosi %whole : f64 to i64",
            # What is no number counts as both infinities.
            f"%is_none = arith.cmpf uno, {x}, {x} : f32", "%zero_f = arith.constant 0.0 : f32",
            f"%above = arith.cmpf ogt, {x}, %zero_f : f32", f"%below = arith.cmpf olt, {x}, %zero_f : f32",
            f"%raw = arith.bitcast {x} : f32 to i32", f"%mask = arith.constant {magnitude} : i32", "%bits = arith.andi %raw, %mask : i32",
            "%infinity = arith.constant 2139095040 : i32", "%is_infinite = arith.cmpi uge, %bits, %infinity : i32",
            "%up0 = arith.ori %is_none, %above : i1", "%up1 = arith.andi %up0, %is_infinite : i1", "%up2 = arith.extui %up1 : i1 to i64",
            "%down0 = arith.ori %is_none, %below : i1", "%down1 = arith.andi %down0, %is_infinite : i1", "%down2 = arith.extui %down1 : i1 to i64",
            "%half = arith.constant 31 : i64", "%down3 = arith.shli %down2, %half : i64", "%infinite = arith.addi %up2, %down3 : i64",
            "%has_infinite = arith.cmpi uge, %most, %infinity : i32", "%counted = arith.select %has_infinite, %infinite, %number : i64",
            "%joined = arith.addi %so_far, %counted : i64"], "%joined", of=of + "c")
        return largest, sums

    def _exponent(self):
        """%shift, the exponent of %most: 1 at least, and one that a power of two has where it is that of an infinity."""
        return ["%wide_most = arith.extui %most : i32 to i64", "%fraction = arith.constant 23 : i64", "%exponent = arith.shrui %wide_most, %fraction : i64",
                "%least = arith.constant 1 : i64", "%shift = arith.maxsi %exponent, %least : i64"]

    def _power(self, bits, bias):
        return [f"%bias = arith.constant {bias} : i64", bits, "%mantissa = arith.constant 52 : i64",
                "%power_moved = arith.shli %power_bits, %mantissa : i64", "%power = arith.bitcast %power_moved : i64 to f64"]

    def _total(self):
        """%total, in f32, of %sum."""
        return [*self._exponent(), *self._power("%power_bits = arith.addi %bias, %shift : i64", 1023 - 126 - self._bits()),
                "%as_float = arith.sitofp %sum : i64 to f64", "%scaled = arith.mulf %as_float, %power : f64", "%finite = arith.truncf %scaled : f64 to f32",
                f"%low = arith.constant {(1 << 31) - 1} : i64", "%half = arith.constant 31 : i64", "%zero_i = arith.constant 0 : i64",
                "%ups = arith.andi %sum, %low : i64", "%downs = arith.shrui %sum, %half : i64",
                "%has_up = arith.cmpi ne, %ups, %zero_i : i64", "%has_down = arith.cmpi ne, %downs, %zero_i : i64",
                "%plus = arith.constant 0x7f800000 : f32", "%minus = arith.constant 0xff800000 : f32", "%none = arith.constant 0x7fc00000 : f32",
                "%one_way = arith.select %has_up, %plus, %minus : f32", "%both = arith.andi %has_up, %has_down : i1",
                "%infinite = arith.select %both, %none, %one_way : f32", "%infinity = arith.constant 2139095040 : i32",
                "%has_infinite = arith.cmpi uge, %most, %infinity : i32", "%total = arith.select %has_infinite, %infinite, %finite : f32"]

    def _added(self, old):
        if self.element == "f32":
            return [f"%narrow = arith.addf {old}, %total : f32"]
        return [f"%before = arith.extf {old} : {self.element} to f32", "%after = arith.addf %before, %total : f32",
                f"%narrow = arith.truncf %after : f32 to {self.element}"]


def _turned(value, name, kind):
    """The bits of negative floats count backwards; the same turns them back."""
    width = int(kind[1:])
    return [f"%flip = arith.constant {(1 << (width - 1)) - 1} : {kind}", f"%nought = arith.constant 0 : {kind}",
            f"%is_negative = arith.cmpi slt, {value}, %nought : {kind}", f"%other = arith.xori {value}, %flip : {kind}",
            f"{name} = arith.select %is_negative, %other, {value} : {kind}"]


class _Text:
    """A function on tensors of the dimensions r, rows; c, columns; and i, updates."""

    def __init__(self, scatter):
        self.given, self.lines, self.count, self.known = scatter, [], 0, {}

    def value(self, text):
        self.count += 1
        self.lines.append(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def type(self, dimensions, element):
        sizes = {"r": self.given.rows, "c": self.given.columns, "i": self.given.count}
        return f"tensor<{''.join('?x' if sizes[each] == -1 else f'{sizes[each]}x' for each in dimensions)}{element}>"

    def size(self, dimension):
        if dimension not in self.known:
            size = {"r": self.given.rows, "c": self.given.columns, "i": self.given.count}[dimension]
            if size != -1:
                self.known[dimension] = self.value(f"arith.constant {size} : index")
            else:
                tensor, place = {"r": ("%old", 0), "c": ("%old", 1), "i": ("%lands", 0)}[dimension]
                number = self.value(f"arith.constant {place} : index")
                kind = self.type("i", "i32") if tensor == "%lands" else self.type("rc", self.given.element)
                self.known[dimension] = self.value(f"tensor.dim {tensor}, {number} : {kind}")
        return self.known[dimension]

    def as_i32(self, index):
        if index + "_i32" not in self.known:
            self.known[index + "_i32"] = self.value(f"arith.index_cast {index} : index to i32")
        return self.known[index + "_i32"]

    def empty(self, dimensions, element):
        kind = self.type(dimensions, element)
        return self.value(f"tensor.empty({', '.join(self.size(each) for each in dimensions if self._is_open(each))}) : {kind}")

    def _is_open(self, dimension):
        return {"r": self.given.rows, "c": self.given.columns, "i": self.given.count}[dimension] == -1

    def filled(self, dimensions, element, number):
        constant, memory = self.value(f"arith.constant {number} : {element}"), self.empty(dimensions, element)
        kind = self.type(dimensions, element)
        return self.value(f"linalg.fill ins({constant} : {element}) outs({memory} : {kind}) -> {kind}")

    def each(self, dimensions, element, inputs, body, yielded):
        """Element by element; inputs are (value, its element, its name in the body, its dimensions)."""
        loops = {each: f"d{i}" for i, each in enumerate(dimensions)}
        return self._generic(loops, dimensions, ["parallel"] * len(dimensions), inputs, (self.empty(dimensions, element), element, "%unused"), body, yielded)

    def scattered(self, inputs, old, element, body, yielded, of="rc", is_unique=False):
        """The loops are the result's rows and columns, then updates; the body's first input is the row, %land."""
        dimensions = of if of[0] == "r" else "r" + of[1:]
        loops = {each: f"d{i}" for i, each in enumerate(dimensions)}
        loops["i"] = f"d{len(dimensions)}"
        kinds = ["parallel"] * len(dimensions) + ["reduction"]
        hit = ["%hit_row = linalg.index 0 : index", "%hit_number = arith.index_cast %hit_row : index to i32",
               "%hits = arith.cmpi eq, %hit_number, %land : i32"]
        chosen = [f"%chosen = arith.select %hits, {yielded}, %so_far : {element}"]
        return self._generic(loops, dimensions, kinds, inputs, (old, element, "%so_far"), [*hit, *body, *chosen], "%chosen",
                             result=self.type(of, element), attributes=", baton.unique_rows" if is_unique else "")

    def _generic(self, loops, dimensions, kinds, inputs, output, body, yielded, result=None, attributes=""):
        memory, element, its_name = output
        result = result or self.type(dimensions, element)
        names = ", ".join(loops.values())
        maps = ", ".join(f"affine_map<({names}) -> ({', '.join(loops[each] for each in used)})>" for used in [*(each[3] for each in inputs), dimensions])
        given = ", ".join(each[0] for each in inputs) + " : " + ", ".join(self.type(each[3], each[1]) for each in inputs)
        arguments = ", ".join([*(f"{each[2]}: {each[1]}" for each in inputs), f"{its_name}: {element}"])
        block = "\n".join("      " + line for line in [*body, f"linalg.yield {yielded} : {element}"])
        quoted = ", ".join(f'"{each}"' for each in kinds)
        return self.value(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{quoted}]{attributes}}}\n"
                          f"      ins({given}) outs({memory} : {result}) {{\n    ^bb0({arguments}):\n{block}\n    }} -> {result}")

    def function(self, name, result):
        matrix, lands = self.type("rc", self.given.element), self.type("i", "i32")
        body = "\n".join("    " + line for line in [*self.lines, f"return {result} : {matrix}"])
        return f"func.func private @{name}(%old: {matrix}, %lands: {lands}, %updates: {self.type('ic', self.given.element)}) -> {matrix} {{\n{body}\n}}"
