// A loop on the host, without any device work.
func.func @main(%count: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %result = scf.while (%i = %count) : (i32) -> i32 {
    %more = arith.cmpi sgt, %i, %zero : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.subi %i, %one : i32
    scf.yield %next : i32
  }
  return %result : i32
}
