#include "modules/host_table.hpp"

#include "base/result.hpp"
#include "bytecode/module_view.hpp"
#include "bytecode/opcode.hpp"
#include "modules/device_door.hpp"
#include "vm/blob.hpp"
#include "vm/list.hpp"

namespace baton::modules {

static_assert(bytecode::kFormatVersion == BATON_MODULE_FORMAT_VERSION && bytecode::kIsaVersion == BATON_ISA_VERSION);

// A reference that brings nothing with it: null where the module "hal" is not linked.
[[gnu::weak]] const DeviceDoor& device_door();

const DeviceDoor* linked_device_door() {
  const DeviceDoor& (*door)() = device_door;
  return door ? &door() : nullptr;
}

namespace {

// ---- The same bytes on both sides of the door ----

baton_status* to_door(Status status) { return reinterpret_cast<baton_status*>(status.release()); }
const Status::Failure& from_door(const baton_status* status) {
  return *reinterpret_cast<const Status::Failure*>(status);
}
baton_object* to_door(vm::Object* object) { return reinterpret_cast<baton_object*>(object); }
vm::Object* from_door(baton_object* object) { return reinterpret_cast<vm::Object*>(object); }
const baton_object_type* to_door(const vm::ObjectType* type) {
  return reinterpret_cast<const baton_object_type*>(type);
}
std::string_view from_door(baton_string string) {
  return string.data ? std::string_view(string.data, static_cast<size_t>(string.size)) : std::string_view();
}

// ---- Statuses ----

// A number that is no code is of a failure all the same.
baton_status* status_make(baton_status_code code, baton_string message) {
  const bool known = code > BATON_OK && code <= BATON_UNAUTHENTICATED;
  return to_door(Status(known ? static_cast<StatusCode>(code) : StatusCode::kUnknown, std::string(from_door(message))));
}
void status_free(baton_status* status) {
  const Status dropped = Status::adopt(reinterpret_cast<Status::Failure*>(status));
}
baton_status_code status_code(const baton_status* status) {
  return status ? static_cast<baton_status_code>(from_door(status).code) : BATON_OK;
}
baton_string status_message(const baton_status* status) {
  if (!status) return {"", 0};
  const std::string& message = from_door(status).message;
  return {message.data(), message.size()};
}

// ---- Blobs ----

baton_object* blob_make(uint64_t size) { return to_door(vm::Blob::make(size).detach()); }

baton_object* blob_wrap(void* data, uint64_t size, int32_t writable, void (*release)(void*), void* release_data) {
  return to_door(vm::Blob::wrap(data, size, writable != 0, release, release_data).detach());
}

void* blob_bytes(baton_object* object, uint64_t* out_size, int32_t* out_writable) {
  const vm::Blob* blob = vm::as_blob(from_door(object));
  *out_size = blob ? blob->size : 0;
  *out_writable = blob && blob->writable;
  return blob ? blob->data : nullptr;
}

// ---- Lists ----

baton_object* list_make(uint64_t capacity) { return to_door(vm::List::make(capacity).detach()); }

uint64_t list_size(baton_object* object) {
  const vm::List* list = vm::as_list(from_door(object));
  return list ? list->size() : 0;
}

Result<vm::List*> list_with(baton_object* object, uint64_t index) {
  vm::List* list = vm::as_list(from_door(object));
  if (!list) return failure(StatusCode::kInvalidArgument, "The object is not a list.");
  if (index >= list->size()) {
    return failure(StatusCode::kOutOfRange, "List index (", index, ") is beyond the list's size (", list->size(), ").");
  }
  return list;
}

Result<vm::ValueType> element_type(char letter) {
  if (auto type = bytecode::value_type_from_letter(letter)) return *type;
  return failure(StatusCode::kInvalidArgument, "List elements are of type i, I, f, F or r, not '", letter, "'.");
}

Status get(baton_object* object, uint64_t index, char* out_type, baton_value* out_value) {
  BATON_TRY_ASSIGN(vm::List * list, list_with(object, index));
  const vm::List::Element& element = list->elements[index];
  *out_type = bytecode::value_type_letter(element.type);
  out_value->bits = element.value.bits;
  return {};
}
baton_status* list_get(baton_object* object, uint64_t index, char* out_type, baton_value* out_value) {
  return to_door(get(object, index, out_type, out_value));
}

Status set(baton_object* object, uint64_t index, char letter, baton_value value) {
  BATON_TRY_ASSIGN(vm::List * list, list_with(object, index));
  BATON_TRY_ASSIGN(vm::ValueType type, element_type(letter));
  list->set(index, type, vm::Value::from_bits(value.bits));
  return {};
}
baton_status* list_set(baton_object* object, uint64_t index, char letter, baton_value value) {
  return to_door(set(object, index, letter, value));
}

Status push(baton_object* object, char letter, baton_value value) {
  vm::List* list = vm::as_list(from_door(object));
  if (!list) return failure(StatusCode::kInvalidArgument, "The object is not a list.");
  BATON_TRY_ASSIGN(vm::ValueType type, element_type(letter));
  if (list->push(type, vm::Value::from_bits(value.bits))) return {};
  return failure(StatusCode::kResourceExhausted, "There is no memory for more than the ", list->size(),
                 " elements that the list has.");
}
baton_status* list_push(baton_object* object, char letter, baton_value value) {
  return to_door(push(object, letter, value));
}

}  // namespace

const baton_host& host_table() {
  static const baton_host table = {
      .struct_size = sizeof(baton_host),
      .abi_version = BATON_ABI_VERSION,
      .status_make = status_make,
      .status_free = status_free,
      .status_code = status_code,
      .status_message = status_message,
      .blob_type = to_door(&vm::Blob::kType),
      .blob_make = blob_make,
      .blob_wrap = blob_wrap,
      .blob_bytes = blob_bytes,
      .list_type = to_door(&vm::List::kType),
      .list_make = list_make,
      .list_size = list_size,
      .list_get = list_get,
      .list_set = list_set,
      .list_push = list_push,
      .allocator = reinterpret_cast<const baton_allocator*>(&system_allocator()),
      .devices = linked_device_door() ? linked_device_door()->devices : nullptr,
      .recording = linked_device_door() ? linked_device_door()->recording : nullptr,
  };
  return table;
}

}  // namespace baton::modules
