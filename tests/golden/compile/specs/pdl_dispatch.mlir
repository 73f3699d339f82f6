// A PDL pattern puts a dispatch of the user's function in the place of a matmul, makes its executable once for each set of
// shapes, and reads the sizes from the buffer views that the tensors came from.
// RUN: baton-opt %s --preprocessing-pdl-spec-filename=%S/inputs/gemm_spec.pdl.mlir | FileCheck %s
// RUN: baton-opt %s --iree-preprocessing-pdl-spec-filename=%S/inputs/gemm_spec.pdl.mlir | FileCheck %s
// RUN: baton-opt %s --pass-pipeline='builtin.module(iree-preprocessing-apply-pdl-patterns{patterns-file=%S/inputs/gemm_spec.pdl.mlir},canonicalize,cse)' | FileCheck %s

// CHECK-LABEL:   stream.executable private @gemm_i_f32_f32_f32_i32_i32_i32_i1_executable {
// CHECK-NEXT:      stream.executable.export public @gemm_i_entry_point workgroups() -> (index, index, index) {
// CHECK-NEXT:        %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT:        stream.return %[[ONE]], %[[ONE]], %[[ONE]] : index, index, index
// CHECK:           builtin.module {
// CHECK-NEXT:        func.func private @gemm_i(memref<f32>, index, memref<f32>, index, memref<f32>, index, i32, i32, i32, i1) attributes {llvm.bareptr = [true]}
// CHECK-NEXT:        func.func @gemm_i_entry_point(
// CHECK-SAME:            %[[B0:[a-z0-9]+]]: !stream.binding, %[[B1:[a-z0-9]+]]: !stream.binding, %[[B2:[a-z0-9]+]]: !stream.binding,
// CHECK-SAME:            %[[M:[a-z0-9]+]]: i32, %[[N:[a-z0-9]+]]: i32, %[[K:[a-z0-9]+]]: i32, %[[FLAG:[a-z0-9]+]]: i1,
// CHECK-SAME:            %[[D0:[a-z0-9]+]]: index, %[[D1:[a-z0-9]+]]: index, %[[D2:[a-z0-9]+]]: index, %[[D3:[a-z0-9]+]]: index, %[[D4:[a-z0-9]+]]: index, %[[D5:[a-z0-9]+]]: index) {
// CHECK-NEXT:          %c0 = arith.constant 0 : index
// CHECK-NEXT:          %[[S0:.*]] = stream.binding.subspan %[[B0]][%c0] : !stream.binding -> memref<?x?xf32, strided<[?, 1], offset: ?>>{%[[D0]], %[[D1]]}
// CHECK-NEXT:          %[[P0:.*]], %[[O0:.*]], %{{.*}}:2, %{{.*}}:2 = iree_codegen.extract_strided_metadata %[[S0]]
// CHECK-NEXT:          %[[S1:.*]] = stream.binding.subspan %[[B1]][%c0] : !stream.binding -> memref<?x?xf32, strided<[?, 1], offset: ?>>{%[[D2]], %[[D3]]}
// CHECK-NEXT:          %[[P1:.*]], %[[O1:.*]], %{{.*}}:2, %{{.*}}:2 = iree_codegen.extract_strided_metadata %[[S1]]
// CHECK-NEXT:          %[[S2:.*]] = stream.binding.subspan %[[B2]][%c0] : !stream.binding -> memref<?x?xf32, strided<[?, 1], offset: ?>>{%[[D4]], %[[D5]]}
// CHECK-NEXT:          %[[P2:.*]], %[[O2:.*]], %{{.*}}:2, %{{.*}}:2 = iree_codegen.extract_strided_metadata %[[S2]]
// CHECK-NEXT:          call @gemm_i(%[[P0]], %[[O0]], %[[P1]], %[[O1]], %[[P2]], %[[O2]], %[[M]], %[[N]], %[[K]], %[[FLAG]])
// CHECK-NEXT:          return
// CHECK-NOT:     stream.executable private

// CHECK-LABEL:   util.func public @twice(
// CHECK-SAME:        %[[A:.*]]: !hal.buffer_view, %[[B:.*]]: !hal.buffer_view)
// CHECK-NEXT:      %[[FALSE:.*]] = arith.constant false
// CHECK-NEXT:      %[[A0:.*]] = hal.buffer_view.dim<%[[A]] : !hal.buffer_view>[0] : index
// CHECK-NEXT:      %[[A1:.*]] = hal.buffer_view.dim<%[[A]] : !hal.buffer_view>[1] : index
// CHECK-NEXT:      %[[X:.*]] = hal.tensor.import %[[A]] "input0" : !hal.buffer_view -> tensor<?x?xf32>{%[[A0]], %[[A1]]}
// CHECK-NEXT:      %[[B0:.*]] = hal.buffer_view.dim<%[[B]] : !hal.buffer_view>[0] : index
// CHECK-NEXT:      %[[B1:.*]] = hal.buffer_view.dim<%[[B]] : !hal.buffer_view>[1] : index
// CHECK-NEXT:      %[[Y:.*]] = hal.tensor.import %[[B]] "input1" : !hal.buffer_view -> tensor<?x?xf32>{%[[B0]], %[[B1]]}
// CHECK-NEXT:      %[[M:.*]] = arith.index_cast %[[A0]] : index to i32
// CHECK-NEXT:      %[[N:.*]] = arith.index_cast %[[B1]] : index to i32
// CHECK-NEXT:      %[[K:.*]] = arith.index_cast %[[A1]] : index to i32
// CHECK-NEXT:      %[[R:.*]] = flow.dispatch @gemm_i_f32_f32_f32_i32_i32_i32_i1_executable::@gemm_i_entry_point(%[[X]], %[[Y]], %[[M]], %[[N]], %[[K]], %[[FALSE]], %[[A0]], %[[A1]], %[[B0]], %[[B1]], %[[A0]], %[[B1]])
// CHECK-SAME:        : (tensor<?x?xf32>{%[[A0]], %[[A1]]}, tensor<?x?xf32>{%[[B0]], %[[B1]]}, i32, i32, i32, i1, index, index, index, index, index, index) -> tensor<?x?xf32>{%[[A0]], %[[B1]]}
// CHECK:           flow.dispatch @gemm_i_f32_f32_f32_i32_i32_i32_i1_executable::@gemm_i_entry_point(%[[R]], %[[Y]],
// CHECK-NOT:       linalg
util.func public @twice(%a: !hal.buffer_view, %b: !hal.buffer_view) -> !hal.buffer_view {
  %a0 = hal.buffer_view.dim<%a : !hal.buffer_view>[0] : index
  %a1 = hal.buffer_view.dim<%a : !hal.buffer_view>[1] : index
  %x = hal.tensor.import %a "input0" : !hal.buffer_view -> tensor<?x?xf32>{%a0, %a1}
  %b0 = hal.buffer_view.dim<%b : !hal.buffer_view>[0] : index
  %b1 = hal.buffer_view.dim<%b : !hal.buffer_view>[1] : index
  %y = hal.tensor.import %b "input1" : !hal.buffer_view -> tensor<?x?xf32>{%b0, %b1}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %y, %c1 : tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%fill : tensor<?x?xf32>) -> tensor<?x?xf32>
  %q = linalg.matmul ins(%p, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%fill : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = hal.tensor.export %q "output0" : tensor<?x?xf32>{%m, %n} -> !hal.buffer_view
  util.return %r : !hal.buffer_view
}
