// What the host decides for an executable: variants by condition, exports with fallbacks, constants of the code.
// REQUIRES: native
// RUN: baton-opt --schedule %s | FileCheck %s
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=variants --input=4xi32=5 > %t.txt
// RUN: baton-run-module --device=local-task --module=%t.bvm --function=exports --input=4xi32=5 >> %t.txt
// RUN: baton-run-module --device=local-sync --module=%t.bvm --function=constants --input=4xi32=5 >> %t.txt
// RUN: FileCheck --check-prefix=VALUES --input-file=%t.txt %s

// The last variant is the one whose condition holds; the second export is called where the first one's doesn't.
// VALUES: EXEC @variants
// VALUES: 4xi32=10 10 10 10
// VALUES: EXEC @exports
// VALUES: 4xi32=15 15 15 15
// VALUES-NEXT: result[1]
// VALUES-NEXT: 4xi32=10 10 10 10
// VALUES: EXEC @constants
// VALUES: 4xi32=705 705 705 705

// CHECK: vm.executable @by_condition {{.*}}condition = @by_condition.never.condition, format = "embedded-elf-x86_64"}, {{.*}}condition = @by_condition.known.condition, format = "embedded-elf-x86_64"}]
// CHECK: vm.executable @specialized {{.*}}constants = 2 : i64, format = "embedded-elf-x86_64"}]
// CHECK: util.initializer {
// CHECK: %[[DEVICE:.*]] = util.call @hal.devices.get
// CHECK: %[[NEVER:.*]] = util.call @by_condition.never.condition(%[[DEVICE]])
// CHECK: %[[FIRST:.*]] = arith.extui %[[NEVER]] : i1 to i32
// CHECK: %[[KNOWN:.*]] = util.call @by_condition.known.condition(%[[DEVICE]])
// CHECK: %[[SECOND:.*]] = arith.extui %[[KNOWN]] : i1 to i32
// CHECK: vm.call.variadic @hal.executable.load(%[[DEVICE]], %{{.*}}, %[[FIRST]], %[[SECOND]]) segments([2, 0])
// CHECK: %[[WORDS:.*]]:2 = util.call @specialized.x86_64.constants(%[[DEVICE]])
// CHECK: vm.call.variadic @hal.executable.load(%[[DEVICE]], %{{.*}}, %[[WORDS]]#0, %[[WORDS]]#1) segments([0, 2])
// CHECK: util.func private @by_condition.never.condition(%{{.*}}: !hal.device) -> i1
// CHECK: util.call @hal.device.query
#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64">
#layout = #hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
module @host_code attributes {hal.device.targets = [#hal.device.target<"local", [#x86_64]>]} {
  hal.executable private @by_condition {
    hal.executable.variant public @never target(#x86_64) {
      hal.executable.condition(%device: !hal.device) -> i1 {
        %ok, %value = hal.device.query<%device : !hal.device> key("acme" :: "has.abacus") : i1, i1 = false
        hal.return %value : i1
      }
      hal.executable.export public @add ordinal(0) layout(#layout)
      builtin.module {
        func.func @add() {
          return
        }
      }
    }
    hal.executable.variant public @known target(#x86_64) {
      hal.executable.condition(%device: !hal.device) -> i1 {
        %ok, %value = hal.device.query<%device : !hal.device> key("hal.executable.format" :: "embedded-elf-x86_64") : i1, i32 = 0 : i32
        %one = arith.constant 1 : i32
        %holds = arith.cmpi eq, %value, %one : i32
        hal.return %holds : i1
      }
      hal.executable.export public @add ordinal(0) layout(#layout)
      builtin.module {
        func.func @add() {
          %c0 = arith.constant 0 : index
          %in = hal.interface.binding.subspan layout(#layout) binding(0) : memref<4xi32>
          %out = hal.interface.binding.subspan layout(#layout) binding(1) : memref<4xi32>
          %id = hal.interface.workgroup.id[0] : index
          %x = memref.load %in[%id] : memref<4xi32>
          %y = arith.addi %x, %x : i32
          memref.store %y, %out[%id] : memref<4xi32>
          return
        }
      }
    }
  }
  util.func public @variants(%x: tensor<4xi32>) -> tensor<4xi32> {
    %c4 = arith.constant 4 : index
    %0 = flow.dispatch @by_condition::@add[%c4](%x) : (tensor<4xi32>) -> tensor<4xi32>
    util.return %0 : tensor<4xi32>
  }

  hal.executable private @by_size {
    hal.executable.variant public @x86_64 target(#x86_64) {
      hal.executable.export public @triple ordinal(0) layout(#layout)
          condition(%device: !hal.device, %n: index, %large: index) -> i1 {
        %c100 = arith.constant 100 : index
        %holds = arith.cmpi uge, %large, %c100 : index
        hal.return %holds : i1
      } fallback(@double)
          count(%device: !hal.device, %n: index, %large: index) -> (index, index, index) {
        %c1 = arith.constant 1 : index
        hal.return %n, %c1, %c1 : index, index, index
      }
      hal.executable.export public @double ordinal(1) layout(#layout)
          count(%device: !hal.device, %n: index, %large: index) -> (index, index, index) {
        %c1 = arith.constant 1 : index
        hal.return %c1, %n, %c1 : index, index, index
      }
      builtin.module {
        func.func @triple() {
          %in = hal.interface.binding.subspan layout(#layout) binding(0) : memref<4xi32>
          %out = hal.interface.binding.subspan layout(#layout) binding(1) : memref<4xi32>
          %id = hal.interface.workgroup.id[0] : index
          %c3 = arith.constant 3 : i32
          %x = memref.load %in[%id] : memref<4xi32>
          %y = arith.muli %x, %c3 : i32
          memref.store %y, %out[%id] : memref<4xi32>
          return
        }
        func.func @double() {
          %in = hal.interface.binding.subspan layout(#layout) binding(0) : memref<4xi32>
          %out = hal.interface.binding.subspan layout(#layout) binding(1) : memref<4xi32>
          %id = hal.interface.workgroup.id[1] : index
          %x = memref.load %in[%id] : memref<4xi32>
          %y = arith.addi %x, %x : i32
          memref.store %y, %out[%id] : memref<4xi32>
          return
        }
      }
    }
  }
  util.func public @exports(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c200 = arith.constant 200 : index
    %0 = flow.dispatch @by_size::@triple[%c4, %c200](%x) : (tensor<4xi32>) -> tensor<4xi32>
    %1 = flow.dispatch @by_size::@triple[%c4, %c5](%x) : (tensor<4xi32>) -> tensor<4xi32>
    util.return %0, %1 : tensor<4xi32>, tensor<4xi32>
  }

  hal.executable private @specialized {
    hal.executable.variant public @x86_64 target(#x86_64) {
      hal.executable.constant.block(%device: !hal.device) -> (i32, i8) as ("hundreds", "seven") {
        %hundred = arith.constant 100 : i32
        %seven = arith.constant 7 : i8
        hal.return %hundred, %seven : i32, i8
      }
      hal.executable.export public @add ordinal(0) layout(#layout)
      builtin.module {
        func.func @add() {
          %in = hal.interface.binding.subspan layout(#layout) binding(0) : memref<4xi32>
          %out = hal.interface.binding.subspan layout(#layout) binding(1) : memref<4xi32>
          %id = hal.interface.workgroup.id[0] : index
          %hundreds = hal.executable.constant.load "hundreds" : i32
          %seven = hal.executable.constant.load "seven" : i8
          %wide = arith.extsi %seven : i8 to i32
          %more = arith.muli %hundreds, %wide : i32
          %x = memref.load %in[%id] : memref<4xi32>
          %y = arith.addi %x, %more : i32
          memref.store %y, %out[%id] : memref<4xi32>
          return
        }
      }
    }
  }
  util.func public @constants(%x: tensor<4xi32>) -> tensor<4xi32> {
    %c4 = arith.constant 4 : index
    %0 = flow.dispatch @specialized::@add[%c4](%x) : (tensor<4xi32>) -> tensor<4xi32>
    util.return %0 : tensor<4xi32>
  }
}
