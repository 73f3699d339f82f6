// What has no counterpart in SPIR-V for Vulkan is refused by its name, with the kernel and the line.
// RUN: sed -n '/^.. BEGIN wide/,/^.. END/p' %s > %t.wide.mlir
// RUN: sed -n '/^.. BEGIN narrow/,/^.. END/p' %s > %t.narrow.mlir
// RUN: sed -n '/^.. BEGIN dynamic/,/^.. END/p' %s > %t.dynamic.mlir
// RUN: sed -n '/^.. BEGIN constants/,/^.. END/p' %s > %t.constants.mlir
// RUN: not baton-compile --target-device=vulkan %t.wide.mlir -o %t.bvm 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not baton-compile --target-device=vulkan %t.narrow.mlir -o %t.bvm 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: not baton-compile --target-device=vulkan %t.dynamic.mlir -o %t.bvm 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: not baton-compile --target-device=vulkan %t.constants.mlir -o %t.bvm 2>&1 | FileCheck %s --check-prefix=CONSTANTS

// BEGIN wide
// WIDE: error: The kernel 'wide{{.*}}': '{{.*}}' of i128 is not supported in kernels for Vulkan: its type has no counterpart.
func.func @wide(%a: tensor<?xi64>, %b: tensor<?xi64>) -> tensor<?xi64> {
  %x = arith.extsi %a : tensor<?xi64> to tensor<?xi128>
  %y = arith.extsi %b : tensor<?xi64> to tensor<?xi128>
  %p = arith.muli %x, %y : tensor<?xi128>
  %s = arith.constant dense<64> : tensor<1xi128>
  %c = arith.constant 64 : i128
  %zero = arith.constant 0 : index
  %n = tensor.dim %a, %zero : tensor<?xi64>
  %by = tensor.splat %c[%n] : tensor<?xi128>
  %h = arith.shrsi %p, %by : tensor<?xi128>
  %r = arith.trunci %h : tensor<?xi128> to tensor<?xi64>
  return %r : tensor<?xi64>
}
// END

// BEGIN narrow
// NARROW: error: Kernels call 'elsewhere' as {{.*}}f16{{.*}}; a function that is found when the program is loaded takes and gives single values of 32 or 64 bits, and addresses.
stream.executable private @kernels {
  stream.executable.export public @k
  builtin.module {
    func.func private @elsewhere(f16) -> f16
    func.func @k(%a: !stream.binding) {
      %zero = arith.constant 0 : index
      %m = stream.binding.subspan %a[%zero] : !stream.binding -> memref<1xf16>
      %x = memref.load %m[%zero] : memref<1xf16>
      %y = func.call @elsewhere(%x) : (f16) -> f16
      memref.store %y, %m[%zero] : memref<1xf16>
      return
    }
  }
}
// END

// BEGIN dynamic
// DYNAMIC: error: The import 'elsewhere' asks for fields (hal.import.fields); functions of Vulkan code get none.
stream.executable private @kernels {
  stream.executable.export public @k
  builtin.module {
    func.func private @elsewhere(f32) -> f32 attributes {hal.import.fields = ["processor_id"]}
    func.func @k(%a: !stream.binding) {
      %zero = arith.constant 0 : index
      %m = stream.binding.subspan %a[%zero] : !stream.binding -> memref<1xf32>
      %x = memref.load %m[%zero] : memref<1xf32>
      %y = func.call @elsewhere(%x) : (f32) -> f32
      memref.store %y, %m[%zero] : memref<1xf32>
      return
    }
  }
}
// END

// BEGIN constants
// CONSTANTS: error: The executable 'kernels' has constants that its code for {{.*}}vulkan-spirv{{.*}} gets when it is loaded
hal.executable.source private @kernels {
  hal.executable.constant.block(%device: !hal.device) -> i32 as "answer" {
    %c = arith.constant 42 : i32
    hal.return %c : i32
  }
  hal.executable.export public @k ordinal(0) layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>)
  builtin.module {
    func.func @k() {
      return
    }
  }
}
// END
