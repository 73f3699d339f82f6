// Every form of the dialect `flow` reads, prints, and reads back as what it was.
// RUN: baton-opt --allow-unregistered-dialect %s | FileCheck %s
// RUN: baton-opt --allow-unregistered-dialect %s > %t.1 && baton-opt --allow-unregistered-dialect %t.1 | diff %t.1 -

// CHECK: flow.func private @acme.fill(%arg0: tensor<?xf32>, %arg1: i32) -> %arg0
flow.func private @acme.fill(%arg0: tensor<?xf32>, %arg1: i32) -> %arg0

// CHECK-LABEL: func.func @places(
// CHECK-SAME: %[[N:.*]]: index, %[[X:.*]]: tensor<?xf32>
func.func @places(%n: index, %x: tensor<?xf32>) {
  // CHECK: flow.tensor.transfer %[[X]] : tensor<?xf32>{%[[N]]} to #hal.device.affinity<@a>
  %0 = flow.tensor.transfer %x : tensor<?xf32>{%n} to #hal.device.affinity<@a>
  // CHECK: flow.tensor.transfer %[[X]] : tensor<?xf32>{%[[N]]} to #hal.device.promise<@a, [0, 1]>
  %1 = flow.tensor.transfer %x : tensor<?xf32>{%n} to #hal.device.promise<@a, [0, 1]>
  return
}

// CHECK-LABEL: func.func @tensors(
// CHECK-SAME: %[[N:.*]]: index, %[[I:.*]]: index, %[[V:.*]]: f32, %[[X:.*]]: tensor<?x4xf32>, %[[S:.*]]: tensor<f32>
func.func @tensors(%n: index, %i: index, %v: f32, %x: tensor<?x4xf32>, %s: tensor<f32>) {
  // CHECK: %[[PART:.*]] = flow.tensor.slice %[[X]][%[[I]], %[[I]] for %[[N]], %[[N]]] : tensor<?x4xf32>{%[[N]]} -> tensor<?x2xf32>{%[[N]]}
  %part = flow.tensor.slice %x[%i, %i for %n, %n] : tensor<?x4xf32>{%n} -> tensor<?x2xf32>{%n}
  // CHECK: flow.tensor.update %[[PART]], %[[X]][%[[I]], %[[I]]] : tensor<?x2xf32>{%[[N]]} -> %[[X]] as tensor<?x4xf32>{%[[N]]}
  %0 = flow.tensor.update %part, %x[%i, %i] : tensor<?x2xf32>{%n} -> %x as tensor<?x4xf32>{%n}
  // CHECK: flow.tensor.update %[[PART]], %[[X]][%[[I]], %[[I]]] : tensor<?x2xf32>{%[[N]]} -> %[[X]] as tensor<?x4xf32>{%[[N]]}
  %1 = flow.tensor.update %part, %x[%i, %i] : tensor<?x2xf32>{%n} -> tensor<?x4xf32>{%n}
  // CHECK: flow.tensor.load %[[X]][%[[I]], %[[I]]] : tensor<?x4xf32>{%[[N]]}
  %2 = flow.tensor.load %x[%i, %i] : tensor<?x4xf32>{%n}
  // CHECK: flow.tensor.load %[[S]] : tensor<f32>
  %3 = flow.tensor.load %s : tensor<f32>
  // CHECK: flow.tensor.store %[[V]], %[[X]][%[[I]], %[[I]]] : tensor<?x4xf32>{%[[N]]}
  %4 = flow.tensor.store %v, %x[%i, %i] : tensor<?x4xf32>{%n}
  // CHECK: flow.tensor.splat %[[V]] : tensor<?x4xf32>{%[[N]]}
  %5 = flow.tensor.splat %v : tensor<?x4xf32>{%n}
  // CHECK: flow.tensor.empty : tensor<?x4xf32>{%[[N]]}
  %6 = flow.tensor.empty : tensor<?x4xf32>{%n}
  // CHECK: flow.tensor.alloca : tensor<?x4xf32>{%[[N]]}
  %7 = flow.tensor.alloca : tensor<?x4xf32>{%n}
  // CHECK: flow.tensor.clone %[[X]] : tensor<?x4xf32>{%[[N]]}
  %8 = flow.tensor.clone %x : tensor<?x4xf32>{%n}
  return
}

// CHECK-LABEL: func.func @ranks(
// CHECK-SAME: %[[N:.*]]: index, %[[X:.*]]: tensor<?xf32>, %[[ACC:.*]]: tensor<?xf32>
func.func @ranks(%n: index, %x: tensor<?xf32>, %acc: tensor<?xf32>) {
  // CHECK: %[[ALL:.*]] = flow.channel.default : !flow.channel
  %all = flow.channel.default : !flow.channel
  // CHECK: flow.channel.default "rows" : !flow.channel
  %rows = flow.channel.default "rows" : !flow.channel
  // CHECK: %[[PART:.*]] = flow.channel.split %[[ALL]], %[[N]], %[[N]] : !flow.channel -> !flow.channel
  %part = flow.channel.split %all, %n, %n : !flow.channel -> !flow.channel
  // CHECK: flow.channel.rank %[[PART]] : index
  %rank = flow.channel.rank %part : index
  // CHECK: flow.channel.count %[[PART]] : index
  %count = flow.channel.count %part : index
  // CHECK: flow.collective.all_reduce sum, f32, %[[ACC]], %[[X]], %[[ALL]] : (tensor<?xf32>, tensor<?xf32>, !flow.channel) -> %[[ACC]] as tensor<?xf32>{%[[N]]}
  %0 = flow.collective.all_reduce sum, f32, %acc, %x, %all : (tensor<?xf32>, tensor<?xf32>, !flow.channel) -> %acc as tensor<?xf32>{%n}
  // CHECK: flow.collective.reduce_scatter maximum, f32, %[[ACC]], %[[X]], %[[ALL]] : (tensor<?xf32>, tensor<?xf32>, !flow.channel) -> %[[ACC]] as tensor<?xf32>{%[[N]]}
  %1 = flow.collective.reduce_scatter maximum, f32, %acc, %x, %all : (tensor<?xf32>, tensor<?xf32>, !flow.channel) -> %acc as tensor<?xf32>{%n}
  // CHECK: flow.collective.all_gather f32, %[[ACC]], %[[X]], %[[ALL]] : (tensor<?xf32>, tensor<?xf32>, !flow.channel) -> %[[ACC]] as tensor<?xf32>{%[[N]]}
  %2 = flow.collective.all_gather f32, %acc, %x, %all : (tensor<?xf32>, tensor<?xf32>, !flow.channel) -> %acc as tensor<?xf32>{%n}
  // CHECK: flow.collective.all_to_all f32, %[[ACC]], %[[X]], %[[ALL]] : (tensor<?xf32>, tensor<?xf32>, !flow.channel) -> %[[ACC]] as tensor<?xf32>{%[[N]]}
  %3 = flow.collective.all_to_all f32, %acc, %x, %all : (tensor<?xf32>, tensor<?xf32>, !flow.channel) -> %acc as tensor<?xf32>{%n}
  // CHECK: flow.collective.send_recv f32, %[[ACC]], %[[X]], %[[ALL]], %[[N]], %[[N]] : (tensor<?xf32>, tensor<?xf32>, !flow.channel, index, index) -> %[[ACC]] as tensor<?xf32>{%[[N]]}
  %4 = flow.collective.send_recv f32, %acc, %x, %all, %n, %n : (tensor<?xf32>, tensor<?xf32>, !flow.channel, index, index) -> %acc as tensor<?xf32>{%n}
  return
}

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
