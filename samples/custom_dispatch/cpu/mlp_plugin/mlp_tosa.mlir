// -relu(a * b), in tosa, with sizes that are known.
#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {target_triple = "x86_64-none-elf"}>
#local = #hal.device.target<"local", [#x86_64]> : !hal.device
module @example attributes {hal.device.targets = [#local]} {
  func.func @mlp_invocation(%lhs: tensor<2x4xf32>, %rhs: tensor<4x8xf32>) -> tensor<2x8xf32> {
    %lhs_shape = tosa.const_shape {values = dense<[1, 2, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %a = tosa.reshape %lhs, %lhs_shape : (tensor<2x4xf32>, !tosa.shape<3>) -> tensor<1x2x4xf32>
    %rhs_shape = tosa.const_shape {values = dense<[1, 4, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %b = tosa.reshape %rhs, %rhs_shape : (tensor<4x8xf32>, !tosa.shape<3>) -> tensor<1x4x8xf32>
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %product = tosa.matmul %a, %b, %zero, %zero : (tensor<1x2x4xf32>, tensor<1x4x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x8xf32>
    %relu = tosa.clamp %product {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x2x8xf32>) -> tensor<1x2x8xf32>
    %negative = tosa.negate %relu, %zero, %zero : (tensor<1x2x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x8xf32>
    %shape = tosa.const_shape {values = dense<[2, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %result = tosa.reshape %negative, %shape : (tensor<1x2x8xf32>, !tosa.shape<2>) -> tensor<2x8xf32>
    return %result : tensor<2x8xf32>
  }
}
