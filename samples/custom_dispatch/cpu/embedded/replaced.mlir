// -|a * b|, once for any size and once for ten: a program that knows no C, until replaced_spec.mlir finds both.
#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {target_triple = "x86_64-none-elf"}>
#cpu = #hal.device.target<"local", [#x86_64]> : !hal.device
#map = affine_map<(d0) -> (d0)>

module @example attributes {hal.device.targets = [#cpu]} {
  func.func @mixed_invocation(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<10xf32>, %d: tensor<10xf32>)
      -> (tensor<?xf32>, tensor<10xf32>) {
    %zero = arith.constant 0 : index
    %count = tensor.dim %a, %zero : tensor<?xf32>
    %any = tensor.empty(%count) : tensor<?xf32>
    %product = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
        ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%any : tensor<?xf32>) {
      ^bb0(%x: f32, %y: f32, %out: f32):
        %p = arith.mulf %x, %y : f32
        %m = math.absf %p : f32
        linalg.yield %m : f32
    } -> tensor<?xf32>
    %negated = arith.negf %product : tensor<?xf32>

    %ten = tensor.empty() : tensor<10xf32>
    %product_of_ten = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
        ins(%c, %d : tensor<10xf32>, tensor<10xf32>) outs(%ten : tensor<10xf32>) {
      ^bb0(%x: f32, %y: f32, %out: f32):
        %p = arith.mulf %x, %y : f32
        %m = math.absf %p : f32
        linalg.yield %m : f32
    } -> tensor<10xf32>
    %negated_ten = arith.negf %product_of_ten : tensor<10xf32>
    return %negated, %negated_ten : tensor<?xf32>, tensor<10xf32>
  }
}
