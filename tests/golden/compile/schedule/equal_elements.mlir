// A constant of many equal elements is made when the program is loaded, whatever the elements are; one of few is carried.
// RUN: baton-compile --target-device=local --compile-to=hal %s | FileCheck %s --check-prefix=HOST
// RUN: baton-compile --target-device=local %s -o %t.bvm
// RUN: %{python} -c "import os, sys; sys.exit(os.path.getsize('%t.bvm') > 65536)"
// RUN: baton-run-module %t.bvm --device=local-task --function=equal --output_max_element_count=2 | FileCheck %s
// RUN: baton-compile --target-device=vulkan %s -o %t.vulkan.bvm
// RUN: %if native %{ baton-run-module %t.vulkan.bvm "--device=%vulkan" --function=equal --output_max_element_count=2 | FileCheck %s %}
// HOST-DAG: util.buffer.fill %{{.*}} : i32 ->
// HOST-DAG: util.buffer.fill %{{.*}} : i16 ->
// HOST-DAG: util.buffer.fill %{{.*}} : i8 ->
// HOST-DAG: util.buffer.fill %{{.*}} : i64 ->
// HOST-NOT: tensor<32768xi8>
// CHECK: 64x128xf32=[1.5 1.5...
// CHECK: 64x128xf16=[-2 -2...
// CHECK: 64x128xbf16=[3 3...
// CHECK: 64x128xf64=[-0.125 -0.125...
// CHECK: 64x128xi1=[1 1...
// CHECK: 64x128xi8=[-7 -7...
// CHECK: 64x128xi16=[-30000 -30000...
// CHECK: 64x128xi32=[-5 -5...
// CHECK: 64x128xi64=[-5000000000 -5000000000...
// CHECK: 3x2xf32=[4 4]
func.func @equal() -> (tensor<64x128xf32>, tensor<64x128xf16>, tensor<64x128xbf16>, tensor<64x128xf64>, tensor<64x128xi1>, tensor<64x128xi8>,
                       tensor<64x128xi16>, tensor<64x128xi32>, tensor<64x128xi64>, tensor<3x2xf32>) {
  %f32 = arith.constant dense<1.5> : tensor<64x128xf32>
  %f16 = arith.constant dense<-2.0> : tensor<64x128xf16>
  %bf16 = arith.constant dense<3.0> : tensor<64x128xbf16>
  %f64 = arith.constant dense<-0.125> : tensor<64x128xf64>
  %i1 = arith.constant dense<true> : tensor<64x128xi1>
  %i8 = arith.constant dense<-7> : tensor<64x128xi8>
  %i16 = arith.constant dense<-30000> : tensor<64x128xi16>
  %i32 = arith.constant dense<-5> : tensor<64x128xi32>
  %i64 = arith.constant dense<-5000000000> : tensor<64x128xi64>
  %few = arith.constant dense<4.0> : tensor<3x2xf32>
  return %f32, %f16, %bf16, %f64, %i1, %i8, %i16, %i32, %i64, %few : tensor<64x128xf32>, tensor<64x128xf16>, tensor<64x128xbf16>, tensor<64x128xf64>,
      tensor<64x128xi1>, tensor<64x128xi8>, tensor<64x128xi16>, tensor<64x128xi32>, tensor<64x128xi64>, tensor<3x2xf32>
}
