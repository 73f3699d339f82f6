// A kernel that ends the process is named with the module and the line of the program that launched it, on each kind of device,
// and of a program without a debug table with its module alone.
// REQUIRES: native
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-compile --strip-debug %s -o %t.bare.bvm
// RUN: baton-run-module %t.bvm --device=local-sync --function=read --input=4xf32=1,2,3,4 --input=0 | FileCheck %s --check-prefix=FINE
// RUN: baton-run-module %t.bvm --device=local-sync --function=read --input=4xf32=1,2,3,4 --input=-1 2> %t.sync || true
// RUN: baton-run-module %t.bvm --device=local-task --function=read --input=4xf32=1,2,3,4 --input=-1 2> %t.task || true
// RUN: baton-run-module %t.bare.bvm --device=local-sync --function=read --input=4xf32=1,2,3,4 --input=-1 2> %t.bare || true
// RUN: baton-run-module %t.bvm --device=local-sync --no_crash_names --function=read --input=4xf32=1,2,3,4 --input=-1 2> %t.silent || true
// RUN: FileCheck %s --input-file=%t.sync
// RUN: FileCheck %s --input-file=%t.task
// RUN: FileCheck %s --input-file=%t.bare --check-prefix=BARE
// RUN: FileCheck %s --input-file=%t.silent --check-prefix=SILENT --allow-empty

// FINE: 4xf32=1 0 0 0
// CHECK: Kernel 'far' of executable 'kernels', recorded by module 'crashing' at {{.*}}kernel_crash.mlir:[[@LINE+28]]:10, crashed in workgroup (0, 0, 0) with SIGSEGV at address 0x
// BARE: Kernel 'far' of executable 'kernels', recorded by module 'crashing', crashed in workgroup (0, 0, 0) with SIGSEGV at address 0x
// SILENT-NOT: Kernel 'far'
#code = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64">
#device = #hal.device.target<"local", [#code]> : !hal.device
#layout = #hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>
module @crashing attributes {hal.device.targets = [#device]} {
  hal.executable private @kernels {
    hal.executable.variant public @code target(#code) {
      hal.executable.export public @far ordinal(0) layout(#layout)
      builtin.module {
        func.func @far() {
          %zero = arith.constant 0 : index
          %step = arith.constant 1099511627776 : index
          %times = hal.interface.constant.load layout(#layout) ordinal(0) : i32
          %index = arith.index_cast %times : i32 to index
          %i = arith.muli %index, %step : index
          %in = hal.interface.binding.subspan layout(#layout) binding(0) : memref<4xf32>
          %out = hal.interface.binding.subspan layout(#layout) binding(1) : memref<4xf32>
          %x = memref.load %in[%i] : memref<4xf32>
          memref.store %x, %out[%zero] : memref<4xf32>
          return
        }
      }
    }
  }
  util.func public @read(%x: tensor<4xf32>, %i: i32) -> tensor<4xf32> {
    %c1 = arith.constant 1 : index
    %0 = flow.dispatch @kernels::@far[%c1](%i, %x) : (i32, tensor<4xf32>) -> tensor<4xf32>
    util.return %0 : tensor<4xf32>
  }
}
