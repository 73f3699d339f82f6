// masked_logic: around a fault of LLVM 19 with AVX-512, which made wrong numbers of tanh in bf16.
//
// Where a vector select chooses between `x` and bits made of `x` and two others, (x & m) | (y & ~m) say, instruction
// selection writes one vpternlog under a mask. With `m` or `y` from memory, and `x` not the first operand of the three, it
// turns the table of that instruction the wrong way. A fence, which is no instruction, keeps the two apart.
#pragma once

namespace llvm {
class Module;
}

namespace baton::compiler_lite::codegen {

// The last thing before instruction selection.
void keep_masks_from_logic(llvm::Module& module);

}  // namespace baton::compiler_lite::codegen
