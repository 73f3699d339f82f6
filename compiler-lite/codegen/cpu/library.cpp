#include "compiler-lite/codegen/cpu/library.hpp"

#include "compiler-lite/codegen/cpu/dispatch_pointers.hpp"
#include "compiler-lite/codegen/cpu/library_layout.hpp"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace baton::compiler_lite::codegen::cpu {
namespace {

class LibraryWriter {
 public:
  explicit LibraryWriter(llvm::Module& module) : module_(module), context_(module.getContext()) {}

  llvm::Constant* u16(uint64_t value) { return llvm::ConstantInt::get(llvm::Type::getInt16Ty(context_), value); }
  llvm::Constant* u32(uint64_t value) { return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), value); }
  llvm::Constant* u64(uint64_t value) { return llvm::ConstantInt::get(llvm::Type::getInt64Ty(context_), value); }
  llvm::PointerType* pointer() { return llvm::PointerType::getUnqual(context_); }

  llvm::GlobalVariable* constant(llvm::Constant* value, const llvm::Twine& name) {
    auto* global = new llvm::GlobalVariable(module_, value->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::PrivateLinkage, value, name);
    return global;
  }

  llvm::Constant* string(llvm::StringRef text) {
    auto* global = constant(llvm::ConstantDataArray::getString(context_, text), "string");
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return global;
  }

  // An array of pointers, or null for none.
  llvm::Constant* table(llvm::ArrayRef<llvm::Constant*> items, const llvm::Twine& name) {
    if (items.empty()) return llvm::ConstantPointerNull::get(pointer());
    return constant(llvm::ConstantArray::get(llvm::ArrayType::get(pointer(), items.size()), items), name);
  }

  // int kernel(environment, dispatch, workgroup): loads the bindings and calls the body.
  llvm::Function* kernel(const EntryPoint& entry, llvm::StringRef suffix) {
    llvm::Type* i32 = llvm::Type::getInt32Ty(context_);
    auto* type = llvm::FunctionType::get(i32, {pointer(), pointer(), pointer()}, false);
    if (entry.body.empty()) {  // The user's object has it.
      return llvm::cast<llvm::Function>(module_.getOrInsertFunction(entry.name, type).getCallee());
    }
    auto* function =
        llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, entry.name + suffix.str(), module_);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "", function));
    llvm::SmallVector<llvm::Value*> arguments;
    for (llvm::Argument& argument : function->args()) arguments.push_back(&argument);
    if (entry.binding_count > 0) {
      llvm::Value* at = builder.CreateConstGEP1_64(builder.getInt8Ty(), arguments[1], layout::kDispatchBindings);
      llvm::Value* bindings = builder.CreateLoad(pointer(), at);
      for (unsigned i = 0; i < entry.binding_count; ++i) {
        arguments.push_back(builder.CreateLoad(pointer(), builder.CreateConstGEP1_64(pointer(), bindings, i)));
      }
    }
    builder.CreateRet(builder.CreateCall(module_.getFunction(entry.body), arguments));
    return function;
  }

  // An array of baton_access_check.
  llvm::Constant* access_checks(llvm::ArrayRef<AccessCheck> checks) {
    llvm::SmallVector<llvm::Constant*> rows;
    llvm::StringMap<llvm::Constant*> lines;  // Many checks have the same.
    for (const AccessCheck& check : checks) {
      for (const std::string& each : {check.access, check.line}) {
        llvm::Constant*& known = lines[each];
        if (!known) known = string(each);
        rows.push_back(known);
      }
    }
    return table(rows, "checks");
  }

  // baton_kernel_attributes
  llvm::Constant* attributes(const EntryPoint& entry) {
    llvm::Constant* fields[] = {u16(entry.constant_count),    u16(entry.binding_count),
                                u32(entry.workgroup_size[0]), u32(entry.workgroup_size[1]),
                                u32(entry.workgroup_size[2]), u32(entry.local_memory_bytes)};
    return llvm::ConstantStruct::getAnon(fields);
  }

 private:
  llvm::Module& module_;
  llvm::LLVMContext& context_;
};

}  // namespace

void add_library(llvm::Module& module, llvm::StringRef name, const TargetInfo& target,
                 const std::vector<EntryPoint>& entries, const ImportTable& imports, unsigned specialization_count,
                 llvm::ArrayRef<AccessCheck> checks) {
  LibraryWriter writer(module);
  llvm::SmallVector<llvm::Constant*> kernels, names, attributes, import_names;
  for (const EntryPoint& entry : entries) {
    kernels.push_back(writer.kernel(entry, target.suffix));
    names.push_back(writer.string(entry.name));
    attributes.push_back(writer.attributes(entry));
  }
  for (const std::string& symbol : imports.symbols) import_names.push_back(writer.string(symbol));
  llvm::Constant* attribute_table = llvm::ConstantPointerNull::get(writer.pointer());
  if (!attributes.empty()) {
    auto* type = llvm::ArrayType::get(attributes[0]->getType(), attributes.size());
    attribute_table = writer.constant(llvm::ConstantArray::get(type, attributes), "attributes");
  }
  // baton_executable_library
  llvm::SmallVector<llvm::Constant*> fields = {
      writer.u32(layout::kLibrarySize),
      writer.u32(checks.empty() ? layout::kLibraryVersion : layout::kCheckedLibraryVersion),
      writer.string(name),
      writer.u32(0),  // No sanitizer.
      writer.u32(specialization_count),
      writer.u32(imports.symbols.size()),
      writer.u32(entries.size()),
      writer.table(import_names, "imports"),
      writer.table(kernels, "kernels"),
      writer.table(names, "names"),
      attribute_table};
  if (!checks.empty()) {
    fields.push_back(writer.access_checks(checks));
    fields.push_back(writer.u64(checks.size()));
  }
  auto* library = writer.constant(llvm::ConstantStruct::getAnon(fields), "baton_library" + target.suffix);
  library->setLinkage(llvm::GlobalValue::ExternalLinkage);
  library->setVisibility(llvm::GlobalValue::HiddenVisibility);
}

void add_query(llvm::Module& module, const std::vector<TargetInfo>& levels, bool checked) {
  llvm::LLVMContext& context = module.getContext();
  auto* pointer = llvm::PointerType::getUnqual(context);
  llvm::Type* i32 = llvm::Type::getInt32Ty(context);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(pointer, {i32, pointer}, false),
                                          llvm::GlobalValue::ExternalLinkage, layout::kQueryName, module);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", function));
  llvm::Value* at =
      builder.CreateConstGEP1_64(builder.getInt8Ty(), function->getArg(1), layout::kEnvironmentProcessorData);
  llvm::Value* bits = builder.CreateLoad(builder.getInt64Ty(), at);
  llvm::Value* best = llvm::ConstantPointerNull::get(pointer);
  for (const TargetInfo& level : levels) {
    auto* library = llvm::cast<llvm::GlobalVariable>(
        module.getOrInsertGlobal("baton_library" + level.suffix, llvm::Type::getInt8Ty(context)));
    library->setVisibility(llvm::GlobalValue::HiddenVisibility);
    llvm::Value* fits =
        builder.CreateICmpEQ(builder.CreateAnd(bits, level.processor_bits), builder.getInt64(level.processor_bits));
    best = builder.CreateSelect(fits, library, best);
  }
  llvm::Value* known = builder.CreateICmpUGE(
      function->getArg(0), builder.getInt32(checked ? layout::kCheckedLibraryVersion : layout::kLibraryVersion));
  builder.CreateRet(builder.CreateSelect(known, best, llvm::ConstantPointerNull::get(pointer)));
}

}  // namespace baton::compiler_lite::codegen::cpu
