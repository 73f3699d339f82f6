#include "vm/bytecode_module.hpp"

#include <new>
#include <utility>

#include "bytecode/verifier.hpp"

namespace baton::vm {

Result<Ref<BytecodeModule>> BytecodeModule::load(bytecode::ModuleBytes bytes) {
  BATON_TRY_ASSIGN(const bytecode::ModuleView view, bytecode::verify(bytes.bytes()));
  return Ref<BytecodeModule>::adopt(new BytecodeModule(std::move(bytes), view));
}

Result<Ref<BytecodeModule>> BytecodeModule::load_file(const std::string& path) {
  BATON_TRY_ASSIGN(bytecode::ModuleBytes bytes, bytecode::ModuleBytes::map_file(path));
  auto module = load(std::move(bytes));
  if (!module) return std::move(module).error().with_context(text("while loading '", path, "'"));
  return module;
}

const ObjectType ExecutableRow::kType = {.name = "executable", .destroy = [](Object* object) {
                                           auto* row = static_cast<ExecutableRow*>(object);
                                           row->release_memory(row->release_data);
                                         }};

// One allocation: this head, then the blobs, then the executables.
struct BytecodeModule::Storage {
  bytecode::ModuleBytes bytes;
  ReferenceCount users;  // the module, and each object that lives

  static Storage* make(bytecode::ModuleBytes bytes, uint32_t blob_count, uint32_t executable_count) {
    void* memory =
        ::operator new(sizeof(Storage) + sizeof(Blob) * blob_count + sizeof(ExecutableRow) * executable_count);
    return new (memory) Storage{std::move(bytes), ReferenceCount(blob_count + executable_count + 1)};
  }
  Blob* blobs() { return reinterpret_cast<Blob*>(this + 1); }

  static void release(void* self) {
    auto* storage = static_cast<Storage*>(self);
    if (!storage->users.down()) return;
    storage->~Storage();
    ::operator delete(storage);
  }
};

BytecodeModule::BytecodeModule(bytecode::ModuleBytes bytes, const bytecode::ModuleView& view)
    : view_(view),
      functions_(new Function[view.function_count()]),
      storage_(Storage::make(std::move(bytes), view.rodata_count(), view.executable_count())),
      rodata_(storage_->blobs()),
      executables_(reinterpret_cast<ExecutableRow*>(rodata_ + view.rodata_count())),
      places_{{.retain = [](const CallPlace::Module& module) { static_cast<const Places&>(module).module->retain(); },
               .release = [](const CallPlace::Module& module) { static_cast<const Places&>(module).module->release(); },
               .name = [](const CallPlace::Module& module,
                          uint32_t word) { return static_cast<const Places&>(module).module->name_place(word); }},
              this} {
  const uint32_t function_count = view_.function_count();
  bytecode::SignatureShape shape;
  for (uint32_t i = 0, shape_of = UINT32_MAX; i < function_count; ++i) {
    const bytecode::FunctionView function = view_.function(i);
    if (function.signature_index != shape_of) {                // Functions that stand together are often of one kind.
      shape = *bytecode::signature_shape(function.signature);  // Verified: well formed.
      shape_of = function.signature_index;
    }
    functions_[i] = {.code = function.code.data(),
                     .index = i,
                     .value_registers = function.value_registers,
                     .ref_registers = function.ref_registers,
                     .shape = shape};
  }
  for (uint32_t i = 0; i < view_.rodata_count(); ++i) {
    const std::span<const std::byte> segment = view_.rodata(i);
    // Read-only: no code writes through the pointer that loses its const here (ops/blob.hpp looks at `writable`).
    auto* blob = new (rodata_ + i) Blob(const_cast<std::byte*>(segment.data()), segment.size(), /*is_writable=*/false);
    blob->release_memory = Storage::release;
    blob->release_data = storage_;
  }
  for (uint32_t i = 0; i < view_.executable_count(); ++i) {
    new (executables_ + i) ExecutableRow(view_, i, Storage::release, storage_);
  }
}

BytecodeModule::~BytecodeModule() {
  for (uint32_t i = 0; i < view_.rodata_count(); ++i) rodata_[i].release();
  for (uint32_t i = 0; i < view_.executable_count(); ++i) executables_[i].release();
  Storage::release(storage_);
}

CallPlace BytecodeModule::place(const uint64_t* pc) const {
  return {&places_, static_cast<uint32_t>(pc - functions_[0].code) + view_.function(0).code_begin};
}

CallPlace::Named BytecodeModule::name_place(uint32_t word) const {
  const auto source = view_.location(word);
  if (!source) return {.module = view_.name(), .file = {}};
  return {view_.name(), source->file, source->line, source->column};
}

Module::Export BytecodeModule::export_at(uint32_t index) const {
  const bytecode::ExportView exported = view_.export_at(index);
  return {exported.name, view_.function(exported.function).signature};
}

}  // namespace baton::vm
