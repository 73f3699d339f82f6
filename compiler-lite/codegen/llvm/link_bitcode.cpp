#include "compiler-lite/codegen/llvm/link_bitcode.hpp"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"

namespace baton::compiler_lite::codegen {

namespace {

bool needs(const llvm::Module& module, const llvm::Module& part) {
  return llvm::any_of(module.global_values(), [&](const llvm::GlobalValue& wanted) {
    const llvm::GlobalValue* found = wanted.isDeclaration() ? part.getNamedValue(wanted.getName()) : nullptr;
    return found && !found->isDeclaration() && !found->hasLocalLinkage();
  });
}

// What runs before and after a program of its own, which a kernel has not.
bool has_initializers(const llvm::Module& part) {
  return llvm::any_of(llvm::ArrayRef<llvm::StringRef>({"llvm.global_ctors", "llvm.global_dtors"}), [&](auto name) {
    const llvm::GlobalVariable* list = part.getNamedGlobal(name);
    return list && list->hasInitializer() && !list->getInitializer()->isNullValue();
  });
}

}  // namespace

std::string link_bitcode(llvm::Module& module, llvm::ArrayRef<Bitcode> bitcode) {
  for (const Bitcode& part : bitcode) {
    llvm::Expected<std::unique_ptr<llvm::Module>> parsed =
        llvm::parseBitcodeFile(llvm::MemoryBufferRef(part.bytes, part.name), module.getContext());
    if (!parsed) return "The bitcode '" + part.name + "' can't be read: " + llvm::toString(parsed.takeError()) + ".";
    if (!needs(module, **parsed)) continue;
    if (has_initializers(**parsed)) {
      return "The bitcode '" + part.name + "' has initializers, which nobody runs (static objects of C++?).";
    }
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
