// Every form of the dialect `flow` reads, prints, and reads back as what it was.
// RUN: baton-opt --allow-unregistered-dialect %s | FileCheck %s
// RUN: baton-opt --allow-unregistered-dialect %s > %t.1 && baton-opt --allow-unregistered-dialect %t.1 | diff %t.1 -

// CHECK: flow.func private @acme.fill(%arg0: tensor<?xf32>, %arg1: i32) -> %arg0
flow.func private @acme.fill(%arg0: tensor<?xf32>, %arg1: i32) -> %arg0

// CHECK-LABEL: func.func @forms(
// CHECK-SAME: %[[N:.*]]: index, %[[X:.*]]: tensor<?xf32>, %[[ACC:.*]]: tensor<?xf32>, %[[K:.*]]: i32
func.func @forms(%n: index, %x: tensor<?xf32>, %acc: tensor<?xf32>, %k: i32) {
  // CHECK: %{{.*}}:2 = flow.dispatch @exe::@step[%[[N]]](%[[X]], %[[ACC]], %[[K]]) : (tensor<?xf32>{%[[N]]}, tensor<?xf32>{%[[N]]}, i32) -> (tensor<?xf32>{%[[N]]}, %[[ACC]]{%[[N]]})
  %r:2 = flow.dispatch @exe::@step[%n](%x, %acc, %k)
      : (tensor<?xf32>{%n}, tensor<?xf32>{%n}, i32) -> (tensor<?xf32>{%n}, %acc{%n})
  // CHECK: flow.dispatch {@a::@v::@e, @b::@e}(%[[K]]) {hal.executable.ref = [@a]} : (i32) -> ()
  flow.dispatch {@a::@v::@e, @b::@e}(%k) {hal.executable.ref = [@a]} : (i32) -> ()
  // CHECK: flow.call @acme.fill(%[[X]], %[[K]]) : (tensor<?xf32>{%[[N]]}, i32) -> %[[X]]{%[[N]]}
  %f = flow.call @acme.fill(%x, %k) : (tensor<?xf32>{%n}, i32) -> %x{%n}
  %one = arith.constant 1 : index
  // CHECK: flow.dispatch.region[%[[N]]] -> (tensor<?xf32>{%[[N]]}) attributes {iree_codegen.export_config = #iree_codegen.export_config<workgroup_size = [4]>} {
  %o = flow.dispatch.region[%n] -> (tensor<?xf32>{%n}) attributes {iree_codegen.export_config = #iree_codegen.export_config<workgroup_size = [4]>} {
    // CHECK: flow.dispatch.workgroup.id[0] : index
    %id = flow.dispatch.workgroup.id[0] : index
    // CHECK: flow.dispatch.workgroup.count[1] : index
    %count = flow.dispatch.workgroup.count[1] : index
    // CHECK: flow.return %[[X]] : tensor<?xf32>
    flow.return %x : tensor<?xf32>
  // CHECK: } count(%[[W:.*]]: index) -> (index, index, index) {
  } count(%w: index) -> (index, index, index) {
    // CHECK-NEXT: flow.return %[[W]], %{{.*}}, %{{.*}} : index, index, index
    flow.return %w, %one, %one : index, index, index
  }
  // CHECK: flow.dispatch.region -> (tensor<4xf32>) {
  %p = flow.dispatch.region[] -> (tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    flow.return %e : tensor<4xf32>
  } count() -> (index, index, index) {
    flow.return %one, %one, %one : index, index, index
  }
  return
}
