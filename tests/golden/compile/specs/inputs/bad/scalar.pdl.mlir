pdl.pattern : benefit(1) {
  %t = pdl.type
  %x = pdl.operand : %t
  %op = pdl.operation "math.sqrt"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %name = pdl.attribute = "root"
    %r = pdl.result 0 of %op
    %none = pdl.range : !pdl.range<value>
    pdl.apply_native_rewrite "rewriteAsFlowDispatch"(%op, %name, %x, %r, %none, %none
        : !pdl.operation, !pdl.attribute, !pdl.value, !pdl.value, !pdl.range<value>, !pdl.range<value>)
  }
}
