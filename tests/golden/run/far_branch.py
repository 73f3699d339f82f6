"""Prints the program of far_branch.test: a fused compare over 40000 instructions."""
print("module @far_branch")
print("export func @far(%first: i32, %second: i32) -> i32 {")
print("  br.eq.i32 %first, %second, far")
for _ in range(40000):
    print("  add.imm.i32 %first, %first, 1")
print("far:")
print("  return.value %first")
print("}")
