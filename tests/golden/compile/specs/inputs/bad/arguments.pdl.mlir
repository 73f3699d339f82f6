pdl.pattern : benefit(1) {
  %x = pdl.operand
  %t = pdl.type
  %op = pdl.operation "math.exp"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op with "rewriteAsFlowDispatch"
}
