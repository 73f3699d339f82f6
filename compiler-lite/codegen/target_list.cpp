// The list of targets as objects. A program that brings a target of its own compiles this file with a list of its own.
#include "compiler-lite/codegen/target.hpp"

#ifndef BATON_TARGETS
#define BATON_TARGETS "compiler-lite/codegen/targets.inc"
#endif

namespace baton::compiler_lite::codegen {

#define TARGET(name)      \
  namespace name {        \
  const Target& target(); \
  }
#include BATON_TARGETS
#undef TARGET

llvm::ArrayRef<const Target*> all_targets() {
  static const Target* const all[] = {
#define TARGET(name) &name::target(),
#include BATON_TARGETS
#undef TARGET
  };
  return all;
}

}  // namespace baton::compiler_lite::codegen
