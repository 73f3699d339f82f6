#include "python/extension/values.hpp"

#include <cmath>

#include "hal/allocator.hpp"
#include "hal/element_value.hpp"
#include "modules/hal_module/objects.hpp"
#include "python/extension/arrays.hpp"
#include "python/extension/casts.hpp"
#include "python/extension/no_constructor.hpp"
#include "vm/blob.hpp"
#include "vm/list.hpp"

namespace baton::python {
namespace {

[[noreturn]] void type_error(const std::string& sentence) { throw nb::type_error(sentence.c_str()); }

std::string type_of(PyObject* value) {
  return nb::cast<std::string>(nb::str(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(value))).attr("__name__")));
}

// Of the interpreter: a list of Python's, or of a program's, may hold itself.
class Deeper {
 public:
  explicit Deeper(const char* where) {
    if (Py_EnterRecursiveCall(where)) throw nb::python_error();
  }
  ~Deeper() { Py_LeaveRecursiveCall(); }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
};

// The one number of NumPy's that says no __index__.
bool is_numpy_bool(PyObject* value) {
  const std::string name = type_of(value);
  return name == "bool" || name == "bool_";
}

// ---- Numbers --------------------------------------------------------------------------------------------------------

}  // namespace

int64_t to_integer(PyObject* value, int64_t least, int64_t most, std::string_view name) {
  if (PyFloat_Check(value)) type_error(text("a float where ", name, " is wanted"));
  nb::object number = nb::steal(PyNumber_Index(value));
  if (!number.is_valid()) {
    if (!is_numpy_bool(value)) throw nb::python_error();
    PyErr_Clear();
    return PyObject_IsTrue(value);
  }
  int overflow = 0;
  const int64_t result = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow || result < least || result > most) {
    PyErr_Format(PyExc_OverflowError, "%S is no %s", number.ptr(), std::string(name).c_str());
    throw nb::python_error();
  }
  return result;
}

namespace {

double to_real(PyObject* value) {
  const double result = PyFloat_AsDouble(value);
  if (result == -1.0 && PyErr_Occurred()) throw nb::python_error();
  return result;
}

float to_f32(PyObject* value) {
  const double number = to_real(value);
  const auto result = static_cast<float>(number);
  if (std::isinf(result) && !std::isinf(number)) {
    PyErr_Format(PyExc_OverflowError, "%R is no f32", value);
    throw nb::python_error();
  }
  return result;
}

// ---- Numbers of fewer bits than the VM has --------------------------------------------------------------------------

// What compiled programs pass as an i32: integers by value, of whose sign the program may know nothing, and 16-bit floats by their bits.
struct Narrow {
  std::string_view name;
  int64_t least;
  int64_t most;
  hal::ElementType bits;  // kNone: an integer.
};
constexpr Narrow kNarrow[] = {{"i1", 0, 1, hal::ElementType::kNone},
                              {"i8", INT8_MIN, UINT8_MAX, hal::ElementType::kNone},
                              {"i16", INT16_MIN, UINT16_MAX, hal::ElementType::kNone},
                              {"si8", INT8_MIN, INT8_MAX, hal::ElementType::kNone},
                              {"si16", INT16_MIN, INT16_MAX, hal::ElementType::kNone},
                              {"ui8", 0, UINT8_MAX, hal::ElementType::kNone},
                              {"ui16", 0, UINT16_MAX, hal::ElementType::kNone},
                              {"ui32", 0, UINT32_MAX, hal::ElementType::kNone},
                              {"f16", 0, 0, hal::ElementType::kF16},
                              {"bf16", 0, 0, hal::ElementType::kBF16}};

const Narrow* narrow_of(std::string_view name) {
  for (const Narrow& each : kNarrow) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

int32_t to_narrow(PyObject* value, const Narrow& narrow) {
  if (narrow.bits == hal::ElementType::kNone)
    return static_cast<int32_t>(to_integer(value, narrow.least, narrow.most, narrow.name));
  const double number = to_real(value);
  uint16_t bits = 0;
  auto* element = reinterpret_cast<std::byte*>(&bits);
  hal::store_float(narrow.bits, number, element);
  if (!std::isinf(number) && std::isinf(hal::load_float(narrow.bits, element))) {
    PyErr_Format(PyExc_OverflowError, "%R is no %s", value, std::string(narrow.name).c_str());
    throw nb::python_error();
  }
  return bits;
}

constexpr std::string_view kUnsigned64 = "ui64";

uint64_t to_unsigned(PyObject* value) {
  const nb::object index = nb::steal(PyNumber_Index(value));
  if (!index.is_valid()) throw nb::python_error();
  const uint64_t number = PyLong_AsUnsignedLongLong(index.ptr());
  if (number != UINT64_MAX || !PyErr_Occurred()) return number;
  PyErr_Clear();
  PyErr_Format(PyExc_OverflowError, "%R is no ui64", value);
  throw nb::python_error();
}

// ---- References -----------------------------------------------------------------------------------------------------

const Ref<OpenDevice>& first_device(const Surroundings& around) {
  if (!around.devices.empty()) return around.devices[0];
  raise(failure(StatusCode::kInvalidArgument, "a tensor needs a device, and the program was loaded without one"));
}

// Tensors of one call come by one fence, mostly.
void wait_for(const Tensor& tensor, Surroundings& around) {
  if (!tensor.ready) return;
  if (!around.waits) return tensor.wait();
  if (around.waits->empty() || around.waits->back().get() != tensor.ready.get()) around.waits->push_back(tensor.ready);
}

OwnedObject to_tensor(PyObject* value, const Parameter& parameter, Surroundings& around) {
  OpenDevice& open = *first_device(around);
  if (Tensor* tensor = tensor_in(value)) {
    wait_for(*tensor, around);
    if (tensor->open.get() == &open && !(parameter.is_consumed && tensor->must_be_copied())) {
      if (!tensor->handle) tensor->handle = modules::wrap(tensor->view);
      return OwnedObject(sdk::Ref(tensor->handle).detach());
    }
  }
  return OwnedObject(
      modules::wrap(view_of(value, {open, around.uploads, parameter.is_consumed}, parameter.element)).detach());
}

OwnedObject to_blob(PyObject* value) {
  auto view = std::make_unique<Py_buffer>();
  const bool writable = !PyBytes_Check(value) && PyObject_GetBuffer(value, view.get(), PyBUF_WRITABLE) == 0;
  if (!writable) {
    PyErr_Clear();
    if (PyObject_GetBuffer(value, view.get(), PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  constexpr auto kRelease = [](PyObject* capsule) {
    auto* held = static_cast<Py_buffer*>(PyCapsule_GetPointer(capsule, nullptr));
    PyBuffer_Release(held);
    delete held;
  };
  nb::object owner = nb::steal(PyCapsule_New(view.get(), nullptr, kRelease));
  const Py_buffer& held = *view.release();
  return OwnedObject(reinterpret_cast<baton_object*>(vm::Blob::wrap(
                                                         held.buf, static_cast<uint64_t>(held.len), writable,
                                                         [](void* capsule) { drop(static_cast<PyObject*>(capsule)); },
                                                         owner.release().ptr())
                                                         .detach()));
}

// NumPy's scalars say which number they are; Python's do not.
Kind kind_in_list(PyObject* value) {
  if (PyBool_Check(value)) return Kind::kI32;
  if (PyLong_CheckExact(value)) return Kind::kI64;
  if (PyFloat_CheckExact(value)) return Kind::kF64;
  if (PyList_Check(value) || PyTuple_Check(value)) return Kind::kList;
  if (PyBytes_Check(value) || PyByteArray_Check(value)) return Kind::kBlob;
  if (nb::isinstance<Object>(value)) return Kind::kAny;
  const std::string name = type_of(value);
  if (name == "int32") return Kind::kI32;
  if (name == "int64") return Kind::kI64;
  if (name == "float32") return Kind::kF32;
  if (name == "float64") return Kind::kF64;
  return Kind::kTensor;
}

constexpr vm::ValueType kValueTypes[] = {vm::ValueType::kI32, vm::ValueType::kI64, vm::ValueType::kF32,
                                         vm::ValueType::kF64};

vm::ValueType value_type_of(Kind kind) {
  return kind <= Kind::kF64 ? kValueTypes[static_cast<size_t>(kind)] : vm::ValueType::kRef;
}

[[noreturn]] void no_memory() {
  PyErr_NoMemory();
  throw nb::python_error();
}

OwnedObject to_list(PyObject* value, Surroundings& around) {
  if (!PyList_Check(value) && !PyTuple_Check(value)) type_error(text("a list is wanted, not ", described(value)));
  const Deeper deeper(" while a list becomes one of a program");
  // A copy: code of Python that converts an element may change the list, and a list of another class say any length.
  const nb::object elements = nb::steal(PySequence_Tuple(value));
  if (!elements.is_valid()) throw nb::python_error();
  const auto count = static_cast<size_t>(PyTuple_Size(elements.ptr()));
  Ref<vm::List> list = vm::List::make(count);
  if (!list) no_memory();
  for (size_t i = 0; i < count; ++i) {
    const nb::handle element = PyTuple_GetItem(elements.ptr(), static_cast<Py_ssize_t>(i));
    const Kind kind = element.is_none() ? Kind::kAny : kind_in_list(element.ptr());
    vm::Value converted;
    OwnedObject owned;
    to_value(element.ptr(), {kind, {}, {}}, around, converted, owned);
    if (!list->push(value_type_of(kind), converted)) no_memory();
  }
  return OwnedObject(reinterpret_cast<baton_object*>(list.detach()));
}

OwnedObject to_any(PyObject* value, const Parameter& parameter, Surroundings& around) {
  if (nb::isinstance<Object>(value)) {
    baton_object* object = nb::cast<Object&>(nb::handle(value)).object.get();
    vm::retain_object(reinterpret_cast<vm::Object*>(object));
    return OwnedObject(object);
  }
  if (parameter.kind == Kind::kOther) {
    type_error(text("a ", parameter.type_name, " is wanted, as a program gave it, not ", described(value)));
  }
  const Kind kind = kind_in_list(value);
  if (kind <= Kind::kF64) type_error(text("a number where a reference is wanted"));
  vm::Value ignored;
  OwnedObject owned;
  to_value(value, {kind, {}, {}}, around, ignored, owned);
  return owned;
}

OwnedObject to_object(PyObject* value, const Parameter& parameter, Surroundings& around) {
  if (value == Py_None) {
    if (parameter.kind == Kind::kTensor && !parameter.element.empty()) type_error("None where a tensor is wanted");
    return OwnedObject();
  }
  switch (parameter.kind) {
    case Kind::kTensor: return to_tensor(value, parameter, around);
    case Kind::kList: return to_list(value, around);
    case Kind::kBlob: return to_blob(value);
    default: return to_any(value, parameter, around);
  }
}

// ---- Back -----------------------------------------------------------------------------------------------------------

nb::object from_list(const vm::List& list, const Surroundings& around) {
  const Deeper deeper(" while a list of a program becomes one of Python");
  nb::list all;
  for (uint64_t i = 0; i < list.size(); ++i) {
    const vm::List::Element& element = list.elements[i];
    const Kind kind = bytecode::is_ref(element.type) ? Kind::kAny : static_cast<Kind>(element.type);
    if (kind == Kind::kAny) vm::retain_object(element.value.ref);
    all.append(from_value(element.value, {kind, {}, {}}, around));
  }
  return std::move(all);
}

// The program's device that the tensor lies on.
const Ref<OpenDevice>& device_of(const hal::BufferView& view, const Surroundings& around) {
  for (const Ref<OpenDevice>& open : around.devices) {
    if (&open->device().allocator() == view.buffer()->allocator()) return open;
  }
  return first_device(around);
}

nb::object from_object(OwnedObject owned, const Surroundings& around) {
  baton_object* object = owned.get();
  if (!object) return nb::none();
  using Handle = modules::Handle<hal::BufferView>;
  if (auto* handle = sdk::cast<Handle>(object)) {
    owned.detach();
    return make_tensor(handle->shared(), device_of(**handle, around), around.ready, sdk::Ref<Handle>::adopt(handle));
  }
  auto* head = reinterpret_cast<vm::Object*>(object);
  if (const vm::Blob* blob = vm::as_blob(head)) {
    return nb::bytes(reinterpret_cast<const char*>(blob->data), static_cast<size_t>(blob->size));
  }
  if (const vm::List* list = vm::as_list(head)) return from_list(*list, around);
  return nb::cast(Object{std::move(owned)});
}

Kind kind_of(vm::ValueType type, std::string_view name) {
  if (!bytecode::is_ref(type)) return static_cast<Kind>(type);
  if (name == "hal.buffer_view") return Kind::kTensor;
  if (name == "list") return Kind::kList;
  if (name == "blob") return Kind::kBlob;
  return name.empty() ? Kind::kAny : Kind::kOther;
}

}  // namespace

std::vector<Parameter> parameters_of(std::string_view side) {
  std::vector<Parameter> all;
  for (bytecode::SignatureCursor at(side); at.next();) {
    if (at.in_segment())
      raise(failure(StatusCode::kUnimplemented, "a variadic signature cannot be called from Python"));
    const bool is_named = bytecode::is_ref(at.type());
    all.push_back({kind_of(at.type(), at.ref_type()),
                   std::string(is_named ? at.ref_type() : bytecode::value_type_name(at.type())),
                   {}});
  }
  return all;
}

void to_value(PyObject* value, const Parameter& parameter, Surroundings& around, vm::Value& out, OwnedObject& owned) {
  switch (parameter.kind) {
    case Kind::kI32:
      if (const Narrow* narrow = parameter.element.empty() ? nullptr : narrow_of(parameter.element)) {
        out = vm::Value::of(to_narrow(value, *narrow));
      } else {
        out = vm::Value::of(static_cast<int32_t>(to_integer(value, INT32_MIN, INT32_MAX, "i32")));
      }
      return;
    case Kind::kI64:
      out = vm::Value::of(parameter.element == kUnsigned64 ? static_cast<int64_t>(to_unsigned(value))
                                                           : to_integer(value, INT64_MIN, INT64_MAX, "i64"));
      return;
    case Kind::kF32: out = vm::Value::of(to_f32(value)); return;
    case Kind::kF64: out = vm::Value::of(to_real(value)); return;
    default:
      owned = to_object(value, parameter, around);
      out = vm::Value::of(reinterpret_cast<vm::Object*>(owned.get()));
  }
}

nb::object from_value(vm::Value value, const Parameter& parameter, const Surroundings& around) {
  switch (parameter.kind) {
    case Kind::kI32: {
      const Narrow* narrow = parameter.element.empty() ? nullptr : narrow_of(parameter.element);
      if (narrow && narrow->name.starts_with('u')) return nb::int_(narrow->most & value.i32);
      if (!narrow || narrow->bits == hal::ElementType::kNone) return nb::int_(value.i32);
      const auto bits = static_cast<uint16_t>(value.i32);
      return nb::float_(hal::load_float(narrow->bits, reinterpret_cast<const std::byte*>(&bits)));
    }
    case Kind::kI64:
      return parameter.element == kUnsigned64 ? nb::int_(static_cast<uint64_t>(value.i64)) : nb::int_(value.i64);
    case Kind::kF32: return nb::float_(static_cast<double>(value.f32));
    case Kind::kF64: return nb::float_(value.f64);
    default: return from_object(OwnedObject(reinterpret_cast<baton_object*>(value.ref)), around);
  }
}

void bind_values(nb::module_& module) {
  nb::class_<Object>(module, "Object", nb::type_slots(kNoConstructorAlone))
      .def_prop_ro("type", [](const Object& held) { return nb::str(held.object.get()->type->name); })
      .def("__repr__", [](const Object& held) {
        return nb::str(text("<baton.Object ", held.object.get()->type->name, ">").c_str());
      });
}

}  // namespace baton::python
