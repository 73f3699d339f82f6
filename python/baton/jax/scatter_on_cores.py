"""A scatter as a kernel of one core: a loop over updates, each combined with the row that it lands on (scatter.py)."""
from .build import element_of, is_integer, shape_of

# By operation of the combiner: of floats, of integers with a sign, and of those without.
OPERATIONS = {
    "stablehlo.add": ("arith.addf", "arith.addi", "arith.addi"),
    "stablehlo.multiply": ("arith.mulf", "arith.muli", "arith.muli"),
    "stablehlo.maximum": ("arith.maximumf", "arith.maxsi", "arith.maxui"),
    "stablehlo.minimum": ("arith.minimumf", "arith.minsi", "arith.minui"),
    "stablehlo.or": (None, "arith.ori", "arith.ori"),
    "stablehlo.and": (None, "arith.andi", "arith.andi"),
    "set": ("set", "set", "set"),
}


def one_after_the_other(kind, matrices, lands, is_unsigned):
    """What writes such a function by its name; None where it is anything else. Integers have lost their signs' marks."""
    element = element_of(matrices[0])
    if kind not in OPERATIONS or len(matrices) != 1 or (is_integer(element) and element.width == 1):
        return None
    operation = OPERATIONS[kind][0 if not is_integer(element) else 2 if is_unsigned else 1]
    if operation is None or -1 in (*shape_of(matrices[0]), *shape_of(lands)) or str(element_of(lands)) != "i32":
        return None
    (rows, columns), (count,) = shape_of(matrices[0]), shape_of(lands)
    if min(*shape_of(matrices[0]), count) < 1:
        return None
    return lambda name: _function(name, operation, str(element), rows, columns, count)


def _function(name, operation, element, rows, columns, count):
    matrix, updates, lands = f"tensor<{rows}x{columns}x{element}>", f"tensor<{count}x{columns}x{element}>", f"tensor<{count}xi32>"
    combined = _one(operation, element, matrix, updates) if columns == 1 else _row(operation, element, columns, matrix, updates)
    return f"""func.func private @{name}(%old: {matrix}, %lands: {lands}, %updates: {updates}) -> {matrix} attributes {{baton.one_kernel}} {{
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %count = arith.constant {count} : index
    %rows = arith.constant {rows} : i32
    %memory = tensor.empty() : {matrix}
    %begin = linalg.copy ins(%old : {matrix}) outs(%memory : {matrix}) -> {matrix}
    %all = scf.for %i = %zero to %count step %one iter_args(%made = %begin) -> {matrix} {{
      %land = tensor.extract %lands[%i] : {lands}
      %is_inside = arith.cmpi ult, %land, %rows : i32
      %next = scf.if %is_inside -> {matrix} {{
        %row = arith.index_castui %land : i32 to index
{combined}
        scf.yield %written : {matrix}
      }} else {{
        scf.yield %made : {matrix}
      }}
      scf.yield %next : {matrix}
    }}
    return %all : {matrix}
}}"""


def _one(operation, element, matrix, updates):
    lines = [f"%new = tensor.extract %updates[%i, %zero] : {updates}"]
    if operation != "set":
        lines += [f"%was = tensor.extract %made[%row, %zero] : {matrix}", f"%is = {operation} %was, %new : {element}"]
    lines.append(f"%written = tensor.insert {'%new' if operation == 'set' else '%is'} into %made[%row, %zero] : {matrix}")
    return _indented(lines)


def _row(operation, element, columns, matrix, updates):
    row, place = f"tensor<{columns}x{element}>", f"[1, {columns}] [1, 1]"
    lines = [f"%new = tensor.extract_slice %updates[%i, 0] {place} : {updates} to {row}"]
    if operation != "set":
        same = "affine_map<(d0) -> (d0)>"
        lines += [f"%was = tensor.extract_slice %made[%row, 0] {place} : {matrix} to {row}",
                  f"%is = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = [\"parallel\"]}} ins(%new : {row}) outs(%was : {row}) {{",
                  f"^bb0(%x: {element}, %y: {element}):",
                  f"  %z = {operation} %y, %x : {element}",
                  f"  linalg.yield %z : {element}",
                  f"}} -> {row}"]
    lines.append(f"%written = tensor.insert_slice {'%new' if operation == 'set' else '%is'} into %made[%row, 0] {place} : {row} into {matrix}")
    return _indented(lines)


def _indented(lines):
    return "\n".join("        " + line for line in lines)
