"""Prints a kernel for Vulkan that holds one row of "Where kernels for Vulkan differ": vulkan_rows.py ROW."""

import sys

PROGRAM = """
#spirv = #hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb">
#vulkan = #hal.device.target<"vulkan", [#spirv]> : !hal.device
module @row attributes {hal.device.targets = [#vulkan]} {
  stream.executable private @executable {
    stream.executable.export public @fill workgroups(%n: index) -> (index, index, index) {
      %one = arith.constant 1 : index
      stream.return %n, %one, %one : index, index, index
    }
    builtin.module {
FUNCTIONS
      func.func @fill(%in: !stream.binding, %out: !stream.binding) {
        %zero = arith.constant 0 : index
        %i = stream.dispatch.workgroup.id[0] : index
        %n = stream.dispatch.workgroup.count[0] : index
        %a = stream.binding.subspan %in[%zero] : !stream.binding -> memref<?xTYPE>{%n}
        %r = stream.binding.subspan %out[%zero] : !stream.binding -> memref<?xTYPE>{%n}
        %x = memref.load %a[%i] : memref<?xTYPE>
BODY
        memref.store %y, %r[%i] : memref<?xTYPE>
        return
      }
    }
  }
  func.func @main(%a: tensor<?xTYPE>) -> tensor<?xTYPE> {
    %zero = arith.constant 0 : index
    %n = tensor.dim %a, %zero : tensor<?xTYPE>
    %r = flow.dispatch @executable::@fill[%n](%a) : (tensor<?xTYPE>{%n}) -> tensor<?xTYPE>{%n}
    return %r : tensor<?xTYPE>
  }
}"""

RECURRING = """
      func.func private @f(%x: i32) -> i32 {
        %two = arith.constant 2 : i32
        %more = arith.cmpi sgt, %x, %two : i32
        %result = scf.if %more -> i32 {
          %half = arith.divsi %x, %two : i32
          %first = func.call @f(%half) : (i32) -> i32
          %square = arith.muli %first, %first : i32
          %second = func.call @f(%square) : (i32) -> i32
          scf.yield %second : i32
        } else {
          scf.yield %x : i32
        }
        return %result : i32
      }"""

TWO = """
      func.func private @f(%x: i32) -> i32 {
        %y = arith.addi %x, %x : i32
        return %y : i32
      }
      func.func private @g(%x: i32) -> i32 {
        %y = arith.muli %x, %x : i32
        return %y : i32
      }"""

THROUGH_A_POINTER = """
        %k = arith.index_cast %i : index to i32
        %f = func.constant @f : (i32) -> i32
        %g = func.constant @g : (i32) -> i32
        %less = arith.cmpi slt, %x, %k : i32
        %h = arith.select %less, %f, %g : (i32) -> i32
        %y = func.call_indirect %h(%x) : (i32) -> i32"""

WIDE = """
        %three = arith.constant 3 : i128
        %w = arith.extsi %x : i32 to i128
        %square = arith.muli %w, %w : i128
        %odd = arith.ori %w, %three : i128
        %quotient = arith.divsi %square, %odd : i128
        %y = arith.trunci %quotient : i128 to i32"""

CALL = "        %y = func.call @f(%x) : (i32) -> i32"
IMPORT = "      func.func private @f(i32) -> i32 attributes {hal.import}"

ROWS = {  # Type, functions, body.
    "wide": ("i32", "", WIDE),
    "pointer": ("i32", TWO, THROUGH_A_POINTER),
    "recurring": ("i32", RECURRING, CALL),
    "atomic_integer": ("i32", "", "        %y = memref.atomic_rmw addi %x, %r[%zero] : (i32, memref<?xi32>) -> i32"),
    "atomic_float": ("f32", "", "        %y = memref.atomic_rmw addf %x, %r[%zero] : (f32, memref<?xf32>) -> f32"),
    "found": ("i32", IMPORT, CALL),
}

element, functions, body = ROWS[sys.argv[1]]
print(PROGRAM.replace("FUNCTIONS", functions).replace("BODY", body).replace("TYPE", element))
