#include "python/extension/kernel_arguments.hpp"

#include <cmath>
#include <cstring>

#include "modules/hal_module/objects.hpp"
#include "python/extension/arrays.hpp"
#include "python/extension/casts.hpp"

namespace baton::python {
namespace {

constexpr uint64_t kDefaultBytes = 4;

[[noreturn]] void overflow(PyObject* value, const char* what, uint64_t bytes) {
  PyErr_Format(PyExc_OverflowError, "%R is no %s of %u bytes", value, what, static_cast<unsigned>(bytes));
  throw nb::python_error();
}

bool is_dense(const baton_dl_tensor& tensor) {
  int64_t stride = 1;
  for (int32_t i = tensor.rank; tensor.strides && i-- > 0; stride *= tensor.shape[i]) {
    if (tensor.shape[i] == 0) return true;
    if (tensor.shape[i] != 1 && tensor.strides[i] != stride) return false;
  }
  return true;
}

bool cuda_reaches(const baton_dl_device& device) {
  return device.type == BATON_DL_CUDA || device.type == BATON_DL_CUDA_HOST || device.type == BATON_DL_CUDA_MANAGED;
}

}  // namespace

void KernelArguments::add_bytes(const void* data, size_t count) {
  const std::string& kept = bytes_.emplace_back(static_cast<const char*>(data), count);
  all_.push_back({kept.data(), kept.size()});
}

void KernelArguments::add_integer(PyObject* value) {
  const uint64_t bytes = declared_size() ? declared_size() : kDefaultBytes;
  if (bytes > 8) {
    throw nb::type_error(text("an int where the kernel takes ", bytes, " bytes; pass them as bytes").c_str());
  }
  int over = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(value, &over);
  auto bits = static_cast<uint64_t>(number);
  if (over > 0 && bytes == 8) {  // An address, or another number without a sign.
    bits = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred()) {
      PyErr_Clear();
      overflow(value, "integer", bytes);
    }
  } else if (over) {
    overflow(value, "integer", bytes);
  }
  const int64_t least = bytes == 8 ? INT64_MIN : -(int64_t{1} << (8 * bytes - 1));
  if (bytes < 8 && (number < least || number >= int64_t{1} << 8 * bytes)) overflow(value, "integer", bytes);
  add_bytes(&bits, static_cast<size_t>(bytes));
}

void KernelArguments::add_float(PyObject* value) {
  const double number = PyFloat_AsDouble(value);
  const uint64_t bytes = declared_size() ? declared_size() : kDefaultBytes;
  if (bytes == 8) return add_bytes(&number, sizeof(number));
  if (bytes != 4) {
    throw nb::type_error(text("a float where the kernel takes ", bytes,
                              " bytes; pass numpy.float16 or another scalar that says what it is")
                             .c_str());
  }
  const auto single = static_cast<float>(number);
  if (std::isinf(single) && !std::isinf(number)) overflow(value, "float", bytes);
  add_bytes(&single, sizeof(single));
}

void KernelArguments::add_range(const baton_binding& range) {
  all_.push_back({&ranges_.emplace_back(range), BATON_KERNEL_BINDING});
}

// Who gives memory that is read-only says that the kernel reads it.
void KernelArguments::add_view(const hal::BufferView& view) {
  OwnedObject& buffer = buffers_.emplace_back(modules::wrap(view.buffer()).detach());
  const bool readonly = has_all(view.buffer()->usage(), hal::BufferUsage::kConstant);
  add_range({reinterpret_cast<baton_buffer*>(buffer.get()), 0, readonly ? BATON_ACCESS_READ : BATON_ACCESS_READ_WRITE,
             0, view.length_bytes()});
}

void KernelArguments::add_tensor(const Tensor& tensor, const LaunchPlace& place) {
  check(tensor.open->check_usable());
  if (tensor.ready) waits_.push_back(tensor.ready.get());
  if (place.stream) devices_.push_back(tensor.open);
  add_view(*tensor.view);
}

// On a stream there is no device of Baton's that could take the array: its address is the argument.
void KernelArguments::add_handed(PyObject* value) {
  uint64_t address = 0;
  if (HandedOut given = hand_out(value, /*wants_stream=*/false); given.tensor) {
    const baton_dl_tensor& tensor = given.tensor->tensor;
    if (!cuda_reaches(tensor.device) || !is_dense(tensor)) {
      throw nb::type_error(text(described(value), cuda_reaches(tensor.device)
                                                      ? " that is not dense and row-major; a kernel works in place"
                                                      : " in memory that a stream's kernel does not reach")
                               .c_str());
    }
    if (tensor.device.type == BATON_DL_CUDA) ordinal_ = tensor.device.id;
    address = tensor.data ? reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset : 0;
    handed_.push_back(std::move(given.tensor));
  } else {
    address = nb::cast<uint64_t>(nb::module_::import_("baton._kernels").attr("address_of")(nb::handle(value)));
  }
  add_bytes(&address, sizeof(address));
}

void KernelArguments::add_array(PyObject* value, const LaunchPlace& place) {
  if (place.stream) return add_handed(value);
  if (!place.device) {
    throw nb::type_error(
        text(described(value), " where a recorded kernel takes a Binding, a Tensor or a number").c_str());
  }
  add_view(*view_in_place(value, **place.device));
}

void KernelArguments::add(PyObject* value, const LaunchPlace& place) {
  if (const Tensor* tensor = tensor_in(value)) {
    const bool elsewhere = place.device && tensor->open->shared().get() != (*place.device)->shared().get();
    return elsewhere ? add_array(value, place) : add_tensor(*tensor, place);
  }
  if (PyLong_Check(value)) return add_integer(value);
  if (PyFloat_CheckExact(value)) return add_float(value);
  if (nb::isinstance<Binding>(value)) {
    if (place.device || place.stream) throw nb::type_error("a Binding belongs to a command buffer");
    return add_range(nb::cast<const Binding&>(nb::handle(value)).range);
  }
  constexpr uint64_t kNull = 0;
  if (value == Py_None) return add_bytes(&kNull, sizeof(kNull));
  const nb::object bytes = nb::module_::import_("baton._kernels").attr("by_value")(nb::handle(value));
  if (bytes.is_none()) return add_array(value, place);
  const auto held = nb::cast<nb::bytes>(bytes);
  add_bytes(held.c_str(), held.size());
}

}  // namespace baton::python
