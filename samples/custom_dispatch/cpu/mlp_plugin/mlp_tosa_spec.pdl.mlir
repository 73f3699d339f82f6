// relu(a * b) in tosa, one batch of f32, is `mlp_external` of the plugin.
pdl.pattern @mlp_tosa : benefit(1) {
  %f32 = pdl.type : f32
  %lhs_type = pdl.type
  %lhs = pdl.operand : %lhs_type
  pdl.apply_native_constraint "checkTensorElementType"(%lhs_type, %f32 : !pdl.type, !pdl.type)
  %rhs_type = pdl.type
  %rhs = pdl.operand : %rhs_type
  pdl.apply_native_constraint "checkTensorElementType"(%rhs_type, %f32 : !pdl.type, !pdl.type)
  %zero_type = pdl.type
  %lhs_zero = pdl.operand : %zero_type
  %rhs_zero = pdl.operand : %zero_type
  %result_type = pdl.type
  %product_op = pdl.operation "tosa.matmul"(%lhs, %rhs, %lhs_zero, %rhs_zero : !pdl.value, !pdl.value, !pdl.value, !pdl.value) -> (%result_type : !pdl.type)
  %product = pdl.result 0 of %product_op
  %min = pdl.attribute = 0.000000e+00 : f32
  %max = pdl.attribute
  %relu = pdl.operation "tosa.clamp"(%product : !pdl.value) {"min_val" = %min, "max_val" = %max} -> (%result_type : !pdl.type)
  pdl.rewrite %relu {
    %function = pdl.attribute = "mlp_external"
    %i1 = pdl.type : i1
    %i32 = pdl.type : i32
    %index = pdl.type : index
    %c1_value = pdl.attribute = 1 : index
    %c1_op = pdl.operation "arith.constant" {"value" = %c1_value} -> (%index : !pdl.type)
    %c1 = pdl.result 0 of %c1_op
    %c2_value = pdl.attribute = 2 : index
    %c2_op = pdl.operation "arith.constant" {"value" = %c2_value} -> (%index : !pdl.type)
    %c2 = pdl.result 0 of %c2_op
    %m_op = pdl.operation "tensor.dim"(%lhs, %c1 : !pdl.value, !pdl.value)
    %m = pdl.result 0 of %m_op
    %n_op = pdl.operation "tensor.dim"(%rhs, %c2 : !pdl.value, !pdl.value)
    %n = pdl.result 0 of %n_op
    %k_op = pdl.operation "tensor.dim"(%lhs, %c2 : !pdl.value, !pdl.value)
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
    %replaced = pdl.result 0 of %relu
    %inputs = pdl.range %lhs, %rhs : !pdl.value, !pdl.value
    %results = pdl.range %replaced : !pdl.value
    %none = pdl.range : !pdl.range<value>
    %others = pdl.range %m32, %n32, %k32, %true : !pdl.value, !pdl.value, !pdl.value, !pdl.value
    pdl.apply_native_rewrite "rewriteAsFlowDispatch"(%relu, %function, %inputs, %results, %none, %others
        : !pdl.operation, !pdl.attribute, !pdl.range<value>, !pdl.range<value>, !pdl.range<value>, !pdl.range<value>)
  }
}
