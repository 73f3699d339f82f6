// Every form of the dialects `stream` and `iree_codegen` reads, prints, and reads back as what it was.
// RUN: baton-opt --allow-unregistered-dialect %s | FileCheck %s
// RUN: baton-opt --allow-unregistered-dialect %s > %t.1 && baton-opt --allow-unregistered-dialect %t.1 | diff %t.1 -

#x86 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64">
// CHECK: stream.executable private @lib attributes {hal.executable.objects = #hal.executable.objects<{#{{.*}} = [#hal.executable.object<{path = "a.o"}>]}>} {
stream.executable private @lib attributes {
  hal.executable.objects = #hal.executable.objects<{#x86 = [#hal.executable.object<{path = "a.o"}>]}>
} {
  // CHECK: stream.executable.export public @scale workgroups(%[[N:.*]]: index) -> (index, index, index) {
  stream.executable.export public @scale workgroups(%n: index) -> (index, index, index) {
    %c1 = arith.constant 1 : index
    // CHECK: stream.return %[[N]], %{{.*}}, %{{.*}} : index, index, index
    stream.return %n, %c1, %c1 : index, index, index
  }
  // CHECK: stream.executable.export public @none as("other") workgroups() -> (index, index, index) {
  stream.executable.export @none as("other") workgroups() -> (index, index, index) {
    %c1 = arith.constant 1 : index
    // CHECK: hal.return
    hal.return %c1, %c1, %c1 : index, index, index
  } attributes {hal.interface.layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>}
  // CHECK: stream.executable.export private @bare
  stream.executable.export private @bare
  builtin.module {
    func.func private @scale_c(memref<f32>, index, i32) attributes {llvm.bareptr = true}
    // CHECK: func.func @scale(%[[IO:.*]]: !stream.binding, %{{.*}}: i32)
    func.func @scale(%io: !stream.binding, %n: i32) {
      %c0 = arith.constant 0 : index
      %sz = arith.index_cast %n : i32 to index
      // CHECK: stream.binding.subspan %[[IO]][%{{.*}}] : !stream.binding -> memref<?xf32>{%[[SIZE:.*]]}
      %m = stream.binding.subspan %io[%c0] : !stream.binding -> memref<?xf32>{%sz}
      // CHECK: stream.binding.subspan %[[IO]][%{{.*}}] : !stream.binding -> memref<?x?xf32, strided<[?, 1], offset: ?>>{%[[SIZE]], %[[SIZE]]}
      %m2 = stream.binding.subspan %io[%c0] : !stream.binding -> memref<?x?xf32, strided<[?, 1], offset: ?>>{%sz, %sz}
      // CHECK: %base_buffer, %offset, %sizes, %strides = iree_codegen.extract_strided_metadata %{{.*}} : memref<?xf32> -> memref<f32>, index, index, index
      %p, %o, %d, %s = iree_codegen.extract_strided_metadata %m
          : memref<?xf32> -> memref<f32>, index, index, index
      // CHECK: stream.dispatch.workgroup.id[0] : index
      %id = stream.dispatch.workgroup.id[0] : index
      // CHECK: stream.dispatch.workgroup.size[2] : index
      %size = stream.dispatch.workgroup.size[2] : index
      func.call @scale_c(%p, %o, %n) : (memref<f32>, index, i32) -> ()
      return
    }
  }
}
// CHECK: util.func private @resources(%arg0: !stream.resource<*>, %arg1: !stream.resource<transient>, %arg2: !stream.timepoint)
util.func private @resources(!stream.resource<*>, !stream.resource<transient>, !stream.timepoint)

func.func @kernels(%x: tensor<?xf32>, %y: tensor<?xf32>, %a: f32, %n: index) -> tensor<?xf32> {
  // CHECK: iree_codegen.ukernel.generic "axpy" ins(%{{.*}} : tensor<?xf32>) outs(%{{.*}} : tensor<?xf32>) (%{{.*}}, %{{.*}} : f32, index) fn_def_attrs {hal.import.static} strided_dims({{\[\[}}], []]) -> tensor<?xf32>
  %r = iree_codegen.ukernel.generic "axpy" ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>)
         (%a, %n : f32, index) fn_def_attrs {hal.import.static} strided_dims([[], []]) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
