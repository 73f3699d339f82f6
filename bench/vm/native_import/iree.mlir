// A loop whose body calls native code. The packages bring no native function of two scalars that a program may call; this
// one takes none and returns 1, so its figure is a lower bound. Compiled, not assembled: iree-as-module cannot say that a
// module depends on another.
vm.module @bench {
  vm.import private @hal.devices.count() -> i32
  vm.export @run
  vm.func @run(%n: i32) -> i32 {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    vm.br ^body(%zero, %zero : i32, i32)
  ^body(%i: i32, %sum: i32):
    %count = vm.call @hal.devices.count() : () -> i32
    %sum_next = vm.add.i32 %sum, %count : i32
    %next = vm.add.i32 %i, %one : i32
    %more = vm.cmp.lt.i32.s %next, %n : i32
    vm.cond_br %more, ^body(%next, %sum_next : i32, i32), ^done
  ^done:
    vm.return %sum_next : i32
  }
}
