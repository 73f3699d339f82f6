// A function of ours inside of a kernel that the compiler generates: it comes as bitcode, is linked with it and inlined.
// The dispatch is written in place: two workgroups of four threads, each with its slices.
#spirv = #hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb">
#vulkan = #hal.device.target<"vulkan", [#spirv]> : !hal.device

module @example attributes {hal.device.targets = [#vulkan]} {
  func.func @multiply(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %count = tensor.dim %a, %zero : tensor<?xf32>
    %result = flow.dispatch.region[%two] -> (tensor<?xf32>{%count})
        attributes {iree_codegen.export_config = #iree_codegen.export_config<workgroup_size = [4]>} {
      %group = flow.dispatch.workgroup.id[0] : index
      %groups = flow.dispatch.workgroup.count[0] : index
      %tile = affine.apply affine_map<()[s0, s1] -> (s0 ceildiv s1)>()[%count, %groups]
      %first = affine.apply affine_map<()[s0, s1] -> (s0 * s1)>()[%group, %tile]
      %size = affine.min affine_map<()[s0, s1, s2] -> (s0, s1 - s2)>()[%tile, %count, %first]
      %empty = tensor.empty(%count) : tensor<?xf32>
      %a_slice = tensor.extract_slice %a[%first] [%size] [1] : tensor<?xf32> to tensor<?xf32>
      %b_slice = tensor.extract_slice %b[%first] [%size] [1] : tensor<?xf32> to tensor<?xf32>
      %slice = tensor.extract_slice %empty[%first] [%size] [1] : tensor<?xf32> to tensor<?xf32>
      %product = iree_codegen.ukernel.generic {
            hal.executable.objects = #hal.executable.objects<{
              #spirv = [#hal.executable.object<{path = "functions.bc"}>]
            }>
          } "multiply_slice"
          ins(%a_slice, %b_slice : tensor<?xf32>, tensor<?xf32>) outs(%slice : tensor<?xf32>) (%size : index)
          fn_def_attrs {hal.import.bitcode} strided_dims([[], [], []]) -> tensor<?xf32>
      %whole = tensor.insert_slice %product into %empty[%first] [%size] [1] : tensor<?xf32> into tensor<?xf32>
      flow.return %whole : tensor<?xf32>
    } count(%workgroups: index) -> (index, index, index) {
      flow.return %workgroups, %one, %one : index, index, index
    }
    return %result : tensor<?xf32>
  }
}
