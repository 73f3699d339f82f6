#include "compiler-lite/codegen/llvm/link_bitcode.hpp"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"

namespace baton::compiler_lite::codegen {

std::string link_bitcode(llvm::Module& module, llvm::ArrayRef<Bitcode> bitcode) {
  for (const Bitcode& part : bitcode) {
    llvm::Expected<std::unique_ptr<llvm::Module>> parsed =
        llvm::parseBitcodeFile(llvm::MemoryBufferRef(part.bytes, part.name), module.getContext());
    if (!parsed) return "The bitcode '" + part.name + "' can't be read: " + llvm::toString(parsed.takeError()) + ".";
    (*parsed)->setTargetTriple(module.getTargetTriple());
    (*parsed)->setDataLayout(module.getDataLayout());
    // Module flags are about code models and debug formats of another compilation.
    if (llvm::NamedMDNode* flags = (*parsed)->getModuleFlagsMetadata()) (*parsed)->eraseNamedMetadata(flags);
    if (llvm::Linker::linkModules(module, std::move(*parsed), llvm::Linker::LinkOnlyNeeded)) {
      return "The bitcode '" + part.name + "' can't be linked.";
    }
  }
  return {};
}

void make_private(llvm::Module& module, const std::vector<std::string>& exported) {
  for (llvm::GlobalValue& value : module.global_values()) {
    if (value.isDeclaration() || llvm::is_contained(exported, value.getName()) || value.hasLocalLinkage()) continue;
    if (auto* object = llvm::dyn_cast<llvm::GlobalObject>(&value)) object->setComdat(nullptr);
    value.setVisibility(llvm::GlobalValue::DefaultVisibility);
    value.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

}  // namespace baton::compiler_lite::codegen
