pdl.pattern : benefit(1) {
  %t = pdl.type
  %x = pdl.operand : %t
  pdl.apply_native_constraint "isLarge"(%t : !pdl.type)
  %op = pdl.operation "math.exp"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %op {
    pdl.replace %op with (%x : !pdl.value)
  }
}
