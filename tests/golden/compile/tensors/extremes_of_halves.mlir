// The larger and the smaller of numbers and NaN is NaN in f16, too: with AVX-512 and without its instructions of f16, LLVM 19 gave
// zero where the other one was zero. Zeros keep their order by sign.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=larger --input="16xf16=nan 0 nan -0.0 1 nan inf 0 -0.0 2 -2 nan 0 -inf nan 3" --input="16xf16=0 nan -0.0 nan nan 1 nan -0.0 0 3 -3 0 nan nan -inf 4" > %t.out
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=smaller --input="16xf16=nan 0 nan -0.0 1 nan inf 0 -0.0 2 -2 nan 0 -inf nan 3" --input="16xf16=0 nan -0.0 nan nan 1 nan -0.0 0 3 -3 0 nan nan -inf 4" >> %t.out
// RUN: FileCheck %s < %t.out
// RUN: baton-codegen --emit=asm --target-option=cpu-levels=avx512 %s | FileCheck --check-prefix=CODE %s

// CHECK: 16xf16={{-?}}NAN {{-?}}NAN {{-?}}NAN {{-?}}NAN {{-?}}NAN {{-?}}NAN {{-?}}NAN 0 0 3 -2 {{-?}}NAN {{-?}}NAN {{-?}}NAN {{-?}}NAN 4
// CHECK: 16xf16={{-?}}NAN {{-?}}NAN {{-?}}NAN {{-?}}NAN {{-?}}NAN {{-?}}NAN {{-?}}NAN -0 -0 2 -3 {{-?}}NAN {{-?}}NAN {{-?}}NAN {{-?}}NAN 3

// They stay in vectors.
// CODE-NOT: vucomiss
#all = affine_map<(d0) -> (d0)>
func.func @larger(%a: tensor<16xf16>, %b: tensor<16xf16>) -> tensor<16xf16> {
  %e = tensor.empty() : tensor<16xf16>
  %r = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel"]} ins(%a, %b : tensor<16xf16>, tensor<16xf16>) outs(%e : tensor<16xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %m = arith.maximumf %x, %y : f16
    linalg.yield %m : f16
  } -> tensor<16xf16>
  return %r : tensor<16xf16>
}
func.func @smaller(%a: tensor<16xf16>, %b: tensor<16xf16>) -> tensor<16xf16> {
  %e = tensor.empty() : tensor<16xf16>
  %r = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel"]} ins(%a, %b : tensor<16xf16>, tensor<16xf16>) outs(%e : tensor<16xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %m = arith.minimumf %x, %y : f16
    linalg.yield %m : f16
  } -> tensor<16xf16>
  return %r : tensor<16xf16>
}
