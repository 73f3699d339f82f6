#include "python/extension/arrays.hpp"

#include "hal/allocator.hpp"
#include "hal/commands/copy_buffer.hpp"
#include "hal/dlpack.hpp"
#include "hal/host_copy.hpp"
#include "hal/queue.hpp"
#include "hal/semaphore.hpp"
#include "python/extension/casts.hpp"
#include "python/extension/dlpack_exchange.hpp"
#include "python/extension/element_types.hpp"

namespace baton::python {
namespace {

using hal::BufferUsage;
using hal::ElementType;

constexpr BufferUsage kReadOnly = BufferUsage::kTransferSource | BufferUsage::kDispatchRead |
                                  BufferUsage::kIndirectGrid | BufferUsage::kMapping | BufferUsage::kConstant;

// Memory of the host, and the object that keeps it.
struct HostArray {
  void* data;
  ElementType type;
  std::span<const int64_t> shape;
  bool readonly;
  PyObject* owner;  // Borrowed; an import takes a reference of its own.
};

uint64_t length_of(const HostArray& array) {
  uint64_t length = hal::element_bytes(array.type);
  for (const int64_t extent : array.shape) length *= static_cast<uint64_t>(extent);
  return length;
}

Result<Ref<hal::BufferView>> copy_to_device(const HostArray& array, const Destination& to) {
  const Unlocked unlocked;
  const std::span bytes(static_cast<const std::byte*>(array.data), static_cast<size_t>(length_of(array)));
  if (to.uploads) return to.uploads->add(array.type, array.shape, bytes);
  return hal::upload_view(to.open.device(), array.type, array.shape, bytes);
}

Ref<hal::BufferView> import(const HostArray& array, const Destination& to) {
  hal::Device& device = to.open.device();
  if (!device.allocator().uses_host_memory() || (to.is_consumed && array.readonly))
    return take(copy_to_device(array, to));
  Py_INCREF(array.owner);
  const hal::ImportRelease release{[](void* owner) { drop(static_cast<PyObject*>(owner)); }, array.owner};
  auto buffer =
      device.allocator().import_host({static_cast<std::byte*>(array.data), static_cast<size_t>(length_of(array))},
                                     array.readonly ? kReadOnly : BufferUsage::kAll, release);
  if (!buffer) {
    Py_DECREF(array.owner);
    raise(buffer.error());
  }
  return take(hal::BufferView::make(*std::move(buffer), array.shape, array.type));
}

// ---- NumPy's own protocol: an eighth of the buffer protocol's time --------------------------------------------------

// PyArrayInterface of NumPy, which is frozen.
struct ArrayStruct {
  int two;
  int rank;
  char kind;
  int item_bytes;
  int flags;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  void* data;
};
constexpr int kDense = 0x1;
constexpr int kAligned = 0x100;
constexpr int kOwnOrder = 0x200;
constexpr int kWritable = 0x400;

PyObject* array_struct_name = nullptr;
PyTypeObject* numpy_array = nullptr;

bool is_numpy_array(PyObject* value) {
  if (Py_TYPE(value) == numpy_array) [[likely]]
    return true;
  if (numpy_array) return false;
  PyObject* numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
  if (!numpy || !PyObject_HasAttrString(numpy, "ndarray")) return false;
  numpy_array = reinterpret_cast<PyTypeObject*>(PyObject_GetAttrString(numpy, "ndarray"));  // Kept.
  return Py_TYPE(value) == numpy_array;
}

static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));

// Null when the array needs to be adapted first.
Ref<hal::BufferView> from_numpy(PyObject* value, const Destination& to, ElementType known, bool readonly) {
  if (!array_struct_name) array_struct_name = PyUnicode_InternFromString("__array_struct__");
  nb::object capsule = nb::steal(PyObject_GetAttr(value, array_struct_name));
  if (!capsule.is_valid()) throw nb::python_error();
  const auto* array = static_cast<const ArrayStruct*>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (!array) throw nb::python_error();
  constexpr int kPlain = kDense | kAligned | kOwnOrder;
  if ((array->flags & kPlain) != kPlain) return nullptr;
  const ElementType type = known == ElementType::kNone ? element_type_of(array->kind, array->item_bytes) : known;
  if (type == ElementType::kNone) return nullptr;
  const HostArray host{array->data,
                       type,
                       {reinterpret_cast<const int64_t*>(array->shape), static_cast<size_t>(array->rank)},
                       readonly || !(array->flags & kWritable),
                       capsule.ptr()};
  return import(host, to);
}

// ---- The buffer protocol --------------------------------------------------------------------------------------------

void release_view(PyObject* capsule) {
  auto* view = static_cast<Py_buffer*>(PyCapsule_GetPointer(capsule, nullptr));
  PyBuffer_Release(view);
  delete view;
}

// Formats and shapes come from whoever exports the buffer: ctypes leaves strides out, and says "B" of structures that
// have no bytes.
bool is_whole(const Py_buffer& view, ElementType type) {
  if (view.ndim < 0 || (view.ndim > 0 && !view.shape)) return false;
  uint64_t length = hal::element_bytes(type);
  if (view.itemsize < 0 || static_cast<uint64_t>(view.itemsize) != length) return false;
  for (int i = 0; i < view.ndim; ++i) {
    if (view.shape[i] < 0 || __builtin_mul_overflow(length, static_cast<uint64_t>(view.shape[i]), &length))
      return false;
  }
  return length == static_cast<uint64_t>(view.len);
}

bool is_dense(const Py_buffer& view) {
  Py_ssize_t stride = view.itemsize;
  if (view.len == 0) return true;
  for (int i = view.strides ? view.ndim : 0; i-- > 0; stride *= view.shape[i]) {
    if (view.shape[i] != 1 && view.strides[i] != stride) return false;
  }
  return reinterpret_cast<uintptr_t>(view.buf) % static_cast<uintptr_t>(view.itemsize) == 0;
}

// Null when it needs to be adapted first, or has no buffer.
Ref<hal::BufferView> from_buffer(PyObject* value, const Destination& to) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(value, view.get(), PyBUF_FULL_RO) != 0) {
    PyErr_Clear();
    return nullptr;
  }
  nb::object owner = nb::steal(PyCapsule_New(view.get(), nullptr, release_view));
  const Py_buffer& buffer = *view.release();
  const ElementType type = element_type_of_format(buffer.format ? buffer.format : "B");
  if (type == ElementType::kNone || !is_whole(buffer, type) || buffer.suboffsets || !is_dense(buffer)) return nullptr;
  return import({buffer.buf,
                 type,
                 {reinterpret_cast<const int64_t*>(buffer.shape), static_cast<size_t>(buffer.ndim)},
                 buffer.readonly != 0,
                 owner.ptr()},
                to);
}

// ---- DLPack ---------------------------------------------------------------------------------------------------------

// The helper in Python makes a copy of what has strides or lies between the places of its elements; all else is final.
bool may_be_copied(const Status& refused) {
  return refused.code() == StatusCode::kUnimplemented &&
         (refused.message().find("is not dense") != std::string_view::npos ||
          refused.message().find("is not aligned") != std::string_view::npos);
}

// JAX's arrays never change, and their capsules don't say so.
bool never_changes(PyObject* value) {
  static PyTypeObject* known = nullptr;
  if (Py_TYPE(value) == known) return true;
  PyObject* jax = PyDict_GetItemString(PyImport_GetModuleDict(), "jax");
  if (!jax || !PyObject_HasAttrString(jax, "Array")) return false;
  const nb::object array = nb::getattr(jax, "Array");
  const int is_one = PyObject_IsInstance(value, array.ptr());
  if (is_one < 0) throw nb::python_error();
  if (is_one && !known) known = reinterpret_cast<PyTypeObject*>(Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(value))));
  return is_one != 0;
}

Result<Ref<hal::BufferView>> import_capsule(hal::Device& device, baton_dl_managed_tensor* given, int64_t stream,
                                            bool readonly) {
  const uint64_t flags = given->flags;
  if (readonly) given->flags |= BATON_DL_READ_ONLY;
  auto imported = hal::import_dlpack(device, given, stream);
  if (!imported) given->flags = flags;
  return imported;
}

// A legacy tensor has no word for read-only: it goes in one that has.
Result<Ref<hal::BufferView>> import_capsule(hal::Device& device, baton_dl_legacy_tensor* given, int64_t stream,
                                            bool readonly) {
  if (!readonly) return hal::import_dlpack(device, given, stream);
  auto managed = std::make_unique<baton_dl_managed_tensor>();
  managed->version = {BATON_DL_MAJOR_VERSION, BATON_DL_MINOR_VERSION};
  managed->manager = given;
  managed->flags = BATON_DL_READ_ONLY;
  managed->tensor = given->tensor;
  managed->destroy = [](baton_dl_managed_tensor* self) {
    auto* inner = static_cast<baton_dl_legacy_tensor*>(self->manager);
    if (inner->destroy) inner->destroy(inner);
    delete self;
  };
  auto imported = hal::import_dlpack(device, managed.get(), stream);
  if (imported) [[maybe_unused]]
    const baton_dl_managed_tensor* taken = managed.release();
  return imported;
}

template <typename Managed>
Ref<hal::BufferView> take_capsule(PyObject* capsule, const char* name, const char* used, hal::Device& device,
                                  int64_t stream, bool readonly) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (!managed) throw nb::python_error();
  PyCapsule_SetName(capsule, used);  // Before the lock is given up: another thread may be given the same capsule.
  auto imported = [&] {
    const Unlocked unlocked;
    return import_capsule(device, managed, stream, readonly);
  }();
  if (!imported) {
    PyCapsule_SetName(capsule, name);
    if (may_be_copied(imported.error())) return nullptr;
    raise(imported.error());
  }
  return *std::move(imported);
}

nb::object capsule_of(PyObject* value, nb::handle stream) {
  nb::object give = nb::getattr(value, "__dlpack__");
  nb::dict wish;
  if (!stream.is_none()) wish["stream"] = stream;
  wish["max_version"] = nb::make_tuple(BATON_DL_MAJOR_VERSION, BATON_DL_MINOR_VERSION);
  try {
    return give(**wish);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;  // A producer from before there were versions.
  }
  PyDict_DelItemString(wish.ptr(), "max_version");
  return give(**wish);
}

bool may_be_written(const hal::BufferView& view) { return !has_all(view.buffer()->usage(), BufferUsage::kConstant); }

// The same elements in memory of the device that is nobody else's.
Result<Ref<hal::BufferView>> copy(hal::Device& device, const hal::BufferView& view) {
  const uint64_t length = view.length_bytes();
  if (device.allocator().uses_host_memory()) {
    BATON_TRY_ASSIGN(const hal::Mapping mapping, view.buffer()->map(hal::Access::kRead, 0, length));
    return hal::upload_view(device, view.element_type(), view.shape(), mapping.bytes());
  }
  constexpr BufferUsage kOnDevice = BufferUsage::kTransfer | BufferUsage::kDispatch | BufferUsage::kIndirectGrid;
  BATON_TRY_ASSIGN(
      Ref<hal::Buffer> target,
      device.allocator().allocate({.length = length, .memory = hal::MemoryKind::kDeviceLocal, .usage = kOnDevice}));
  if (length > 0) {
    BATON_TRY_ASSIGN(const Ref<hal::Semaphore> done, device.make_semaphore(0));
    const hal::SemaphorePoint point(done, 1);
    BATON_TRY(device.queue().copy_buffer(
        {.signals = {&point, 1}}, {.source = hal::BufferRange(view.buffer().get(), 0, length), .target = target}));
    BATON_TRY(done->wait(1));
  }
  return hal::BufferView::make(std::move(target), view.shape(), view.element_type(), view.encoding());
}

Ref<hal::BufferView> copy_of(const hal::BufferView& view, const Destination& to) {
  auto copied = [&] {
    const Unlocked unlocked;
    return copy(to.open.device(), view);
  }();
  return take(std::move(copied));
}

// Null when it needs to be adapted first. The producer puts a device's default stream behind its work, and the
// device's queue comes after that: nobody on the host waits.
Ref<hal::BufferView> from_dlpack(PyObject* value, OpenDevice& open) {
  const nb::object place = nb::getattr(value, "__dlpack_device__")();
  const int64_t type = to_integer(nb::object(place[0]).ptr(), INT32_MIN, INT32_MAX, "device type of DLPack");
  const bool on_host = type == BATON_DL_CPU;
  if (on_host && !open.device().allocator().uses_host_memory()) return nullptr;  // Copied, as NumPy's arrays are.
  const bool has_streams = type == BATON_DL_CUDA || type == BATON_DL_CUDA_MANAGED;
  nb::object capsule = capsule_of(value, has_streams ? nb::object(nb::int_(1)) : nb::none());
  const int64_t stream = has_streams ? 1 : hal::kNoStream;
  const bool readonly = never_changes(value);
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    return take_capsule<baton_dl_managed_tensor>(capsule.ptr(), "dltensor_versioned", "used_dltensor_versioned",
                                                 open.device(), stream, readonly);
  }
  return take_capsule<baton_dl_legacy_tensor>(capsule.ptr(), "dltensor", "used_dltensor", open.device(), stream,
                                              readonly);
}

// Through the table of its type; null when it needs to be adapted first.
Ref<hal::BufferView> from_handed_out(HandedOut given, OpenDevice& open) {
  const bool on_host = given.tensor->tensor.device.type == BATON_DL_CPU;
  if (on_host && !open.device().allocator().uses_host_memory()) return nullptr;  // Copied, as NumPy's arrays are.
  auto imported = [&] {
    if (given.stream == hal::kNoStream) return hal::import_dlpack(open.device(), given.tensor.get());
    const Unlocked unlocked;
    return hal::import_dlpack(open.device(), given.tensor.get(), given.stream);
  }();
  if (!imported) {
    if (may_be_copied(imported.error())) return nullptr;
    raise(imported.error());
  }
  [[maybe_unused]] const baton_dl_managed_tensor* taken = given.tensor.release();
  return *std::move(imported);
}

// Null when it needs to be adapted first.
Ref<hal::BufferView> from_tensor_library(PyObject* value, OpenDevice& open) {
  HandedOut given = hand_out(value);
  if (given.tensor) return from_handed_out(std::move(given), open);
  if (!PyObject_HasAttrString(value, "__dlpack_device__") || is_lazy(value)) return nullptr;
  return from_dlpack(value, open);
}

Ref<hal::BufferView> from_other_device(const Tensor& tensor, OpenDevice& open) {
  tensor.wait();
  auto peer = open.device().allocator().import_peer(*tensor.view->buffer());
  return take(hal::BufferView::make(take(std::move(peer)), tensor.view->shape(), tensor.view->element_type(),
                                    tensor.view->encoding()));
}

Ref<hal::BufferView> try_as_it_is(PyObject* value, const Destination& to) {
  if (is_numpy_array(value)) return from_numpy(value, to, ElementType::kNone, false);
  if (PyBytes_Check(value) || PyByteArray_Check(value)) return nullptr;  // Refused as text would be.
  if (PyObject_CheckBuffer(value)) {
    if (auto view = from_buffer(value, to)) return view;
  }
  return from_tensor_library(value, to.open);
}

}  // namespace

Ref<hal::BufferView> view_of(PyObject* value, const Destination& to, std::string_view declared) {
  if (const Tensor* tensor = tensor_in(value)) {
    const bool must_be_copied = to.is_consumed && tensor->must_be_copied();  // Asked while nobody here has the view.
    const bool is_here = tensor->open->shared().get() == to.open.shared().get();
    auto view = is_here ? tensor->view : from_other_device(*tensor, to.open);
    if (!must_be_copied) return view;
    tensor->wait();
    return copy_of(*view, to);
  }
  if (auto view = try_as_it_is(value, to)) return to.is_consumed && !may_be_written(*view) ? copy_of(*view, to) : view;
  // (a dense array, the element type that NumPy has no word for or None, whether it is a copy)
  nb::object adapted =
      nb::module_::import_("baton._arrays").attr("adapt")(nb::handle(value), nb::str(declared.data(), declared.size()));
  nb::object array = adapted[0];
  const bool is_copy = nb::cast<bool>(adapted[2]);
  if (!is_numpy_array(array.ptr())) {
    if (auto view = from_dlpack(array.ptr(), to.open)) return view;
    throw nb::type_error("an array whose contiguous() is not dense, or does not lie where its elements fit");
  }
  ElementType type = ElementType::kNone;
  if (!adapted[1].is_none()) type = take(hal::parse_element_type(nb::cast<const char*>(adapted[1])));
  auto view = from_numpy(array.ptr(), to, type, is_copy && !to.is_consumed);
  if (!view) raise(failure(StatusCode::kInternal, "an array that was adapted is still not dense"));
  return view;
}

Ref<hal::BufferView> view_in_place(PyObject* value, OpenDevice& open) {
  if (const Tensor* tensor = tensor_in(value)) return from_other_device(*tensor, open);
  Ref<hal::BufferView> view;
  if (open.device().allocator().uses_host_memory()) {
    view = try_as_it_is(value, {open});
  } else {
    view = from_tensor_library(value, open);
  }
  if (view) return view;
  throw nb::type_error(
      text(described(value), " where a kernel on device ", open.device().name(),
           " takes a dense array in the memory that it works in; device.tensor(array) brings one there")
          .c_str());
}

}  // namespace baton::python
