#include "modules/native_module.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "bytecode/signature.hpp"
#include "modules/device_door.hpp"
#include "modules/host_table.hpp"

namespace baton::modules {
namespace {

// ---- One thing, two declarations: what crosses the door is never copied or translated. ------------------------------

#define SAME_FIELD(ours, our_field, theirs, their_field)                      \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field) && \
                sizeof(ours::our_field) == sizeof(theirs::their_field))

static_assert(sizeof(vm::Value) == sizeof(baton_value) && alignof(vm::Value) == alignof(baton_value));

static_assert(sizeof(vm::Object) == sizeof(baton_object));
SAME_FIELD(vm::Object, type, baton_object, type);
SAME_FIELD(vm::Object, count, baton_object, count);

static_assert(sizeof(vm::ObjectType) == sizeof(baton_object_type));
SAME_FIELD(vm::ObjectType, struct_size, baton_object_type, struct_size);
SAME_FIELD(vm::ObjectType, name, baton_object_type, name);
SAME_FIELD(vm::ObjectType, destroy, baton_object_type, destroy);
SAME_FIELD(vm::ObjectType, wait, baton_object_type, wait);

static_assert(sizeof(vm::NativeCall) == sizeof(baton_call));
SAME_FIELD(vm::NativeCall, state, baton_call, state);
SAME_FIELD(vm::NativeCall, data, baton_call, data);
SAME_FIELD(vm::NativeCall, values, baton_call, values);
SAME_FIELD(vm::NativeCall, refs, baton_call, refs);
SAME_FIELD(vm::NativeCall, segments, baton_call, segments);
SAME_FIELD(vm::NativeCall, pending, baton_call, pending);
SAME_FIELD(vm::NativeCall, resumed, baton_call, resumed);

static_assert(sizeof(Allocator) == sizeof(baton_allocator));
SAME_FIELD(Allocator, self, baton_allocator, self);
SAME_FIELD(Allocator, allocate_bytes, baton_allocator, allocate_bytes);
SAME_FIELD(Allocator, free_bytes, baton_allocator, free_bytes);

static_assert(static_cast<int>(StatusCode::kOk) == BATON_OK);
static_assert(static_cast<int>(StatusCode::kInvalidArgument) == BATON_INVALID_ARGUMENT);
static_assert(static_cast<int>(StatusCode::kUnauthenticated) == BATON_UNAUTHENTICATED);
static_assert(sizeof(StatusCode) == sizeof(baton_status_code));

#undef SAME_FIELD

// ---- Names ----------------------------------------------------------------------------------------------------------

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_identifier(std::string_view name) {
  if (name.empty() || !is_letter(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

// Identifiers joined by dots: "string.print".
bool is_dotted_name(std::string_view name) {
  for (size_t dot; (dot = name.find('.')) != name.npos; name.remove_prefix(dot + 1)) {
    if (!is_identifier(name.substr(0, dot))) return false;
  }
  return is_identifier(name);
}

// What version 1 has; later versions append, and what an older module does not have is zero.
constexpr size_t kSizeV1 = offsetof(baton_module_descriptor, prepare) + sizeof(baton_module_descriptor::prepare);

// Before anything else of the descriptor is believed.
Status check_versions(const baton_module_descriptor& descriptor) {
  if (descriptor.abi_version == 0 || descriptor.abi_version > BATON_ABI_VERSION) {
    return failure(StatusCode::kUnimplemented, "The module is built for version ", descriptor.abi_version,
                   " of the module interface, and this program provides versions 1 to ", BATON_ABI_VERSION, ".");
  }
  if (descriptor.struct_size > sizeof(baton_module_descriptor)) {
    return failure(StatusCode::kInvalidArgument, "The module's descriptor is too long (", descriptor.struct_size,
                   " bytes) for version ", descriptor.abi_version, " of the module interface (",
                   sizeof(baton_module_descriptor), ").");
  }
  if (descriptor.struct_size < kSizeV1) {
    return failure(StatusCode::kInvalidArgument, "The module's descriptor is too short (", descriptor.struct_size,
                   " bytes) for version ", descriptor.abi_version, " of the module interface (", kSizeV1, ").");
  }
  return {};
}

Status check_header(const baton_module_descriptor& descriptor) {
  if (!descriptor.name) return failure(StatusCode::kInvalidArgument, "The module has no name.");
  const std::string_view name = descriptor.name;
  const auto fault = [&](const auto&... parts) {
    return failure(StatusCode::kInvalidArgument, "Module '", name, "' ", parts...);
  };
  if (!is_identifier(name)) return fault("has a name that is not an identifier.");
  if (descriptor.export_count > UINT32_MAX) return fault("has too many exports (", descriptor.export_count, ").");
  if (descriptor.export_count > 0 && !descriptor.exports) return fault("has no table for its exports.");
  if (descriptor.export_count > 0 &&
      (descriptor.export_stride < sizeof(baton_export) || descriptor.export_stride % alignof(baton_export) != 0)) {
    return fault("has exports of ", descriptor.export_stride, " bytes, and they take ", sizeof(baton_export),
                 " or more in steps of ", alignof(baton_export), ".");
  }
  if (descriptor.type_count > 0 && !descriptor.types) return fault("has no table for its types.");
  return {};
}

Status check_function(std::string_view module, const baton_export& exported, uint32_t index) {
  if (!exported.name || !is_dotted_name(exported.name)) {
    return failure(StatusCode::kInvalidArgument, "Module '", module, "' has a function (export ", index,
                   ") whose name '", exported.name ? exported.name : "", "' is not made of identifiers and dots.");
  }
  if (!exported.body) {
    return failure(StatusCode::kInvalidArgument, "Module '", module, "' has no body for its function '", exported.name,
                   "'.");
  }
  if (!exported.signature) {
    return failure(StatusCode::kInvalidArgument, "Module '", module, "' has no signature for its function '",
                   exported.name, "'.");
  }
  auto shape = bytecode::signature_shape(exported.signature);
  if (!shape) {
    return std::move(shape).error().with_context(
        text("in the signature of function '", exported.name, "' of module '", module, "'"));
  }
  return {};
}

}  // namespace

Result<Ref<const vm::Module>> NativeModule::make(const baton_module_descriptor* descriptor) {
  if (!descriptor) return failure(StatusCode::kInvalidArgument, "The module gave no descriptor.");
  BATON_TRY(check_versions(*descriptor));

  // Beyond this point the fields can be read; from here on the module owns the descriptor.
  baton_module_descriptor known = {};
  std::memcpy(&known, descriptor, descriptor->struct_size);
  auto module = Ref<NativeModule>::adopt(new NativeModule(known));
  BATON_TRY(check_header(known));
  BATON_TRY(module->check_functions());
  BATON_TRY(module->check_types());
  BATON_TRY(module->gather_commands());
  return Ref<const vm::Module>(std::move(module));
}

Result<Ref<const vm::Module>> NativeModule::make(baton_module_query query, std::span<const Parameter> parameters,
                                                 std::string_view what) {
  std::vector<baton_parameter> views;
  views.reserve(parameters.size());
  for (const auto& [key, value] : parameters) {
    views.push_back({{key.data(), key.size()}, {value.data(), value.size()}});
  }
  const baton_module_descriptor* descriptor = nullptr;
  Status status =
      Status::adopt(reinterpret_cast<Status::Failure*>(query(&host_table(), views.size(), views.data(), &descriptor)));
  if (!status.ok()) return std::move(status).with_context(text("while ", what, " was asked for its module"));
  auto module = make(descriptor);
  if (!module) return std::move(module).error().with_context(text("in what ", what, " returned"));
  return module;
}

NativeModule::NativeModule(const baton_module_descriptor& descriptor) : descriptor_(descriptor) {}

NativeModule::~NativeModule() {
  if (descriptor_.destroy) descriptor_.destroy(descriptor_.self);
}

const baton_export& NativeModule::at(uint32_t index) const {
  const auto* first = reinterpret_cast<const std::byte*>(descriptor_.exports);
  return *reinterpret_cast<const baton_export*>(first + size_t{index} * descriptor_.export_stride);
}

Status NativeModule::check_functions() {
  const uint32_t count = export_count();
  by_name_ = std::make_unique<uint32_t[]>(count);
  for (uint32_t i = 0; i < count; ++i) {
    BATON_TRY(check_function(name(), at(i), i));
    by_name_[i] = i;
  }
  const auto name_of = [this](uint32_t index) { return std::string_view(at(index).name); };
  std::span<uint32_t> sorted(by_name_.get(), count);
  const auto before = [&](uint32_t a, uint32_t b) { return name_of(a) < name_of(b); };
  std::make_heap(sorted.begin(), sorted.end(), before);  // Sorting by heap is a third of std::sort's code.
  std::sort_heap(sorted.begin(), sorted.end(), before);
  const auto twin = std::adjacent_find(sorted.begin(), sorted.end(),
                                       [&](uint32_t a, uint32_t b) { return name_of(a) == name_of(b); });
  if (twin == sorted.end()) return {};
  return failure(StatusCode::kAlreadyExists, "Module '", name(), "' exports '", name_of(*twin), "' twice.");
}

Status NativeModule::check_types() const {
  for (uint64_t i = 0; i < descriptor_.type_count; ++i) {
    const baton_object_type* type = descriptor_.types[i];
    if (!type || type->struct_size < sizeof(baton_object_type) || !type->name || !is_dotted_name(type->name)) {
      return failure(StatusCode::kInvalidArgument, "Module '", name(), "' provides a type (", i,
                     ") without a proper size and name.");
    }
    if (!type->destroy) {
      return failure(StatusCode::kInvalidArgument, "Module '", name(), "' provides the type '", type->name,
                     "' without a way to destroy its objects.");
    }
    for (uint64_t j = 0; j < i; ++j) {
      if (std::strcmp(type->name, descriptor_.types[j]->name) != 0) continue;
      return failure(StatusCode::kAlreadyExists, "Module '", name(), "' provides the type '", type->name, "' twice.");
    }
  }
  return {};
}

vm::Module::Export NativeModule::export_at(uint32_t index) const {
  const std::string_view signature = at(index).signature;
  const bool records = signature.starts_with("r<hal.command_buffer>");
  return {at(index).name, signature,
          records ? "it is a command: declare it with iree.abi.streamable (docs/calling-your-module.md)" : ""};
}

std::optional<uint32_t> NativeModule::find_export(std::string_view name) const {
  const std::span<const uint32_t> sorted(by_name_.get(), export_count());
  const auto found =
      std::lower_bound(sorted.begin(), sorted.end(), name,
                       [this](uint32_t index, std::string_view wanted) { return at(index).name < wanted; });
  if (found == sorted.end() || at(*found).name != name) return std::nullopt;
  return *found;
}

std::span<const vm::ObjectType* const> NativeModule::types() const {
  return {reinterpret_cast<const vm::ObjectType* const*>(descriptor_.types),
          static_cast<size_t>(descriptor_.type_count)};
}

namespace {

// A function of a module whose state stands inside a PreparingState.
baton_status* run_function(baton_call* call) {
  const auto& exported = *static_cast<const baton_export*>(call->data);
  baton_call inner = inner_call(*call, static_cast<PreparingState*>(call->state)->own, exported.data);
  baton_status* const said = exported.body(&inner);
  call->pending = inner.pending;
  return said;
}

constexpr std::string_view kCommandSignature = "r<hal.command_buffer>";

// What the device layer isn't told.
constexpr uint64_t kTraitsOfCalls = BATON_TRAIT_COMMAND | BATON_TRAIT_LEAVES_ARGUMENTS | BATON_TRAIT_TYPED_TENSORS;

// The value arguments that are slots of tensors: "Ir<hal.buffer>II", outside of variadic segments.
std::vector<uint16_t> find_slots(std::string_view signature) {
  constexpr std::string_view kTensor = "Ir<hal.buffer>II";
  std::vector<uint16_t> slots;
  uint16_t value = 0;
  for (size_t at = 0; at < signature.size() && signature[at] != '_' && signature[at] != 'C';) {
    if (signature.substr(at).starts_with(kTensor)) {
      slots.push_back(value);
      value = static_cast<uint16_t>(value + 3);
      at += kTensor.size();
    } else if (signature[at] == 'r') {
      at = signature.substr(at).starts_with("r<") ? signature.find('>', at) + 1 : at + 1;
    } else {
      ++value;
      ++at;
    }
  }
  return slots;
}

}  // namespace

Status NativeModule::gather_commands() {
  std::vector<CommandExport> commands;
  for (uint32_t i = 0; i < export_count(); ++i) {
    const baton_export& exported = at(i);
    if (!(exported.traits & BATON_TRAIT_COMMAND)) continue;
    if (!std::string_view(exported.signature).starts_with(kCommandSignature)) {
      return failure(StatusCode::kInvalidArgument, "Module '", name(), "' has a command '", exported.name,
                     "' of type '", exported.signature, "'; the first argument of a command is its command buffer, '",
                     kCommandSignature, "'.");
    }
    if (!linked_device_door()) {
      return failure(StatusCode::kUnimplemented, "Module '", name(), "' records commands ('", exported.name,
                     "'), and this program has no devices.");
    }
    const hal::CustomCommand named = {name(), exported.name,
                                      static_cast<hal::CommandTraits>(exported.traits & ~kTraitsOfCalls)};
    const bool is_typed = (exported.traits & BATON_TRAIT_TYPED_TENSORS) != 0;
    commands.push_back({exported.body, exported.data, descriptor_.prepare, named,
                        is_typed ? std::vector<uint16_t>() : find_slots(exported.signature)});
  }
  if (commands.empty()) return {};
  commands_ = std::make_unique<CommandExport[]>(commands.size());
  std::copy(commands.begin(), commands.end(), commands_.get());
  command_of_ = std::make_unique<uint32_t[]>(export_count());
  for (uint32_t i = 0, next = 0; i < export_count(); ++i) {
    command_of_[i] = at(i).traits & BATON_TRAIT_COMMAND ? next++ : kNoCommand;
  }
  return {};
}

vm::NativeFunction NativeModule::native_function(uint32_t export_index) const {
  const baton_export& exported = at(export_index);
  const bool leaves_arguments = (exported.traits & BATON_TRAIT_LEAVES_ARGUMENTS) != 0;
  const auto function = [&](baton_body body, const void* data) {
    return vm::NativeFunction{reinterpret_cast<vm::NativeBody>(body), const_cast<void*>(data), leaves_arguments};
  };
  if (!commands_) return function(exported.body, exported.data);
  const uint32_t command = command_of_[export_index];
  if (command != kNoCommand) return function(linked_device_door()->run_command, &commands_[command]);
  return prepares() ? function(run_function, &exported) : function(exported.body, exported.data);
}

Result<void*> NativeModule::make_state(const Allocator& allocator) const {
  void* state = nullptr;
  if (descriptor_.create_state) BATON_TRY(create_state(allocator, &state));
  if (!prepares()) return state;
  auto* preparing = new PreparingState;
  preparing->own = state;
  return static_cast<void*>(preparing);
}

Status NativeModule::create_state(const Allocator& allocator, void** out_state) const {
  // vm::Context says whose state it was.
  return Status::adopt(reinterpret_cast<Status::Failure*>(
      descriptor_.create_state(descriptor_.self, reinterpret_cast<const baton_allocator*>(&allocator), out_state)));
}

void NativeModule::destroy_state(void* state) const {
  if (prepares() && state) {
    const std::unique_ptr<PreparingState> preparing(static_cast<PreparingState*>(state));
    state = preparing->own;
    linked_device_door()->forget_devices(*preparing);
  }
  if (descriptor_.destroy_state) descriptor_.destroy_state(descriptor_.self, state);
}

}  // namespace baton::modules
