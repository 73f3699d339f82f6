#include "python/extension/tensor.hpp"

#include <memory>
#include <optional>

#include "hal/dlpack.hpp"
#include "hal/host_copy.hpp"
#include "hal/staging.hpp"
#include "python/extension/dlpack_exchange.hpp"
#include "python/extension/element_types.hpp"
#include "python/extension/interrupts.hpp"
#include "python/extension/no_constructor.hpp"
#include "python/extension/overlaps.hpp"

namespace baton::python {
namespace {

PyTypeObject* tensor_type = nullptr;  // Set once, when the extension is imported.

// ---- The buffer protocol --------------------------------------------------------------------------------------------

// What a Py_buffer of a tensor keeps.
struct Exported {
  hal::Mapping mapping;
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;  // In bytes.
};

std::unique_ptr<Exported> map_tensor(const Tensor& tensor, hal::Access access) {
  const hal::BufferView& view = *tensor.view;
  hal::Mapping mapping = take(view.buffer()->map(access, 0, view.length_bytes()));
  auto exported = std::make_unique<Exported>(Exported{std::move(mapping), {}, {}});
  exported->shape.assign(view.shape().begin(), view.shape().end());
  exported->strides.resize(exported->shape.size());
  Py_ssize_t stride = hal::element_bytes(view.element_type());
  for (size_t i = exported->strides.size(); i-- > 0; stride *= exported->shape[i]) exported->strides[i] = stride;
  return exported;
}

void fill(Py_buffer& buffer, const Tensor& tensor, std::unique_ptr<Exported> exported, int flags, bool readonly) {
  const hal::ElementType type = tensor.view->element_type();
  buffer.buf = exported->mapping.bytes().data();
  buffer.len = static_cast<Py_ssize_t>(tensor.view->length_bytes());
  buffer.itemsize = hal::element_bytes(type);
  buffer.readonly = readonly;
  buffer.ndim = static_cast<int>(exported->shape.size());
  buffer.format = (flags & PyBUF_FORMAT) ? const_cast<char*>(format_of(type)) : nullptr;
  buffer.shape = (flags & PyBUF_ND) ? exported->shape.data() : nullptr;
  buffer.strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? exported->strides.data() : nullptr;
  buffer.suboffsets = nullptr;
  buffer.internal = exported.release();
}

int get_buffer(PyObject* self, Py_buffer* buffer, int flags) noexcept {
  buffer->obj = nullptr;
  try {
    const Tensor& tensor = *nb::inst_ptr<Tensor>(self);
    if (!format_of(tensor.view->element_type())) {
      PyErr_Format(PyExc_BufferError, "Python's buffer protocol has no format for %s",
                   dtype_name(tensor.view->element_type()));
      return -1;
    }
    // Only in place: a mapping of other memory is a copy, which would be put back over what the device wrote meanwhile.
    if (!tensor.host_reaches()) {
      PyErr_Format(PyExc_BufferError, "the tensor lies on device %s, whose memory the host does not reach",
                   tensor.device().name().c_str());
      return -1;
    }
    const bool readonly = has_all(tensor.view->buffer()->usage(), hal::BufferUsage::kConstant);
    if (readonly && (flags & PyBUF_WRITABLE)) {
      PyErr_SetString(PyExc_BufferError, "the tensor is read-only");
      return -1;
    }
    tensor.wait();
    fill(*buffer, tensor, map_tensor(tensor, readonly ? hal::Access::kRead : hal::Access::kReadWrite), flags, readonly);
    buffer->obj = Py_NewRef(self);
    return 0;
  } catch (nb::python_error& error) {
    error.restore();
    return -1;
  }
}

void release_buffer(PyObject*, Py_buffer* buffer) noexcept { delete static_cast<Exported*>(buffer->internal); }

PyType_Slot slots[] = {kNoConstructor,
                       {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                       {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                       {0, nullptr}};

// ---- DLPack ---------------------------------------------------------------------------------------------------------

constexpr char kVersioned[] = "dltensor_versioned";
constexpr char kLegacy[] = "dltensor";

template <typename Managed>
void destroy_unused(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;  // Somebody took it, and destroys it.
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (managed->destroy) managed->destroy(managed);
}
void destroy_versioned(PyObject* capsule) { destroy_unused<baton_dl_managed_tensor>(capsule, kVersioned); }
void destroy_legacy(PyObject* capsule) { destroy_unused<baton_dl_legacy_tensor>(capsule, kLegacy); }

nb::tuple dlpack_device(const Tensor& tensor) {
  const hal::MemoryLocation place = tensor.view->buffer()->location();
  switch (place.space) {
    case hal::MemorySpace::kCuda: return nb::make_tuple(BATON_DL_CUDA, place.ordinal);
    case hal::MemorySpace::kCudaPinned: return nb::make_tuple(BATON_DL_CUDA_HOST, 0);
    case hal::MemorySpace::kCudaManaged: return nb::make_tuple(BATON_DL_CUDA_MANAGED, place.ordinal);
    case hal::MemorySpace::kHost: return nb::make_tuple(BATON_DL_CPU, 0);
    case hal::MemorySpace::kNone: break;
  }
  throw nb::buffer_error(
      text("the tensor lies on device ", tensor.device().name(), ", whose memory DLPack has no word for").c_str());
}

// The consumer's stream, as __dlpack__ has it: nothing is the legacy default stream on a GPU and no stream on a host.
int64_t consumer_stream(const Tensor& tensor, nb::handle stream) {
  if (tensor.host_reaches()) return hal::kNoStream;
  return stream.is_none() ? 1 : to_integer(stream.ptr(), INT64_MIN, INT64_MAX, "stream");
}

bool wants_version(nb::handle max_version) {
  if (max_version.is_none()) return false;
  const nb::object major = max_version[0];
  return to_integer(major.ptr(), 0, INT64_MAX, "version") >= int64_t{BATON_DL_MAJOR_VERSION};
}

void check_wish(const Tensor& tensor, nb::handle wanted_device, nb::handle copy) {
  const int is_copy = copy.is_none() ? 0 : PyObject_IsTrue(copy.ptr());
  if (is_copy < 0) throw nb::python_error();
  if (is_copy) {
    throw nb::buffer_error("a Baton tensor is handed out in place; copy it with numpy.array() or its like");
  }
  if (!wanted_device.is_none() && !wanted_device.equal(dlpack_device(tensor))) {
    throw nb::buffer_error("a Baton tensor is handed out where it lies; dl_device names another device");
  }
}

nb::object to_dlpack(const Tensor& tensor, nb::handle stream, nb::handle max_version, nb::handle wanted_device,
                     nb::handle copy) {
  check_wish(tensor, wanted_device, copy);
  check(tensor.open->check_usable());
  hal::DlpackConsumer consumer{.stream = consumer_stream(tensor, stream)};
  if (consumer.stream == hal::kNoStream) {
    tensor.wait();
  } else if (tensor.ready) {
    consumer.ready = tensor.ready->points();
  }
  PyObject* capsule = nullptr;
  if (wants_version(max_version)) {
    capsule =
        PyCapsule_New(take(hal::export_dlpack(tensor.device(), tensor.view, consumer)), kVersioned, destroy_versioned);
  } else {
    capsule =
        PyCapsule_New(take(hal::export_legacy_dlpack(tensor.device(), tensor.view, consumer)), kLegacy, destroy_legacy);
  }
  if (!capsule) throw nb::python_error();
  return nb::steal(capsule);
}

// ---- The rest -------------------------------------------------------------------------------------------------------

nb::tuple shape_of(const Tensor& tensor) {
  nb::list shape;
  for (const int64_t extent : tensor.view->shape()) shape.append(extent);
  return nb::tuple(shape);
}

// The elements, copied: for devices whose memory the host does not reach.
nb::object to_bytes(const Tensor& tensor) {
  tensor.wait();
  PyObject* bytes = PyByteArray_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(tensor.view->length_bytes()));
  if (!bytes) throw nb::python_error();
  nb::object owner = nb::steal(bytes);
  auto* data = reinterpret_cast<std::byte*>(PyByteArray_AsString(bytes));
  Status status;
  {
    const Unlocked unlocked;
    status = hal::copy_to_host(tensor.device(), tensor.view->buffer(), {data, tensor.view->length_bytes()});
  }
  check(status);
  return owner;
}

// The same elements as integers of their size: for element types that NumPy has no word for.
nb::object bits_of(const Tensor& tensor) {
  const hal::BufferView& view = *tensor.view;
  auto bits = hal::BufferView::make(view.buffer(), view.shape(),
                                    element_type_of('u', static_cast<int>(hal::element_bytes(view.element_type()))));
  return make_tensor(take(std::move(bits)), tensor.open, tensor.ready);
}

// The same memory, which the caller is going to hand out once: a program that consumes the loan writes in it when who
// had it is through with it, and in a copy before that.
nb::object lend(const Tensor& tensor) {
  const hal::BufferView& view = *tensor.view;
  if (has_all(view.buffer()->usage(), hal::BufferUsage::kConstant))
    return nb::none();  // Somebody else's, who may write.
  auto own = hal::BufferView::make(view.buffer(), view.shape(), view.element_type(), view.encoding());
  nb::object loan = make_tensor(take(std::move(own)), tensor.open, tensor.ready);
  nb::inst_ptr<Tensor>(loan)->is_loan = true;
  return loan;
}

bool share_memory(nb::handle tensors) {
  std::vector<MemoryRange> ranges;
  for (const nb::handle each : tensors) {
    const Tensor* tensor = tensor_in(each.ptr());
    if (tensor) ranges.push_back(range_of(*tensor->view, ranges.size(), true));
  }
  return ranges.size() > 1 && find_overlap(ranges).has_value();
}

bool is_ready(const Tensor& tensor) { return !tensor.ready || tensor.ready->query().ok(); }

nb::str repr(const Tensor& tensor) {
  return nb::str(text("<baton.Tensor ", tensor.view->type_text(), " on ", tensor.device().name(), ">").c_str());
}

}  // namespace

Tensor::~Tensor() {
  const DropsHere drops;  // An import may end here, and with it an array of Python.
  handle = nullptr;
  view = nullptr;
  ready = nullptr;
  if (open && open->is_last()) release_device(std::move(open));
}

bool Tensor::host_reaches() const {
  const hal::MemorySpace space = view->buffer()->location().space;
  if (space == hal::MemorySpace::kNone || space == hal::MemorySpace::kCuda) return false;
  return hal::can_map(*view->buffer()) || view->length_bytes() == 0;
}

bool Tensor::must_be_copied() const {
  return has_all(view->buffer()->usage(), hal::BufferUsage::kConstant) || (is_loan && !view->has_one_owner());
}

void Tensor::wait() const {
  if (!ready) return;
  Status status = open->check_usable();
  if (status.ok()) status = wait_for_signals_too([&](int64_t timeout_ns) { return ready->wait(timeout_ns); });
  check(status);
}

nb::object make_tensor(Ref<hal::BufferView> view, Ref<OpenDevice> open, Ref<hal::Fence> ready,
                       sdk::Ref<modules::Handle<hal::BufferView>> handle) {
  nb::object object = nb::inst_alloc(reinterpret_cast<PyObject*>(tensor_type));
  new (nb::inst_ptr<Tensor>(object)) Tensor{std::move(view), std::move(open), std::move(ready), std::move(handle)};
  nb::inst_mark_ready(object);
  return object;
}

Tensor* tensor_in(PyObject* object) { return Py_TYPE(object) == tensor_type ? nb::inst_ptr<Tensor>(object) : nullptr; }

void bind_tensors(nb::module_& module) {
  nb::object type =
      nb::class_<Tensor>(module, "Tensor", nb::type_slots(slots), nb::is_final())
          .def_prop_ro("shape", shape_of)
          .def_prop_ro("ndim", [](const Tensor& tensor) { return tensor.view->shape().size(); })
          .def_prop_ro("size", [](const Tensor& tensor) { return tensor.view->element_count(); })
          .def_prop_ro("nbytes", [](const Tensor& tensor) { return tensor.view->length_bytes(); })
          .def_prop_ro("dtype_name", [](const Tensor& tensor) { return dtype_name(tensor.view->element_type()); })
          .def_prop_ro("element_type",
                       [](const Tensor& tensor) {
                         return nb::str(std::string(hal::element_type_name(tensor.view->element_type())).c_str());
                       })
          .def_prop_ro("device", [](const Tensor& tensor) { return Device(tensor.open); })
          .def_prop_ro("is_ready", is_ready)
          .def("wait", &Tensor::wait)
          .def_prop_ro("_is_in_reach", &Tensor::host_reaches)
          .def("_bytes", to_bytes)
          .def("_bits", bits_of)
          .def("_lend", lend)
          .def_static("_share_memory", share_memory)
          .def("__dlpack_device__", dlpack_device)
          .def("__dlpack__", to_dlpack, nb::kw_only(), nb::arg("stream") = nb::none(),
               nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none())
          .def("__repr__", repr);
  bind_exchange(type);
  tensor_type = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());
}

}  // namespace baton::python
