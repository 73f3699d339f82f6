// Rows of a tile of several groups are divided in 32 bits, quotient and remainder each: what LLVM made of the remainder, a product with
// a negative number in 64 bits, an H100's driver put in the wrong place (turns.py, convolution_2d_f16_10).
// RUN: rm -rf %t && mkdir %t
// RUN: baton-compile --target-device=vulkan %s -o %t/program.bvm
// RUN: baton-dump-module %t/program.bvm --extract=%t
// RUN: spirv-val --target-env vulkan1.2 %t/dispatch_groups.vulkan-spirv-fb.spv
// RUN: spirv-dis --no-color %t/dispatch_groups.vulkan-spirv-fb.spv | FileCheck %s --implicit-check-not="OpUDiv %ulong" --implicit-check-not="OpUMod %ulong" --implicit-check-not="%ulong_18446744073709551602"
// CHECK: OpUMod %uint {{%[0-9]+}} %uint_14
// CHECK: OpUDiv %uint {{%[0-9]+}} %uint_14
func.func @convolution(%a: tensor<1x16x16x24xf16>, %b: tensor<3x3x24x24xf16>) -> tensor<1x14x14x24xf16> {
  %e = tensor.empty() : tensor<1x14x14x24xf16>
  %zero = arith.constant 0.0 : f16
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x14x14x24xf16>) -> tensor<1x14x14x24xf16>
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %b : tensor<1x16x16x24xf16>, tensor<3x3x24x24xf16>) outs(%f : tensor<1x14x14x24xf16>) -> tensor<1x14x14x24xf16>
  return %r : tensor<1x14x14x24xf16>
}
