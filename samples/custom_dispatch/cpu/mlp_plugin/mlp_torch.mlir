// -relu(a * b), with the product and relu in torch.
#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {target_triple = "x86_64-none-elf"}>
#local = #hal.device.target<"local", [#x86_64]> : !hal.device
module @example attributes {hal.device.targets = [#local]} {
  func.func @mlp_invocation(%lhs: tensor<?x?xf32>, %rhs: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %a = torch_c.from_builtin_tensor %lhs : tensor<?x?xf32> -> !torch.vtensor<[?, ?], f32>
    %b = torch_c.from_builtin_tensor %rhs : tensor<?x?xf32> -> !torch.vtensor<[?, ?], f32>
    %product = torch.aten.mm %a, %b : !torch.vtensor<[?, ?], f32>, !torch.vtensor<[?, ?], f32> -> !torch.vtensor<[?, ?], f32>
    %relu = torch.aten.relu %product : !torch.vtensor<[?, ?], f32> -> !torch.vtensor<[?, ?], f32>
    %positive = torch_c.to_builtin_tensor %relu : !torch.vtensor<[?, ?], f32> -> tensor<?x?xf32>
    %result = arith.negf %positive : tensor<?x?xf32>
    return %result : tensor<?x?xf32>
  }
}
