// Functions of the user in kernels for Vulkan: libraries of SPIR-V with linkage, linked and inlined; valid code is left, with
// neither calls nor linkage. What can't be linked is told by name.
// RUN: rm -rf %t && mkdir %t
// RUN: spirv-as --target-env vulkan1.2 %S/inputs/vulkan_functions.spvasm -o %t/functions.spv
// RUN: sed -n '/^.. BEGIN good/,/^.. END/p' %s > %t/good.mlir
// RUN: baton-compile --target-device=vulkan --object-search-path=%t %t/good.mlir -o %t/good.bvm
// RUN: baton-dump-module %t/good.bvm --extract=%t
// RUN: spirv-val --target-env vulkan1.2 %t/kernels.vulkan-spirv-fb.spv
// RUN: spirv-dis --no-color %t/kernels.vulkan-spirv-fb.spv -o %t/code.spvasm
// RUN: FileCheck --input-file=%t/code.spvasm %s
// CHECK-NOT: OpCapability Linkage
// CHECK-NOT: LinkageAttributes
// CHECK: OpFunction %void
// CHECK-NOT: OpFunctionCall
// CHECK: OpFMul
// CHECK-NOT: OpFunctionCall
// CHECK: OpFunctionEnd
// CHECK-NOT: OpFunction

// RUN: sed 's/@scaled(f32, i32)/@scaled(f32, i64)/; s/i32) -> f32$/i64) -> f32/; s/%%two = arith.constant 2 : i32/%%two = arith.constant 2 : i64/' %t/good.mlir > %t/types.mlir
// RUN: not baton-compile --target-device=vulkan --object-search-path=%t %t/types.mlir -o %t/bad.bvm 2>&1 | FileCheck %s --check-prefix=TYPES
// TYPES: error: The library has scaled(float32, int32) -> float32; kernels call it as {{.*}}i64

// RUN: sed 's/@scaled/@waiting/' %t/good.mlir > %t/barrier.mlir
// RUN: not baton-compile --target-device=vulkan --object-search-path=%t %t/barrier.mlir -o %t/bad.bvm 2>&1 | FileCheck %s --check-prefix=BARRIER
// BARRIER: error: The function 'waiting' can't be called: it has a barrier, which a function can't.

// RUN: sed 's/@scaled/@vector/' %t/good.mlir > %t/vector.mlir
// RUN: not baton-compile --target-device=vulkan --object-search-path=%t %t/vector.mlir -o %t/bad.bvm 2>&1 | FileCheck %s --check-prefix=VECTOR
// VECTOR: error: The function 'vector' can't be called: parameter 0 is no single value of 32 or 64 bits; a pointer is taken as uint64_t, its address.

// RUN: sed 's/@scaled/@elsewhere/' %t/good.mlir > %t/missing.mlir
// RUN: not baton-compile --target-device=vulkan --object-search-path=%t %t/missing.mlir -o %t/bad.bvm 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: The kernel 'k' calls 'elsewhere', which no object defines; the object is '{{.*}}functions.spv'.

// RUN: mkdir %t/broken && head -c 108 %t/functions.spv > %t/broken/functions.spv
// RUN: not baton-compile --target-device=vulkan --object-search-path=%t/broken %t/good.mlir -o %t/bad.bvm 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: error: The object '{{.*}}functions.spv' is no library: an instruction reaches beyond its end.
// RUN: echo no > %t/broken/functions.spv
// RUN: not baton-compile --target-device=vulkan --object-search-path=%t/broken %t/good.mlir -o %t/bad.bvm 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: The object '{{.*}}functions.spv' is no library: it is no SPIR-V of this byte order.

// GLSL without a compiler of shaders.
// RUN: sed 's/functions.spv/functions.glsl/' %t/good.mlir > %t/glsl.mlir
// RUN: echo 'float scaled(float x) { return y; }' > %t/functions.glsl
// RUN: env PATH=%t not baton-compile --target-device=vulkan --object-search-path=%t %t/glsl.mlir -o %t/bad.bvm 2>&1 | FileCheck %s --check-prefix=GLSLANG
// GLSLANG: error: The object '{{.*}}functions.glsl' is no library: GLSL is compiled by glslangValidator, which is not in the PATH

// BEGIN good
stream.executable private @kernels attributes {
  hal.executable.objects = #hal.executable.objects<{
    #hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb"> = [#hal.executable.object<{path = "functions.spv"}>]
  }>
} {
  stream.executable.export public @k
  builtin.module {
    func.func private @scaled(f32, i32) -> f32 attributes {hal.import.static}
    func.func @k(%a: !stream.binding) {
      %zero = arith.constant 0 : index
      %two = arith.constant 2 : i32
      %m = stream.binding.subspan %a[%zero] : !stream.binding -> memref<1xf32>
      %x = memref.load %m[%zero] : memref<1xf32>
      %y = func.call @scaled(%x, %two) : (f32, i32) -> f32
      memref.store %y, %m[%zero] : memref<1xf32>
      return
    }
  }
}
// END
