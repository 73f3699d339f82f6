// A function that objects may define has a body for where none does; --explain says which of the two was taken.
// REQUIRES: native
// RUN: baton-compile %s -o %t.own.bvm --explain 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: baton-run-module %t.own.bvm --device=local-sync --function=main --input=3xf32=0 | FileCheck %s --check-prefix=GENERATED
// OWN: optional_functions.mlir:[[#]]:{{[0-9]+}}: the function 'user_mix' in 'executable': its own body, because no object defines it (no object is given)
// GENERATED: 3xf32=42 42 42

// RUN: sed 's|x86_64 = \[\]|x86_64 = [#hal.executable.object<{path = "user_x86_64.o"}>]|; s|arm_64 = \[\]|arm_64 = [#hal.executable.object<{path = "user_aarch64.o"}>]|' %s > %t.mlir
// RUN: baton-compile %t.mlir --object-search-path=%kernels/../compiler-lite/codegen/cpu -o %t.linked.bvm --explain 2>&1 | FileCheck %s --check-prefix=LINKED
// RUN: baton-run-module %t.linked.bvm --device=local-sync --function=main --input=3xf32=0 | FileCheck %s --check-prefix=DEFINED
// LINKED-DAG: the function 'user_mix' in 'executable': linked from '{{.*}}user_x86_64.o'
// LINKED-DAG: the function 'user_mix' in 'executable': linked from '{{.*}}user_aarch64.o'
// DEFINED: 3xf32=-6 -6 -6

#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64">
#arm_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-arm_64">
#cpu = #hal.device.target<"local", [#x86_64, #arm_64]> : !hal.device
module @optional attributes {hal.device.targets = [#cpu]} {
  stream.executable private @executable attributes {
    hal.executable.objects = #hal.executable.objects<{
      #x86_64 = [],
      #arm_64 = []
    }>
  } {
    stream.executable.export public @fill workgroups(%n: index) -> (index, index, index) {
      %c1 = arith.constant 1 : index
      stream.return %n, %c1, %c1 : index, index, index
    }
    builtin.module {
      func.func private @user_mix(%x: f32, %small: i8, %yes: i1) -> f32 attributes {hal.import.static} {
        %r = arith.constant 42.0 : f32
        return %r : f32
      }
      func.func @fill(%in: !stream.binding, %out: !stream.binding) {
        %c0 = arith.constant 0 : index
        %i = stream.dispatch.workgroup.id[0] : index
        %n = stream.dispatch.workgroup.count[0] : index
        %x = arith.constant 1.5 : f32
        %small = arith.constant -4 : i8
        %yes = arith.constant true
        %r = stream.binding.subspan %out[%c0] : !stream.binding -> memref<?xf32>{%n}
        %y = func.call @user_mix(%x, %small, %yes) : (f32, i8, i1) -> f32
        memref.store %y, %r[%i] : memref<?xf32>
        return
      }
    }
  }
  func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %a, %c0 : tensor<?xf32>
    %r = flow.dispatch @executable::@fill[%n](%a) : (tensor<?xf32>{%n}) -> tensor<?xf32>{%n}
    return %r : tensor<?xf32>
  }
}
