// A function with a body that the runtime may find elsewhere (hal.import.dynamic): what was found is called, else its own
// body. --explain says so. The function of the plugin multiplies; the body adds.
// RUN: sed 's/targets = \[#cuda, #cpu\]/targets = [#cpu]/' %s > %t.cpu.mlir
// RUN: baton-compile %t.cpu.mlir -o %t.bvm --explain 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: dynamic_functions.mlir{{.*}}:[[#]]:{{[0-9]+}}: the function 'acme.multiply' in 'executable': what the runtime finds when the program is loaded, else its own body
// RUN: baton-run-module %t.bvm --device=local-sync --function=main --input=3xi32=7 | FileCheck %s --check-prefix=OWN
// RUN: baton-run-module %t.bvm --device=local-task --function=main --input=3xi32=7 | FileCheck %s --check-prefix=OWN
// OWN: 3xi32=10 11 12
// RUN: baton-run-module %t.bvm --device=local-sync --executable_plugin=%kernels/libsystem_plugin.so --function=main --input=3xi32=7 | FileCheck %s --check-prefix=FOUND
// FOUND: 3xi32=21 28 35
// A plugin that has another function is no reason to fail, and what a function found says is the call's outcome.
// RUN: sed 's/acme.multiply/acme.unknown/' %t.cpu.mlir > %t.unknown.mlir
// RUN: baton-compile %t.unknown.mlir -o %t.unknown.bvm
// RUN: baton-run-module %t.unknown.bvm --device=local-sync --executable_plugin=%kernels/libsystem_plugin.so --function=main --input=3xi32=7 | FileCheck %s --check-prefix=OWN
// RUN: not baton-run-module %t.bvm --device=local-sync --executable_plugin=%kernels/libsystem_plugin.so --function=main --input=3xi32=13 2>&1 | FileCheck %s --check-prefix=CODE
// CODE: 99
// Device code for CUDA is told by its bytes, and nothing to a CPU.
// RUN: baton-run-module %t.bvm --device=local-sync --executable_plugin=%S/inputs/acme_multiply.ptx --function=main --input=3xi32=7 | FileCheck %s --check-prefix=OWN
// Without a body the function has to be found.
// RUN: %{python} %S/inputs/without_bodies.py %t.cpu.mlir > %t.needed.mlir
// RUN: baton-compile %t.needed.mlir -o %t.needed.bvm
// RUN: not baton-run-module %t.needed.bvm --device=local-sync --function=main --input=3xi32=7 2>&1 | FileCheck %s --check-prefix=NEEDED
// NEEDED: Kernels import functions that nobody provides (asked: nobody):
// NEEDED-NEXT: 'acme.multiply'

// On a GPU CUDA's linker chooses: the body is a weak function, and what has none is declared.
// RUN: sed 's/targets = \[#cuda, #cpu\]/targets = [#cuda]/; s/acme.multiply/acme_multiply/' %s > %t.cuda.mlir
// RUN: baton-compile %t.cuda.mlir -o %t.cuda.bvm --explain 2>&1 | FileCheck %s --check-prefix=EXPLAIN-CUDA
// EXPLAIN-CUDA: the function 'acme_multiply' in 'executable': what the runtime finds when the program is loaded, else its own body
// RUN: baton-dump-module %t.cuda.bvm --extract=%t.files
// RUN: cat %t.files/executable.cuda-ptx-compute_75.ptx | FileCheck %s --check-prefix=WEAK
// WEAK-NOT: .extern .func
// WEAK: .weak .func (.param .b32 func_retval0) acme_multiply
// WEAK: call.uni (retval0),
// WEAK-NEXT: acme_multiply,
// WEAK: .weak .func (.param .b32 func_retval0) acme_multiply(
// WEAK-NEXT: acme_multiply_param_0,
// WEAK-NEXT: acme_multiply_param_1
// WEAK: add.s32
// WEAK: ret;
// WEAK-NOT: helper
// RUN: %{python} %S/inputs/without_bodies.py %t.cuda.mlir > %t.cuda.needed.mlir
// RUN: baton-compile %t.cuda.needed.mlir -o %t.cuda.needed.bvm
// RUN: baton-dump-module %t.cuda.needed.bvm --extract=%t.needed.files
// RUN: cat %t.needed.files/executable.cuda-ptx-compute_75.ptx | FileCheck %s --check-prefix=EXTERN
// EXTERN: .extern .func (.param .b32 func_retval0) acme_multiply
// EXTERN-NOT: .weak

// In code for Vulkan both are there, with the question which of them is called; what has no body is imported and nothing else.
// Names are any text.
// RUN: sed 's/targets = \[#cuda, #cpu\]/targets = [#vulkan]/' %s > %t.vulkan.mlir
// RUN: baton-compile %t.vulkan.mlir -o %t.vulkan.bvm --explain 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: baton-dump-module %t.vulkan.bvm --extract=%t.vulkan.files
// RUN: spirv-val --target-env spv1.5 %t.vulkan.files/executable.vulkan-spirv-fb.spv
// RUN: spirv-dis --no-color %t.vulkan.files/executable.vulkan-spirv-fb.spv | FileCheck %s --check-prefix=LINKAGE
// LINKAGE: OpCapability Linkage
// LINKAGE: OpDecorate [[IMPORT:%[0-9]+]] LinkageAttributes "baton.optional acme.multiply" Import
// LINKAGE: OpDecorate [[QUESTION:%[0-9]+]] LinkageAttributes "baton.is_there acme.multiply" Import
// LINKAGE: [[IMPORT]] = OpFunction %uint
// LINKAGE: OpFunctionEnd
// LINKAGE: [[YES:%[0-9]+]] = OpFunctionCall %bool [[QUESTION]]
// LINKAGE: OpBranchConditional [[YES]]
// LINKAGE: OpFunctionCall %uint [[IMPORT]]
// LINKAGE: OpIAdd %uint
// RUN: %{python} %S/inputs/without_bodies.py %t.vulkan.mlir > %t.vulkan.needed.mlir
// RUN: baton-compile %t.vulkan.needed.mlir -o %t.vulkan.needed.bvm
// RUN: baton-dump-module %t.vulkan.needed.bvm --extract=%t.vulkan.needed
// RUN: spirv-dis --no-color %t.vulkan.needed/executable.vulkan-spirv-fb.spv | FileCheck %s --check-prefix=NEEDS
// NEEDS: LinkageAttributes "acme.multiply" Import
// NEEDS-NOT: baton.is_there

// What cannot be.
// RUN: sed 's/targets = \[#cuda, #cpu\]/targets = [#cuda]/' %s > %t.dotted.mlir
// RUN: not baton-compile %t.dotted.mlir 2>&1 | FileCheck %s --check-prefix=DOTTED
// DOTTED: error: The kernels import 'acme.multiply', which is no name of a function in CUDA code.
// RUN: sed 's/attributes {hal.import.dynamic/attributes {llvm.bareptr, hal.import.dynamic/' %t.cuda.mlir > %t.bare.mlir
// RUN: not baton-compile %t.bare.mlir 2>&1 | FileCheck %s --check-prefix=BARE
// BARE: error: The function 'multiply' has a body, and llvm.bareptr passes no sizes to it; leave that out.
// RUN: sed 's/attributes {hal.import.dynamic/attributes {hal.import.fields = ["processor_id"], hal.import.dynamic/' %t.cuda.mlir > %t.fields.mlir
// RUN: not baton-compile %t.fields.mlir 2>&1 | FileCheck %s --check-prefix=FIELDS
// FIELDS: error: The import 'multiply' asks for fields (hal.import.fields); functions of CUDA code get none.
// RUN: sed 's/func.func private @helper.*/func.func private @helper(%x: i32) -> i32/; /BEGIN/,/END/d' %t.cuda.mlir > %t.open.mlir
// RUN: not baton-compile %t.open.mlir 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: error: The body of 'multiply' calls 'helper', which has no body; what stands in for a missing function stands alone.
// RUN: sed 's/func.call @helper(%x) : (i32) -> i32/func.call @multiply(%x, %y) : (i32, i32) -> i32/' %t.cpu.mlir > %t.recursive.mlir
// RUN: not baton-compile %t.recursive.mlir 2>&1 | FileCheck %s --check-prefix=RECURSIVE
// RECURSIVE: error: The body of 'multiply' calls 'multiply'; what stands in for a missing function becomes part of its callers, and cannot call itself.

#sm_75 = #hal.executable.target<"cuda", "cuda-nvptx-fb", {target_arch = "sm_75"}>
#cuda = #hal.device.target<"cuda", [#sm_75]> : !hal.device
#x86_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64">
#arm_64 = #hal.executable.target<"llvm-cpu", "embedded-elf-arm_64">
#cpu = #hal.device.target<"local", [#x86_64, #arm_64]> : !hal.device
#spirv = #hal.executable.target<"vulkan-spirv", "vulkan-spirv-fb">
#vulkan = #hal.device.target<"vulkan", [#spirv]> : !hal.device
module @dynamic attributes {hal.device.targets = [#cuda, #cpu]} {
  stream.executable private @executable {
    stream.executable.export public @fill workgroups(%n: index) -> (index, index, index) {
      %c1 = arith.constant 1 : index
      stream.return %n, %c1, %c1 : index, index, index
    }
    builtin.module {
      func.func private @helper(%x: i32) -> i32 {
        return %x : i32 // BEGIN
      } // END
      func.func private @multiply(%x: i32, %y: i32) -> i32 attributes {hal.import.dynamic, hal.import.name = "acme.multiply"} {
        %h = func.call @helper(%x) : (i32) -> i32
        %r = arith.addi %h, %y : i32
        return %r : i32
      }
      func.func @fill(%in: !stream.binding, %out: !stream.binding) {
        %c0 = arith.constant 0 : index
        %i = stream.dispatch.workgroup.id[0] : index
        %n = stream.dispatch.workgroup.count[0] : index
        %a = stream.binding.subspan %in[%c0] : !stream.binding -> memref<?xi32>{%n}
        %r = stream.binding.subspan %out[%c0] : !stream.binding -> memref<?xi32>{%n}
        %x = memref.load %a[%i] : memref<?xi32>
        %c3 = arith.constant 3 : i32
        %number = arith.index_cast %i : index to i32
        %more = arith.addi %number, %c3 : i32
        %y = func.call @multiply(%x, %more) : (i32, i32) -> i32
        memref.store %y, %r[%i] : memref<?xi32>
        return
      }
    }
  }
  func.func @main(%a: tensor<?xi32>) -> tensor<?xi32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %a, %c0 : tensor<?xi32>
    %r = flow.dispatch @executable::@fill[%n](%a) : (tensor<?xi32>{%n}) -> tensor<?xi32>{%n}
    return %r : tensor<?xi32>
  }
}
