// What math there is, in f32 and f64; on numbers where each is defined.
// Here it compiles; tests/gpu/compiled.py runs the cases where there is a GPU, and compares with the CPU.
// RUN: baton-compile --target-device=cuda %s -o %t.bvm
// RUN: FileCheck --input-file=%t.bvm %s
// CHECK: .target sm_75
// CHECK-NOT: .extern .func
// CHECK: .visible .entry
// CASE: exp --input=999=f32
// CASE: log --input=999=f32:positive
// CASE: log2 --input=999=f32:positive
// CASE: log10 --input=999=f32:positive
// CASE: log1p --input=999=f32:positive
// CASE: exp2 --input=999=f32
// CASE: expm1 --input=999=f32
// CASE: sin --input=999=f32
// CASE: cos --input=999=f32
// CASE: tan --input=999=f32
// CASE: tanh --input=999=f32
// CASE: sinh --input=999=f32
// CASE: cosh --input=999=f32
// CASE: atan --input=999=f32
// CASE: asin --input=999=f32:unit
// CASE: acos --input=999=f32:unit
// CASE: erf --input=999=f32
// CASE: sqrt --input=999=f32:positive
// CASE: rsqrt --input=999=f32:positive
// CASE: cbrt --input=999=f32
// CASE: floor --input=999=f32
// CASE: ceil --input=999=f32
// CASE: round --input=999=f32
// CASE: roundeven --input=999=f32
// CASE: trunc --input=999=f32
// CASE: absf --input=999=f32
// CASE: asinh --input=999=f32
// CASE: atanh --input=999=f32:unit
// CASE: acosh --input=999=f32:big
// CASE: powf --input=999=f32:positive --input=999=f32
// CASE: atan2 --input=999=f32:positive --input=999=f32
// CASE: copysign --input=999=f32:positive --input=999=f32
// CASE: remf --input=999=f32 --input=999=f32:positive
// CASE: fma --input=999=f32 --input=999=f32
// CASE: exp_wide --input=999=f64
// CASE: log_wide --input=999=f64:positive
// CASE: log2_wide --input=999=f64:positive
// CASE: log10_wide --input=999=f64:positive
// CASE: log1p_wide --input=999=f64:positive
// CASE: exp2_wide --input=999=f64
// CASE: expm1_wide --input=999=f64
// CASE: sin_wide --input=999=f64
// CASE: cos_wide --input=999=f64
// CASE: tan_wide --input=999=f64
// CASE: tanh_wide --input=999=f64
// CASE: sinh_wide --input=999=f64
// CASE: cosh_wide --input=999=f64
// CASE: atan_wide --input=999=f64
// CASE: asin_wide --input=999=f64:unit
// CASE: acos_wide --input=999=f64:unit
// CASE: erf_wide --input=999=f64
// CASE: sqrt_wide --input=999=f64:positive
// CASE: rsqrt_wide --input=999=f64:positive
// CASE: cbrt_wide --input=999=f64
// CASE: floor_wide --input=999=f64
// CASE: ceil_wide --input=999=f64
// CASE: round_wide --input=999=f64
// CASE: roundeven_wide --input=999=f64
// CASE: trunc_wide --input=999=f64
// CASE: absf_wide --input=999=f64
// CASE: asinh_wide --input=999=f64
// CASE: atanh_wide --input=999=f64:unit
// CASE: acosh_wide --input=999=f64:big
// CASE: powf_wide --input=999=f64:positive --input=999=f64
// CASE: atan2_wide --input=999=f64:positive --input=999=f64
// CASE: copysign_wide --input=999=f64:positive --input=999=f64
// CASE: remf_wide --input=999=f64 --input=999=f64:positive
// CASE: fma_wide --input=999=f64 --input=999=f64
func.func @exp(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.exp %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @log(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.log %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @log2(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.log2 %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @log10(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.log10 %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @log1p(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.log1p %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @exp2(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.exp2 %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @expm1(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.expm1 %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @sin(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.sin %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @cos(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.cos %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @tan(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.tan %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @tanh(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.tanh %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @sinh(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.sinh %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @cosh(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.cosh %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @atan(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.atan %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @asin(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.asin %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @acos(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.acos %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @erf(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.erf %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @sqrt(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.sqrt %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @rsqrt(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.rsqrt %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @cbrt(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.cbrt %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @floor(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.floor %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @ceil(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.ceil %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @round(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.round %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @roundeven(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.roundeven %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @trunc(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.trunc %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @absf(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.absf %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @asinh(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.asinh %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @atanh(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.atanh %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @acosh(%a: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.acosh %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @powf(%a: tensor<999xf32>, %b: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.powf %a, %b : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @atan2(%a: tensor<999xf32>, %b: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.atan2 %a, %b : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @copysign(%a: tensor<999xf32>, %b: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.copysign %a, %b : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @remf(%a: tensor<999xf32>, %b: tensor<999xf32>) -> tensor<999xf32> {
  %r = arith.remf %a, %b : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @fma(%a: tensor<999xf32>, %b: tensor<999xf32>) -> tensor<999xf32> {
  %r = math.fma %a, %b, %a : tensor<999xf32>
  return %r : tensor<999xf32>
}
func.func @exp_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.exp %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @log_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.log %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @log2_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.log2 %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @log10_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.log10 %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @log1p_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.log1p %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @exp2_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.exp2 %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @expm1_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.expm1 %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @sin_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.sin %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @cos_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.cos %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @tan_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.tan %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @tanh_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.tanh %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @sinh_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.sinh %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @cosh_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.cosh %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @atan_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.atan %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @asin_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.asin %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @acos_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.acos %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @erf_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.erf %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @sqrt_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.sqrt %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @rsqrt_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.rsqrt %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @cbrt_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.cbrt %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @floor_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.floor %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @ceil_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.ceil %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @round_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.round %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @roundeven_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.roundeven %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @trunc_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.trunc %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @absf_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.absf %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @asinh_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.asinh %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @atanh_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.atanh %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @acosh_wide(%a: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.acosh %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @powf_wide(%a: tensor<999xf64>, %b: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.powf %a, %b : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @atan2_wide(%a: tensor<999xf64>, %b: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.atan2 %a, %b : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @copysign_wide(%a: tensor<999xf64>, %b: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.copysign %a, %b : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @remf_wide(%a: tensor<999xf64>, %b: tensor<999xf64>) -> tensor<999xf64> {
  %r = arith.remf %a, %b : tensor<999xf64>
  return %r : tensor<999xf64>
}
func.func @fma_wide(%a: tensor<999xf64>, %b: tensor<999xf64>) -> tensor<999xf64> {
  %r = math.fma %a, %b, %a : tensor<999xf64>
  return %r : tensor<999xf64>
}
