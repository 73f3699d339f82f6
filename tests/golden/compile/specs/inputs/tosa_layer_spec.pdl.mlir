// clamp(a * b, 0, ...) of tosa on f32 becomes a dispatch of the user's `layer`; the sizes are static.
pdl.pattern @tosa_layer : benefit(1) {
  %f32 = pdl.type : f32
  %lhs_type = pdl.type
  %lhs = pdl.operand : %lhs_type
  %rhs_type = pdl.type
  %rhs = pdl.operand : %rhs_type
  pdl.apply_native_constraint "checkTensorElementType"(%lhs_type, %f32 : !pdl.type, !pdl.type)
  pdl.apply_native_constraint "checkTensorElementType"(%rhs_type, %f32 : !pdl.type, !pdl.type)
  %zero_type = pdl.type
  %lhs_zero = pdl.operand : %zero_type
  %rhs_zero = pdl.operand : %zero_type
  %result_type = pdl.type
  %matmul_op = pdl.operation "tosa.matmul"(%lhs, %rhs, %lhs_zero, %rhs_zero : !pdl.value, !pdl.value, !pdl.value, !pdl.value) -> (%result_type : !pdl.type)
  %matmul = pdl.result 0 of %matmul_op
  %min = pdl.attribute = 0.000000e+00 : f32
  %max = pdl.attribute
  %clamp_op = pdl.operation "tosa.clamp"(%matmul : !pdl.value) {"min_val" = %min, "max_val" = %max} -> (%result_type : !pdl.type)
  pdl.rewrite %matmul_op {
    %name = pdl.attribute = "layer"
    %true_value = pdl.attribute = true
    %i1 = pdl.type : i1
    %true_op = pdl.operation "arith.constant" {"value" = %true_value} -> (%i1 : !pdl.type)
    %true = pdl.result 0 of %true_op
    %replaced = pdl.result 0 of %clamp_op
    %inputs = pdl.range %lhs, %rhs : !pdl.value, !pdl.value
    %results = pdl.range %replaced : !pdl.value
    %dims = pdl.range : !pdl.range<value>
    %others = pdl.range %true : !pdl.value
    pdl.apply_native_rewrite "rewriteAsFlowDispatch"(%matmul_op, %name, %inputs, %results, %dims, %others
        : !pdl.operation, !pdl.attribute, !pdl.range<value>, !pdl.range<value>, !pdl.range<value>, !pdl.range<value>)
  }
}
