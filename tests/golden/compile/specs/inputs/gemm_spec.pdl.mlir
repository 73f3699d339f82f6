// linalg.matmul over zeros becomes a dispatch of the user's `gemm_i`, which takes the sizes and a flag behind the tensors.
pdl.pattern @gemm : benefit(1) {
  %lhs_type = pdl.type
  %lhs = pdl.operand : %lhs_type
  %rhs_type = pdl.type
  %rhs = pdl.operand : %rhs_type
  %f32 = pdl.type : f32
  %zero_value = pdl.attribute = 0.000000e+00 : f32
  %zero_op = pdl.operation "arith.constant" {"value" = %zero_value} -> (%f32 : !pdl.type)
  %zero = pdl.result 0 of %zero_op
  %result_type = pdl.type
  %empty = pdl.operand : %result_type
  %fill_op = pdl.operation "linalg.fill"(%zero, %empty : !pdl.value, !pdl.value) -> (%result_type : !pdl.type)
  %fill = pdl.result 0 of %fill_op
  %matmul = pdl.operation "linalg.matmul"(%lhs, %rhs, %fill : !pdl.value, !pdl.value, !pdl.value) -> (%result_type : !pdl.type)
  pdl.rewrite %matmul {
    %name = pdl.attribute = "gemm_i"
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
    %m_i32_op = pdl.operation "arith.index_cast"(%m : !pdl.value) -> (%i32 : !pdl.type)
    %m_i32 = pdl.result 0 of %m_i32_op
    %n_i32_op = pdl.operation "arith.index_cast"(%n : !pdl.value) -> (%i32 : !pdl.type)
    %n_i32 = pdl.result 0 of %n_i32_op
    %k_i32_op = pdl.operation "arith.index_cast"(%k : !pdl.value) -> (%i32 : !pdl.type)
    %k_i32 = pdl.result 0 of %k_i32_op
    %false_value = pdl.attribute = false
    %i1 = pdl.type : i1
    %false_op = pdl.operation "arith.constant" {"value" = %false_value} -> (%i1 : !pdl.type)
    %false = pdl.result 0 of %false_op
    %replaced = pdl.result 0 of %matmul
    %inputs = pdl.range %lhs, %rhs : !pdl.value, !pdl.value
    %results = pdl.range %replaced : !pdl.value
    %dims = pdl.range %m, %n : !pdl.value, !pdl.value
    %others = pdl.range %m_i32, %n_i32, %k_i32, %false : !pdl.value, !pdl.value, !pdl.value, !pdl.value
    pdl.apply_native_rewrite "rewriteAsFlowDispatch"(%matmul, %name, %inputs, %results, %dims, %others
        : !pdl.operation, !pdl.attribute, !pdl.range<value>, !pdl.range<value>, !pdl.range<value>, !pdl.range<value>)
  }
}
