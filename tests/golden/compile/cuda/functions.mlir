// Functions in PTX are linked with generated kernels, as text: what the kernels reach comes along, under names of its own.
// RUN: baton-compile --target-device=cuda --object-search-path=%S/inputs %s -o %t.bvm --explain 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: baton-dump-module %t.bvm --extract=%t.files
// RUN: cat %t.files/executable.cuda-ptx-compute_75.ptx | FileCheck %s
// EXPLAIN: functions.mlir:[[#]]:{{[0-9]+}}: the function 'scale' in 'executable': linked from '{{.*}}inputs/scale.ptx'
// EXPLAIN-NEXT: functions.mlir:[[#]]:{{[0-9]+}}: the function 'clamp' in 'executable': its own body, because no object defines it (the objects are '{{.*}}scale.ptx', '{{.*}}offset.ptx')

// CHECK:     .version 7.1
// CHECK:     .target sm_75{{$}}
// CHECK-NOT: .extern .func
// CHECK-NOT: unreached
// CHECK-NOT: whole
// CHECK:     {{^}}.func {{.*}} scale(
// CHECK:     {{^}}.func {{.*}} half_of$0
// CHECK:     {{^}}.func {{.*}} half_of$1
// CHECK:     {{^}}.func {{.*}} offset_of(
// CHECK:     {{^}}.global .align 4 .b8 table[8]
// CHECK-NOT: .loc{{[[:space:]]}}
// CHECK:     .local .align 4 .b8 kept[4];
// CHECK-NOT: .loc{{[[:space:]]}}
// CHECK:     call.uni (retval0), half_of$0, (param0);
// CHECK:     call.uni (retval0), half_of$1, (param0);
// CHECK:     {{^}}.visible .entry scaled(
// CHECK:     scale,

// An object that does not fit, and one that defines nothing of what is called.
// RUN: sed 's/sm_75, debug/sm_90/' %S/inputs/scale.ptx > %t.newer.ptx
// RUN: sed 's|"scale.ptx"|"%t.newer.ptx"|' %s > %t.newer.mlir
// RUN: not baton-compile --target-device=cuda --object-search-path=%S/inputs %t.newer.mlir 2>&1 | FileCheck %s --check-prefix=NEWER
// NEWER: error: The object '{{.*}}newer.ptx' is for sm_90; this executable is for sm_75.
// RUN: sed 's/scale_param_1$/scale_param_1, .param .b32 more/' %S/inputs/scale.ptx > %t.more.ptx
// RUN: sed 's|"scale.ptx"|"%t.more.ptx"|' %s > %t.more.mlir
// RUN: not baton-compile --target-device=cuda --object-search-path=%S/inputs %t.more.mlir 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: error: The kernels call 'scale' as a function of (.b64, .b32) with the result (.b32); in '{{.*}}more.ptx' it is one of (.b64, .b32, .b32) with the result (.b32).
// RUN: sed 's|, #hal.executable.object<{path = "offset.ptx"}>||' %s > %t.open.mlir
// RUN: not baton-compile --target-device=cuda --object-search-path=%S/inputs %t.open.mlir 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: error: The object '{{.*}}scale.ptx' calls 'offset_of', which no object defines.
// RUN: sed 's|"offset.ptx"|"scale.ptx"|' %s > %t.twice.mlir
// RUN: not baton-compile --target-device=cuda --object-search-path=%S/inputs %t.twice.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: The objects '{{.*}}scale.ptx' and '{{.*}}scale.ptx' both define 'table'.
// RUN: head -c 900 %S/inputs/scale.ptx > %t.cut.ptx
// RUN: sed 's|"scale.ptx"|"%t.cut.ptx"|' %s > %t.cut.mlir
// RUN: not baton-compile --target-device=cuda --object-search-path=%S/inputs %t.cut.mlir 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: error: The object '{{.*}}cut.ptx' is cut off in a statement.
// RUN: sed 's|"scale.ptx"|"%s"|' %s > %t.none.mlir
// RUN: not baton-compile --target-device=cuda --object-search-path=%S/inputs %t.none.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: The object '{{.*}}functions.mlir' is no device code: neither bitcode (.bc) nor PTX, nor a cubin, object, archive, fatbin or LTO-IR.

#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
#cuda = #hal.device.target<"cuda", [#sm_75]> : !hal.device
module @functions attributes {hal.device.targets = [#cuda]} {
  stream.executable private @executable attributes {
    hal.executable.objects = #hal.executable.objects<{
      #sm_75 = [#hal.executable.object<{path = "scale.ptx"}>, #hal.executable.object<{path = "offset.ptx"}>]
    }>
  } {
    stream.executable.export public @scaled workgroups(%n: index) -> (index, index, index) {
      %c1 = arith.constant 1 : index
      stream.return %n, %c1, %c1 : index, index, index
    }
    builtin.module {
      func.func private @scale(memref<f32>, f32) -> f32 attributes {llvm.bareptr, hal.import.static} {
      ^bb0(%p: memref<f32>, %x: f32):
        return %x : f32
      }
      func.func private @clamp(%x: f32) -> f32 attributes {hal.import.static} {
        %zero = arith.constant 0.0 : f32
        %r = arith.maximumf %x, %zero : f32
        return %r : f32
      }
      func.func @scaled(%in: !stream.binding, %out: !stream.binding) {
        %c0 = arith.constant 0 : index
        %i = stream.dispatch.workgroup.id[0] : index
        %n = stream.dispatch.workgroup.count[0] : index
        %a = stream.binding.subspan %in[%c0] : !stream.binding -> memref<?xf32>{%n}
        %r = stream.binding.subspan %out[%c0] : !stream.binding -> memref<?xf32>{%n}
        %base, %offset, %size, %stride = iree_codegen.extract_strided_metadata %a : memref<?xf32> -> memref<f32>, index, index, index
        %x = memref.load %a[%i] : memref<?xf32>
        %y = func.call @scale(%base, %x) : (memref<f32>, f32) -> f32
        %z = func.call @clamp(%y) : (f32) -> f32
        memref.store %z, %r[%i] : memref<?xf32>
        return
      }
    }
  }
  func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %a, %c0 : tensor<?xf32>
    %r = flow.dispatch @executable::@scaled[%n](%a) : (tensor<?xf32>{%n}) -> tensor<?xf32>{%n}
    return %r : tensor<?xf32>
  }
}
