// relu(a * b) of torch, between casts of MLIR's tensors, becomes a dispatch of the user's `layer`.
pdl.pattern @torch_layer : benefit(1) {
  %lhs_type = pdl.type
  %lhs = pdl.operand : %lhs_type
  %rhs_type = pdl.type
  %rhs = pdl.operand : %rhs_type
  %torch_type = pdl.type : !torch.vtensor<[?,?],f32>
  %x_op = pdl.operation "torch_c.from_builtin_tensor"(%lhs : !pdl.value) -> (%torch_type : !pdl.type)
  %x = pdl.result 0 of %x_op
  %y_op = pdl.operation "torch_c.from_builtin_tensor"(%rhs : !pdl.value) -> (%torch_type : !pdl.type)
  %y = pdl.result 0 of %y_op
  %mm_op = pdl.operation "torch.aten.mm"(%x, %y : !pdl.value, !pdl.value) -> (%torch_type : !pdl.type)
  %mm = pdl.result 0 of %mm_op
  %relu_op = pdl.operation "torch.aten.relu"(%mm : !pdl.value) -> (%torch_type : !pdl.type)
  %relu = pdl.result 0 of %relu_op
  %result_type = pdl.type : tensor<?x?xf32>
  %back = pdl.operation "torch_c.to_builtin_tensor"(%relu : !pdl.value) -> (%result_type : !pdl.type)
  pdl.rewrite %mm_op {
    %name = pdl.attribute = "layer"
    %i32 = pdl.type : i32
    %index = pdl.type : index
    %c0_value = pdl.attribute = 0 : index
    %c0_op = pdl.operation "arith.constant" {"value" = %c0_value} -> (%index : !pdl.type)
    %c0 = pdl.result 0 of %c0_op
    %c1_value = pdl.attribute = 1 : index
    %c1_op = pdl.operation "arith.constant" {"value" = %c1_value} -> (%index : !pdl.type)
    %c1 = pdl.result 0 of %c1_op
    %m_op = pdl.operation "tensor.dim"(%lhs, %c0 : !pdl.value, !pdl.value)
    %m = pdl.result 0 of %m_op
    %n_op = pdl.operation "tensor.dim"(%rhs, %c1 : !pdl.value, !pdl.value)
    %n = pdl.result 0 of %n_op
    %m_i32_op = pdl.operation "arith.index_cast"(%m : !pdl.value) -> (%i32 : !pdl.type)
    %m_i32 = pdl.result 0 of %m_i32_op
    %replaced = pdl.result 0 of %back
    %inputs = pdl.range %lhs, %rhs : !pdl.value, !pdl.value
    %results = pdl.range %replaced : !pdl.value
    %dims = pdl.range %m, %n : !pdl.value, !pdl.value
    %others = pdl.range %m_i32 : !pdl.value
    pdl.apply_native_rewrite "rewriteAsFlowDispatch"(%mm_op, %name, %inputs, %results, %dims, %others
        : !pdl.operation, !pdl.attribute, !pdl.range<value>, !pdl.range<value>, !pdl.range<value>, !pdl.range<value>)
  }
}
