// A function of ours inside of kernels that the compiler generates: it comes as bitcode, is linked with them and inlined.
// The dispatch is written in place: two workgroups of four threads, each with its slices.
#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
#cuda = #hal.device.target<"cuda", [#sm_75]> : !hal.device

module @example attributes {hal.device.targets = [#cuda]} {
  func.func @ukernel_example(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
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
              #sm_75 = [#hal.executable.object<{path = "functions.bc"}>]
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

  func.func @check_ukernel() {
    %a = util.unfoldable_constant dense<2.0> : tensor<8xf32>
    %b = util.unfoldable_constant dense<4.0> : tensor<8xf32>
    %a_any = tensor.cast %a : tensor<8xf32> to tensor<?xf32>
    %b_any = tensor.cast %b : tensor<8xf32> to tensor<?xf32>
    %product_any = func.call @ukernel_example(%a_any, %b_any) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %product = tensor.cast %product_any : tensor<?xf32> to tensor<8xf32>
    check.expect_almost_eq_const(%product, dense<8.0> : tensor<8xf32>) : tensor<8xf32>
    return
  }
}
