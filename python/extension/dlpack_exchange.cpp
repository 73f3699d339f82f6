#include "python/extension/dlpack_exchange.hpp"

#include <cstdlib>

#include "hal/dlpack.hpp"
#include "hal/queue.hpp"
#include "python/extension/tensor.hpp"

namespace baton::python {
namespace {

constexpr char kAttribute[] = "__dlpack_c_exchange_api__";
constexpr char kCapsule[] = "dlpack_exchange_api";

// The layout is DLPack's, frozen for a major version; functions return 0, or -1 with Python's error set.
struct TableHead {
  uint32_t major;
  uint32_t minor;
  const TableHead* older;  // Of another major version; may be null.
};
struct Table {
  using SetError = void (*)(void* error, const char* kind, const char* message);

  TableHead head;
  int (*allocate)(baton_dl_tensor* prototype, baton_dl_managed_tensor** out, void* error, SetError set_error);
  int (*from_object)(void* object, baton_dl_managed_tensor** out);
  int (*to_object)(baton_dl_managed_tensor* tensor, void** out_object);
  int (*view_object)(void* object, baton_dl_tensor* out);  // May be null.
  int (*current_stream)(int32_t device_type, int32_t device_id, void** out);
};

bool is_on_gpu(const baton_dl_tensor& tensor) {
  return tensor.device.type == BATON_DL_CUDA || tensor.device.type == BATON_DL_CUDA_MANAGED;
}

// ---- Tables of others -----------------------------------------------------------------------------------------------

// A type, kept for good, and its table, which lives as long as the process.
struct Known {
  PyTypeObject* type;
  const Table* table;
  bool is_torch;  // It has bits and gradients.
};
constexpr size_t kKnownMax = 8;  // Further types are looked at each time.
Known known[kKnownMax];
size_t known_count = 0;

const Table* table_of(PyTypeObject* type) {
  nb::object capsule = nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), kAttribute));
  if (!capsule.is_valid()) {
    PyErr_Clear();
    return nullptr;
  }
  if (!PyCapsule_IsValid(capsule.ptr(), kCapsule)) return nullptr;
  const auto* head = static_cast<const TableHead*>(PyCapsule_GetPointer(capsule.ptr(), kCapsule));
  while (head && head->major != BATON_DL_MAJOR_VERSION) head = head->older;
  const auto* table = reinterpret_cast<const Table*>(head);
  return table && table->from_object && table->current_stream ? table : nullptr;
}

Known find(PyTypeObject* type) {
  for (size_t i = 0; i < known_count; ++i) {
    if (known[i].type == type) return known[i];
  }
  auto* object = reinterpret_cast<PyObject*>(type);
  const Known found{type, table_of(type), PyObject_HasAttrString(object, "is_neg") != 0};
  if (found.table && known_count < kKnownMax) {
    Py_INCREF(object);
    known[known_count++] = found;
  }
  return found;
}

bool is_true(nb::object answer) {
  const int truth = answer.is_valid() ? PyObject_IsTrue(answer.ptr()) : -1;
  if (truth < 0) throw nb::python_error();
  return truth != 0;
}

struct Words {
  PyObject* is_neg = PyUnicode_InternFromString("is_neg");
  PyObject* is_conj = PyUnicode_InternFromString("is_conj");
  PyObject* requires_grad = PyUnicode_InternFromString("requires_grad");
};
const Words& words() {
  static const Words all;
  return all;
}

bool says(PyObject* value, PyObject* method) {
  return is_true(nb::steal(PyObject_CallMethodObjArgs(value, method, nullptr)));
}

// What its memory holds is all there is to it. Numbers that are whole have no bits and no gradients.
bool is_plain(PyObject* value, const baton_dl_type& type) {
  const bool is_complex = type.code == BATON_DL_COMPLEX;
  if (!is_complex && type.code != BATON_DL_FLOAT && type.code != BATON_DL_BFLOAT) return true;
  if (is_true(nb::steal(PyObject_GetAttr(value, words().requires_grad)))) return false;
  return !says(value, words().is_neg) && !(is_complex && says(value, words().is_conj));
}

// ---- The table of baton.Tensor --------------------------------------------------------------------------------------

// Runs what may throw, for a caller in C.
template <typename Call>
int guarded(const Call& call) noexcept {
  try {
    call();
    return 0;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (nb::builtin_exception& error) {
    PyErr_SetString(error.type() == nb::exception_type::buffer_error ? PyExc_BufferError : PyExc_TypeError,
                    error.what());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return -1;
}

// What DLPack cannot say is a BufferError, whatever it is a status of.
[[noreturn]] void refuse(const Status& status) {
  if (status.code() != StatusCode::kUnimplemented) raise(status);
  throw nb::buffer_error(std::string(status.message()).c_str());
}

// Behind what the device was given, for work on the stream that current_stream() names. On a host there is none, and
// the elements are waited for.
int tensor_from_object(void* object, baton_dl_managed_tensor** out) noexcept {
  return guarded([&] {
    const Tensor* tensor = tensor_in(static_cast<PyObject*>(object));
    if (!tensor) throw nb::type_error("a baton.Tensor is wanted");
    check(tensor->open->check_usable());
    hal::DlpackConsumer consumer;
    if (tensor->host_reaches()) {
      tensor->wait();
    } else {
      consumer.stream = 1;
      if (tensor->ready) consumer.ready = tensor->ready->points();
    }
    auto exported = hal::export_dlpack(tensor->device(), tensor->view, consumer);
    if (!exported) refuse(exported.error());
    *out = *exported;
  });
}

// The device whose memory it is: the host's is that of local-sync, which works in it.
Device device_for(const baton_dl_tensor& tensor) {
  std::string uri = "local-sync";
  if (is_on_gpu(tensor)) uri = text("cuda://", tensor.device.id);
  return nb::cast<Device>(nb::module_::import_("baton._devices").attr("device")(nb::str(uri.c_str())));
}

int tensor_to_object(baton_dl_managed_tensor* tensor, void** out) noexcept {
  const Locked locked;
  return guarded([&] {
    Device device = device_for(tensor->tensor);
    auto view = hal::import_dlpack(device.hal(), tensor, is_on_gpu(tensor->tensor) ? 1 : hal::kNoStream);
    if (!view) refuse(view.error());
    *out = make_tensor(*std::move(view), device.open).release().ptr();
  });
}

// Memory of the host for a consumer that makes tensors of this type; a GPU's is made by those who own it.
struct HostTensor {
  baton_dl_managed_tensor managed{};
  std::vector<int64_t> extents;  // The shape, and the strides behind it.
  void* memory = nullptr;
  ~HostTensor() { std::free(memory); }
};

Result<std::unique_ptr<HostTensor>> make_host_tensor(const baton_dl_tensor& prototype) {
  if (prototype.device.type != BATON_DL_CPU)
    return failure(StatusCode::kUnimplemented, "baton.Tensor allocates memory of the host alone.");
  if (prototype.rank < 0 || (prototype.rank > 0 && !prototype.shape))
    return failure(StatusCode::kInvalidArgument, "A tensor has rank ", prototype.rank, " and no shape for it.");
  auto made = std::make_unique<HostTensor>();
  uint64_t length = (uint64_t{prototype.type.bits} * prototype.type.lanes + 7) / 8;
  made->extents.resize(2 * static_cast<size_t>(prototype.rank));
  uint64_t stride = 1;  // Of a tensor without elements it may wrap, and says nothing.
  for (auto i = static_cast<size_t>(prototype.rank); i-- > 0;) {
    const int64_t extent = prototype.shape[i];
    if (extent < 0 || __builtin_mul_overflow(length, static_cast<uint64_t>(extent), &length) || length >> 62)
      return failure(StatusCode::kInvalidArgument, "A tensor's extent ", extent, " is negative or too much.");
    made->extents[i] = extent;
    made->extents[static_cast<size_t>(prototype.rank) + i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(extent);
  }
  constexpr uint64_t kAlignment = 64;
  made->memory = std::aligned_alloc(kAlignment, (length + kAlignment) / kAlignment * kAlignment);
  if (!made->memory) return failure(StatusCode::kResourceExhausted, "No memory for a tensor of ", length, " bytes.");
  int64_t* const shape = made->extents.data();
  made->managed.version = {BATON_DL_MAJOR_VERSION, BATON_DL_MINOR_VERSION};
  made->managed.manager = made.get();
  made->managed.destroy = [](baton_dl_managed_tensor* self) { delete static_cast<HostTensor*>(self->manager); };
  made->managed.tensor = {
      made->memory, prototype.device, prototype.rank, prototype.type, shape, shape + prototype.rank, 0};
  return made;
}

int allocate_tensor(baton_dl_tensor* prototype, baton_dl_managed_tensor** out, void* error,
                    Table::SetError set_error) noexcept {
  try {
    auto made = make_host_tensor(*prototype);
    if (made) {
      *out = &(*std::move(made)).release()->managed;
      return 0;
    }
    const bool too_much = made.error().code() == StatusCode::kResourceExhausted;
    set_error(error, too_much ? "MemoryError" : "BufferError", std::string(made.error().message()).c_str());
  } catch (const std::exception&) {  // std::bad_alloc, or a rank that no vector holds.
    set_error(error, "MemoryError", "no memory for a tensor");
  }
  return -1;
}

// Null is CUDA's legacy default stream, behind which tensor_from_object() puts the contents.
int current_stream(int32_t, int32_t, void** out) noexcept {
  *out = nullptr;
  return 0;
}

constexpr Table kTable = {{BATON_DL_MAJOR_VERSION, 3, nullptr},
                          allocate_tensor,
                          tensor_from_object,
                          tensor_to_object,
                          nullptr,
                          current_stream};

}  // namespace

HandedOut hand_out(PyObject* value, bool wants_stream) {
  const Known found = find(Py_TYPE(value));
  if (!found.table) return {};
  baton_dl_managed_tensor* tensor = nullptr;
  if (found.table->from_object(value, &tensor) != 0 || !tensor) {
    PyErr_Clear();  // __dlpack__ says it in a sentence.
    return {};
  }
  HandedOut out{Handed(tensor)};
  if (found.is_torch && !is_plain(value, tensor->tensor.type)) return {};
  if (!wants_stream || !is_on_gpu(tensor->tensor)) return out;
  void* stream = nullptr;
  const baton_dl_device& place = tensor->tensor.device;
  if (found.table->current_stream(place.type, place.id, &stream) != 0) throw nb::python_error();
  out.stream = stream ? static_cast<int64_t>(reinterpret_cast<intptr_t>(stream)) : 1;
  return out;
}

bool is_lazy(PyObject* value) {
  return find(Py_TYPE(value)).is_torch && (says(value, words().is_neg) || says(value, words().is_conj));
}

void bind_exchange(nb::handle tensor_type) {
  nb::object capsule = nb::steal(PyCapsule_New(const_cast<Table*>(&kTable), kCapsule, nullptr));
  if (!capsule.is_valid()) throw nb::python_error();
  tensor_type.attr(kAttribute) = capsule;
}

}  // namespace baton::python
