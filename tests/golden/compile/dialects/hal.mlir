// Every form of the dialect `hal` reads, prints, and reads back as what it was.
// RUN: baton-opt --allow-unregistered-dialect %s | FileCheck %s
// RUN: baton-opt --allow-unregistered-dialect %s > %t.1 && baton-opt --allow-unregistered-dialect %t.1 | diff %t.1 -

#x86 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {
  target_triple = "x86_64-none-elf"  // A comment with balanced (brackets), isn't it.
}>
#sm_80 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>
#spirv = #hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb", {
  iree_codegen.target_info = #iree_gpu.target<arch = "", features = "spirv:v1.3,cap:Shader", wgp = <
    compute = fp32|int32, storage = b32, subgroup = none, subgroup_size_choices = [64, 64],
    max_workgroup_sizes = [128, 128, 64]>>
}>
#local = #hal.device.target<"local", [#x86]> : !hal.device
#untyped = #hal.device.target<"cuda", {legacy_sync}, [#sm_80]>
#layout = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">,
  #hal.pipeline.binding<uniform_buffer>, #hal.pipeline.binding<storage_buffer, Indirect>
]>

// CHECK: module @example attributes {hal.device.targets = [#hal.device.target<"local", [#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {target_triple = "x86_64-none-elf"}>]> : !hal.device, #hal.device.target<"cuda", {legacy_sync}, [#hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_80"}>]> : !hal.device], test.convention = #hal.abi.convention<coarse_fences>} {
module @example attributes {hal.device.targets = [#local, #untyped], test.convention = #hal.abi.convention<coarse_fences>} {

  // CHECK: hal.executable private @exe {
  hal.executable private @exe {
    // CHECK: hal.executable.variant public @x86_64 target(#{{.*}}) objects([#hal.executable.object<{path = "k.o"}>]) {
    hal.executable.variant public @x86_64 target(#x86) objects([
      #hal.executable.object<{path = "k.o"}>
    ]) {
      hal.executable.condition(%device: !hal.device) -> i1 {
        // CHECK: hal.device.query<%{{.*}} : !hal.device> key("hal.cpu" :: "avx2") : i1, i1 = false
        %ok, %value = hal.device.query<%device : !hal.device> key("hal.cpu" :: "avx2") : i1, i1 = false
        hal.return %value : i1
      }
      // CHECK: hal.executable.constant.block(%{{.*}}: !hal.device) -> i32 as ("foo") {
      hal.executable.constant.block(%device: !hal.device) -> i32 as ("foo") {
        %c = arith.constant 1 : i32
        hal.return %c : i32
      }
      // CHECK: hal.executable.export public @k ordinal(0) layout(#{{.*}}) count(%{{.*}}: !hal.device, %{{.*}}: index) -> (index, index, index) {
      hal.executable.export public @k ordinal(0) layout(#layout) count(%device: !hal.device, %workload: index) -> (index, index, index) {
        %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%workload]
        %c1 = arith.constant 1 : index
        hal.return %x, %c1, %c1 : index, index, index
      // CHECK: } attributes {subgroup_size = 32 : index, workgroup_size = [64 : index, 1 : index, 1 : index]}
      } attributes {workgroup_size = [64 : index, 1 : index, 1 : index], subgroup_size = 32 : index}
      builtin.module {
        func.func private @k_c(memref<f32>) attributes {hal.import.static, llvm.bareptr}
        func.func @k() {
          %c0 = arith.constant 0 : index
          // CHECK: hal.interface.constant.load layout(#{{.*}}) ordinal(0) : i32
          %n = hal.interface.constant.load layout(#layout) ordinal(0) : i32
          // CHECK: hal.interface.constant.load layout(#{{.*}}) ordinal(0) alignment(4) values([1 : i32, 2 : i32]) : i32
          %m = hal.interface.constant.load layout(#layout) ordinal(0) alignment(4) values([1 : i32, 2 : i32]) : i32
          %dim = arith.index_cast %n : i32 to index
          // CHECK: hal.interface.workgroup.id[0] : index
          %x = hal.interface.workgroup.id[0] : index
          // CHECK: hal.interface.workgroup.count[1] upper_bound 128 : index
          %y = hal.interface.workgroup.count[1] upper_bound 128 : index
          // CHECK: hal.interface.workgroup.size[2] : index
          %z = hal.interface.workgroup.size[2] : index
          // CHECK: hal.interface.binding.subspan layout(#{{.*}}) binding(0) alignment(64) offset(%{{.*}}) flags(ReadOnly) : memref<?xf32>{%{{.*}}}
          %b = hal.interface.binding.subspan layout(#layout) binding(0) alignment(64) offset(%c0) flags(ReadOnly) : memref<?xf32>{%dim}
          // CHECK: hal.interface.binding.subspan layout(#{{.*}}) binding(1) flags("ReadOnly|Indirect") : memref<4xf32>
          %s = hal.interface.binding.subspan layout(#layout) binding(1) flags("ReadOnly|Indirect") : memref<4xf32>
          return
        }
      }
    }
  }
  // CHECK: hal.executable.source private @source attributes {objects = #hal.executable.objects<{#{{.*}} = [#hal.executable.object<{path = "k.ptx"}>], #hal.executable.target<"vulkan-spirv"{{.*}}
  // CHECK: max_workgroup_sizes = [128, 128, 64]>>}> = [#hal.executable.object<{path = "k.spv", data = dense<[1, 2]> : tensor<2xi8>}>]}>} {
  hal.executable.source private @source attributes {
    objects = #hal.executable.objects<{
      #sm_80 = [#hal.executable.object<{path = "k.ptx"}>],
      #spirv = [#hal.executable.object<{path = "k.spv", data = dense<[1, 2]> : tensor<2xi8>}>]
    }>
  } {
    hal.executable.export public @main layout(#layout)
    // Attributes may stand before the count, and are printed behind it.
    // CHECK: hal.executable.export public @early ordinal(1) layout(#{{.*}}) count(%{{.*}}: !hal.device) -> (index, index, index) {
    hal.executable.export public @early ordinal(1) layout(#layout) attributes {workgroup_size = [64 : index]} count(%device: !hal.device) -> (index, index, index) {
      %c1 = arith.constant 1 : index
      hal.return %c1, %c1, %c1 : index, index, index
    // CHECK: } attributes {workgroup_size = [64 : index]}
    }
    // CHECK: hal.executable.export public @plain layout(#{{.*}}) attributes {workgroup_size = [32 : index]}
    hal.executable.export public @plain layout(#layout) attributes {workgroup_size = [32 : index]}
  }

  // CHECK-LABEL: util.func private @boundary
  util.func private @boundary(%v: !hal.buffer_view, %f: !hal.fence, %device: !hal.device) -> !hal.buffer_view {
    // CHECK: hal.buffer_view.dim<%{{.*}} : !hal.buffer_view>[0] : index
    %d = hal.buffer_view.dim<%v : !hal.buffer_view>[0] : index
    // CHECK: hal.tensor.import wait(%{{.*}}) => %{{.*}} "input0" : !hal.buffer_view -> tensor<?xf32>{%[[D:.*]]}
    %t = hal.tensor.import wait(%f) => %v "input0" : !hal.buffer_view -> tensor<?xf32>{%d}
    // CHECK: hal.tensor.import consume %{{.*}} : !hal.buffer_view -> tensor<4xf32> as tensor<?xf32>{%[[D]]}
    %u = hal.tensor.import consume %v : !hal.buffer_view -> tensor<4xf32> as tensor<?xf32>{%d}
    // CHECK: hal.tensor.barrier join(%{{.*}} : tensor<?xf32>) => %{{.*}} : !hal.fence
    %b = hal.tensor.barrier join(%t : tensor<?xf32>) => %f : !hal.fence
    // CHECK: hal.tensor.alias wait(%{{.*}}) => %{{.*}} : tensor<?xf32>{%[[D]]} to %{{.*}} : !hal.buffer_view
    %a = hal.tensor.alias wait(%f) => %b : tensor<?xf32>{%d} to %v : !hal.buffer_view
    // CHECK: hal.fence.create device(%{{.*}} : !hal.device) flags("None") : !hal.fence
    %g = hal.fence.create device(%device : !hal.device) flags("None") : !hal.fence
    // CHECK: hal.fence.join at([%{{.*}}, %{{.*}}]) flags("None") -> !hal.fence
    %j = hal.fence.join at([%f, %g]) flags("None") -> !hal.fence
    %timeout = arith.constant -1 : i32
    // CHECK: hal.fence.await until([%{{.*}}, %{{.*}}]) timeout_millis(%{{.*}}) flags("None") : i32
    %status = hal.fence.await until([%f, %j]) timeout_millis(%timeout) flags("None") : i32
    // CHECK: hal.fence.signal<%{{.*}} : !hal.fence>
    hal.fence.signal<%g : !hal.fence>
    // CHECK: hal.tensor.export %{{.*}} "output0" : tensor<?xf32>{%[[D]]} -> !hal.buffer_view
    %o = hal.tensor.export %a "output0" : tensor<?xf32>{%d} -> !hal.buffer_view
    // CHECK: hal.tensor.import on("first") %{{.*}} : !hal.buffer_view -> tensor<4xf32>
    %placed = hal.tensor.import on("first") %v : !hal.buffer_view -> tensor<4xf32>
    // CHECK: hal.tensor.export on("first") %{{.*}} : tensor<4xf32> -> !hal.buffer_view
    %back = hal.tensor.export on("first") %placed : tensor<4xf32> -> !hal.buffer_view
    util.return %o : !hal.buffer_view
  }

  // CHECK-LABEL: func.func @extern
  func.func @extern(%n: index, %n32: i32, %x: tensor<?xf32>) -> tensor<?xf32> {
    // CHECK: hal.dispatch.extern "k"[%[[N:.*]]](%{{.*}}, %[[X:.*]]) : (i32, tensor<?xf32>{%[[N]]}) -> %[[X]]{%[[N]]}
    // CHECK-NEXT: count(%{{.*}}: !hal.device, %[[W:.*]]: index) -> (index, index, index) {
    // CHECK: layout(#{{.*}})
    // CHECK-NEXT: objects({#hal.executable.target<"cuda", {{.*}}> ordinal(0) = [#hal.executable.object<{path = "k.ptx"}>], #hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb", {iree_codegen.target_info = #iree_gpu.target<arch = "", features = "spirv:v1.3,cap:Shader", wgp = <
    // CHECK: if(%{{.*}}: !hal.device) -> i1 {
    // CHECK: ordinal(1) = [#hal.executable.object<{path = "k.spv"}>]})
    %o = hal.dispatch.extern "k"[%n](%n32, %x) : (i32, tensor<?xf32>{%n}) -> %x{%n}
      count(%d: !hal.device, %w: index) -> (index, index, index) {
        %one = arith.constant 1 : index
        hal.return %w, %one, %one : index, index, index
      }
      layout(#hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>]>)
      objects({
        #sm_80 ordinal(0) = [#hal.executable.object<{path = "k.ptx"}>],
        #spirv if(%d: !hal.device) -> i1 {
          %ok, %value = hal.device.query<%d : !hal.device> key("a" :: "b") : i1, i1
          hal.return %ok : i1
        } ordinal(1) = [#hal.executable.object<{path = "k.spv"}>]
      })
    return %o : tensor<?xf32>
  }
}
