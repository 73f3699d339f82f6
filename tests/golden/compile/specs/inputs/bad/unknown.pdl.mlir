pdl.pattern : benefit(1) {
  %t = pdl.type
  %x = pdl.operand : %t
  %op = pdl.operation "math.exp"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    %new = pdl.operation "math.expo"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %op with %new
  }
}
