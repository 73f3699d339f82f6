// A whole kernel that the host provides, on a GPU: an executable without objects is asked for by its name, "acme", when
// the program is loaded. The host may bring it as PTX, as machine code or as a fatbin, and for the CPU as a library: the
// program is the same. Code for a GPU doesn't say how many threads a workgroup has, so the export does.
module @example {
  hal.executable.source private @acme {
    hal.executable.export public @multiply ordinal(0)
        layout(#hal.pipeline.layout<constants = 1, bindings = [
          #hal.pipeline.binding<storage_buffer, ReadOnly>,
          #hal.pipeline.binding<storage_buffer, ReadOnly>,
          #hal.pipeline.binding<storage_buffer>
        ]>)
        count(%device: !hal.device, %count: index) -> (index, index, index) {
      %groups = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%count]
      %one = arith.constant 1 : index
      hal.return %groups, %one, %one : index, index, index
    } attributes {workgroup_size = [64 : index, 1 : index, 1 : index]}
  }

  // a * b + b: the product is the host's kernel, the sum the compiler's.
  func.func @mixed_invocation(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %count = tensor.dim %a, %zero : tensor<?xf32>
    %count_word = arith.index_cast %count : index to i32
    %product = flow.dispatch @acme::@multiply[%count](%count_word, %a, %b)
        : (i32, tensor<?xf32>{%count}, tensor<?xf32>{%count}) -> tensor<?xf32>{%count}
    %sum = arith.addf %product, %b : tensor<?xf32>
    return %sum : tensor<?xf32>
  }
}
