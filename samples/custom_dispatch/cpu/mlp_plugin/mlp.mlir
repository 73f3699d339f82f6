// -relu(a * b): what a spec of this folder finds in it is computed by the plugin, the rest by the compiler.
#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {target_triple = "x86_64-none-elf"}>
#cpu = #hal.device.target<"local", [#x86_64]> : !hal.device
#rows = affine_map<(d0, d1) -> (d0, d1)>

module @example attributes {hal.device.targets = [#cpu]} {
  func.func @mlp_invocation(%lhs: tensor<?x?xf32>, %rhs: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = tensor.dim %lhs, %c0 : tensor<?x?xf32>
    %n = tensor.dim %rhs, %c1 : tensor<?x?xf32>
    %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
    %product = linalg.matmul ins(%lhs, %rhs : tensor<?x?xf32>, tensor<?x?xf32>) outs(%fill : tensor<?x?xf32>)
        -> tensor<?x?xf32>
    %relu = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%product : tensor<?x?xf32>) outs(%empty : tensor<?x?xf32>) {
      ^bb0(%x: f32, %out: f32):
        %cut = arith.maximumf %x, %zero : f32
        linalg.yield %cut : f32
    } -> tensor<?x?xf32>
    %negated = arith.negf %relu : tensor<?x?xf32>
    return %negated : tensor<?x?xf32>
  }
}
