// relu(a * b) in torch is `mlp_external` of the plugin, which does relu itself when its last argument says so.
pdl.pattern @mlp_torch : benefit(1) {
  %lhs_type = pdl.type
  %lhs = pdl.operand : %lhs_type
  %rhs_type = pdl.type
  %rhs = pdl.operand : %rhs_type
  %matrix = pdl.type : !torch.vtensor<[?,?],f32>
  %a_op = pdl.operation "torch_c.from_builtin_tensor"(%lhs : !pdl.value) -> (%matrix : !pdl.type)
  %a = pdl.result 0 of %a_op
  %b_op = pdl.operation "torch_c.from_builtin_tensor"(%rhs : !pdl.value) -> (%matrix : !pdl.type)
  %b = pdl.result 0 of %b_op
  %product_op = pdl.operation "torch.aten.mm"(%a, %b : !pdl.value, !pdl.value) -> (%matrix : !pdl.type)
  %product = pdl.result 0 of %product_op
  %relu_op = pdl.operation "torch.aten.relu"(%product : !pdl.value) -> (%matrix : !pdl.type)
  %relu = pdl.result 0 of %relu_op
  %result_type = pdl.type : tensor<?x?xf32>
  %cast = pdl.operation "torch_c.to_builtin_tensor"(%relu : !pdl.value) -> (%result_type : !pdl.type)
  pdl.rewrite %cast {
    %function = pdl.attribute = "mlp_external"
    %i1 = pdl.type : i1
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
    %k_op = pdl.operation "tensor.dim"(%lhs, %c1 : !pdl.value, !pdl.value)
    %k = pdl.result 0 of %k_op
    %m32_op = pdl.operation "arith.index_cast"(%m : !pdl.value) -> (%i32 : !pdl.type)
    %m32 = pdl.result 0 of %m32_op
    %n32_op = pdl.operation "arith.index_cast"(%n : !pdl.value) -> (%i32 : !pdl.type)
    %n32 = pdl.result 0 of %n32_op
    %k32_op = pdl.operation "arith.index_cast"(%k : !pdl.value) -> (%i32 : !pdl.type)
    %k32 = pdl.result 0 of %k32_op
    %true_value = pdl.attribute = true
    %true_op = pdl.operation "arith.constant" {"value" = %true_value} -> (%i1 : !pdl.type)
    %true = pdl.result 0 of %true_op
    %replaced = pdl.result 0 of %cast
    %inputs = pdl.range %lhs, %rhs : !pdl.value, !pdl.value
    %results = pdl.range %replaced : !pdl.value
    %dims = pdl.range %m, %n : !pdl.value, !pdl.value
    %others = pdl.range %m32, %n32, %k32, %true : !pdl.value, !pdl.value, !pdl.value, !pdl.value
    pdl.apply_native_rewrite "rewriteAsFlowDispatch"(%cast, %function, %inputs, %results, %dims, %others
        : !pdl.operation, !pdl.attribute, !pdl.range<value>, !pdl.range<value>, !pdl.range<value>, !pdl.range<value>)
  }
}
