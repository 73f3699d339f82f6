// What kernels want of their launches, stated where the program exports them. The device checks it when it loads the
// code, and says what was asked for and what it has.
#sm_90 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_90"}>
#cuda = #hal.device.target<"cuda", [#sm_90]> : !hal.device

#in_out = #hal.pipeline.layout<bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
#counted_in_out = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
#counted_two = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer>, #hal.pipeline.binding<storage_buffer>]>
#in_place = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>

module @example attributes {hal.device.targets = [#cuda]} {
  hal.executable.source private @kernels attributes {
    objects = #hal.executable.objects<{#sm_90 = [#hal.executable.object<{path = "launches_sm_90.ptx"}>]}>
  } {
    // 96 KiB of shared memory, twice what a kernel has unasked.
    hal.executable.export public @reverse ordinal(0) layout(#counted_in_out)
        count(%device: !hal.device) -> (index, index, index) {
      %one = arith.constant 1 : index
      hal.return %one, %one, %one : index, index, index
    } attributes {workgroup_size = [256 : index, 1 : index, 1 : index], workgroup_local_memory = 98304 : index,
                  local_memory_carveout_percent = 50 : index, subgroup_size = 32 : index}
    // Workgroups in clusters of four.
    hal.executable.export public @sum_cluster ordinal(1) layout(#in_out)
        count(%device: !hal.device, %count: index) -> (index, index, index) {
      %one = arith.constant 1 : index
      hal.return %count, %one, %one : index, index, index
    } attributes {cluster_size = [4 : index, 1 : index, 1 : index]}
    // All workgroups at the same time.
    hal.executable.export public @sum_all ordinal(2) layout(#counted_two)
        count(%device: !hal.device, %count: index) -> (index, index, index) {
      %one = arith.constant 1 : index
      hal.return %count, %one, %one : index, index, index
    } attributes {cooperative, priority = 1 : i32}
    // May begin before what it stands behind is done.
    hal.executable.export public @increment ordinal(3) layout(#in_place)
        count(%device: !hal.device) -> (index, index, index) {
      %one = arith.constant 1 : index
      hal.return %one, %one, %one : index, index, index
    } attributes {workgroup_size = [8 : index, 1 : index, 1 : index], early}
  }

  func.func @reversed(%x: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %count = tensor.dim %x, %zero : tensor<?xf32>
    %word = arith.index_cast %count : index to i32
    %result = flow.dispatch @kernels::@reverse(%word, %x)
        : (i32, tensor<?xf32>{%count}) -> tensor<?xf32>{%count}
    return %result : tensor<?xf32>
  }

  // A number for each cluster of four.
  func.func @cluster_sums(%x: tensor<8xf32>) -> tensor<8xf32> {
    %eight = arith.constant 8 : index
    %result = flow.dispatch @kernels::@sum_cluster[%eight](%x) : (tensor<8xf32>) -> tensor<8xf32>
    return %result : tensor<8xf32>
  }

  func.func @sum(%x: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %count = tensor.dim %x, %zero : tensor<?xf32>
    %word = arith.index_cast %count : index to i32
    %nobody = arith.constant dense<0> : tensor<1xi32>
    %result, %arrived = flow.dispatch @kernels::@sum_all[%count](%word, %x, %nobody)
        : (i32, tensor<?xf32>{%count}, tensor<1xi32>) -> (%x{%count}, %nobody)
    return %result : tensor<?xf32>
  }

  func.func @count_to_four(%x: tensor<8xf32>) -> tensor<8xf32> {
    %1 = flow.dispatch @kernels::@increment(%x) : (tensor<8xf32>) -> %x
    %2 = flow.dispatch @kernels::@increment(%1) : (tensor<8xf32>) -> %1
    %3 = flow.dispatch @kernels::@increment(%2) : (tensor<8xf32>) -> %2
    %4 = flow.dispatch @kernels::@increment(%3) : (tensor<8xf32>) -> %3
    return %4 : tensor<8xf32>
  }
}
