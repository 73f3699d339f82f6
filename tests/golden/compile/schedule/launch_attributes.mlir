// What an export says of its launches reaches the device that loads the code, and --explain prints it. Devices that have no
// such thing take no notice of it.
// RUN: baton-compile --target-device=local --target-device=cuda %s -o %t.bvm
// RUN: baton-compile --target-device=local --target-device=cuda --compile-to=hal %s | FileCheck %s
// RUN: baton-dump-module %t.bvm --explain --device=null | FileCheck %s --check-prefix=EXPLAIN
// RUN: baton-dump-module %t.bvm --format=json | %{python} -c "import json, sys; print(json.load(sys.stdin)['executables'][0]['launches'])" | FileCheck %s --check-prefix=JSON
// RUN: printf '.version 7.8\n.target sm_90\n.address_size 64\n' > %t.ptx
// RUN: baton-run-module %t.bvm --device=local-sync --executable=theirs=%kernels/kernels_x86_64.elf --executable=theirs=%kernels/kernels_aarch64.elf --function=run --input=4xi32=1,2,3,4 | FileCheck %s --check-prefix=RUN-LOCAL
// RUN: baton-run-module %t.bvm --device=null --executable=theirs=%t.ptx --function=run --input=4xi32=1,2,3,4 | FileCheck %s --check-prefix=NULL
// RUN: not baton-run-module %t.bvm --device=local-sync --executable=theirs=%t.ptx --function=run --input=4xi32=1 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: sed 's/write_ids/write_id/' %s > %t.mlir
// RUN: baton-compile --target-device=local %t.mlir -o %t.named.bvm
// RUN: not baton-run-module %t.named.bvm --device=local-sync --executable=theirs=%kernels/kernels_x86_64.elf --executable=theirs=%kernels/kernels_aarch64.elf --function=run --input=4xi32=1 2>&1 | FileCheck %s --check-prefix=NAMES
// RUN-LOCAL: 4xi32=0 2 3 4
// NULL: EXEC @run
// FORMAT: NOT_FOUND; None of the 1 variants of executable 'theirs' fits device 'local-sync'.
// FORMAT-NEXT: 'cuda-ptx': not a format of the local device
// NAMES: NOT_FOUND; Executable 'theirs' has no entry point 'write_id' (5 entry points); did you mean 'write_ids'?

//      EXPLAIN:   mine
// EXPLAIN-NEXT:     launches twice with 0 constants, 1 binding, 4 x 1 x 1 threads, 4096 bytes of local memory, clusters of 2 x 1 x 1, cooperative, early, priority -1, 0 % of the fast memory local, subgroups of 32
//      EXPLAIN:   theirs
// EXPLAIN-NEXT:     launches write_ids with 0 constants, 1 binding, 1 x 1 x 1 threads, cooperative
// EXPLAIN-NEXT:     is code of the host, which has to register it as 'theirs'
// JSON: [{'name': 'twice', 'constants': 0, 'bindings': 1, 'workgroup_size': [4, 1, 1], 'local_memory_bytes': 4096, 'cluster_size': [2, 1, 1], 'cooperative': True, 'early': True, 'priority': -1, 'local_memory_carveout_percent': 0, 'subgroup_size': 32}]
// CHECK: vm.executable @mine {{.*}}{name = "cluster_size_x", value = 2 : i64}
// CHECK: vm.executable @theirs registered "theirs" {{.*}}{name = "cooperative", value = 1 : i64}
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>
hal.executable.source private @mine {
  hal.executable.export public @twice layout(#layout)
      count(%device: !hal.device) -> (index, index, index) {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    hal.return %two, %one, %one : index, index, index
  } attributes {workgroup_size = [4 : index, 1 : index, 1 : index], workgroup_local_memory = 4096 : index,
                cluster_size = [2], cooperative, early = true, local_memory_carveout_percent = 0, priority = -1 : i32,
                subgroup_size = 32 : index}
  builtin.module {
    func.func @twice() {
      %zero = arith.constant 0 : index
      %i = hal.interface.workgroup.id[0] : index
      %x = hal.interface.binding.subspan layout(#layout) binding(0) offset(%zero) : memref<4xi32>
      %a = memref.load %x[%i] : memref<4xi32>
      %b = arith.addi %a, %a : i32
      memref.store %b, %x[%i] : memref<4xi32>
      return
    }
  }
}
hal.executable.source private @theirs {
  hal.executable.export public @write_ids layout(#layout)
      count(%device: !hal.device) -> (index, index, index) {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    hal.return %two, %one, %one : index, index, index
  } attributes {cooperative, early = false}
}
func.func @run(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = flow.dispatch @theirs::@write_ids(%x) : (tensor<4xi32>) -> %x
  %1 = flow.dispatch @mine::@twice(%0) : (tensor<4xi32>) -> %0
  return %1 : tensor<4xi32>
}
