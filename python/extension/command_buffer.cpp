#include "python/extension/command_buffer.hpp"

#include "modules/hal_module/objects.hpp"
#include "modules/host_table.hpp"
#include "modules/sdk/cuda.h"
#include "python/extension/casts.hpp"
#include "python/extension/executables.hpp"
#include "python/extension/interrupts.hpp"
#include "python/extension/no_constructor.hpp"

namespace baton::python {
namespace {

const baton_recording_table& verbs() { return *modules::host_table().recording; }
const baton_device_table& devices() { return *modules::host_table().devices; }

void check_door(baton_status* failed) { check(Status::adopt(reinterpret_cast<Status::Failure*>(failed))); }

std::vector<baton_binding> ranges_of(nb::handle bindings) {
  std::vector<baton_binding> ranges;
  for (nb::handle each : bindings) ranges.push_back(object_of<Binding>(each, "a Binding of the command").range);
  return ranges;
}

// 32-bit words: an int is one (two where it does not fit), a float is an f32.
std::vector<uint32_t> words_of(nb::handle constants) {
  std::vector<uint32_t> words;
  for (nb::handle constant : constants) {
    if (PyFloat_Check(constant.ptr()) || !PyIndex_Check(constant.ptr())) {  // Also NumPy's floats.
      const double number = PyFloat_AsDouble(constant.ptr());
      if (number == -1 && PyErr_Occurred()) throw nb::python_error();
      words.push_back(std::bit_cast<uint32_t>(static_cast<float>(number)));
      continue;
    }
    const int64_t number = to_integer(constant.ptr(), INT64_MIN, INT64_MAX, "constant");
    words.push_back(static_cast<uint32_t>(number));
    if (number < INT32_MIN || number > int64_t{UINT32_MAX}) {
      words.push_back(static_cast<uint32_t>(static_cast<uint64_t>(number) >> 32));
    }
  }
  return words;
}

void read_grid(nb::handle given, uint32_t (&grid)[3]) {
  grid[0] = grid[1] = grid[2] = 1;
  const bool is_number = PyLong_Check(given.ptr());
  const size_t count = is_number ? 1 : nb::len(given);  // Asked once: it may say something else the next time.
  if (count > 3) throw nb::value_error("a grid has one to three dimensions");
  for (size_t i = 0; i < count; ++i) {
    const nb::object extent = is_number ? nb::borrow(given) : nb::object(given[i]);
    grid[i] = static_cast<uint32_t>(to_integer(extent.ptr(), 0, UINT32_MAX, "extent of a grid"));
  }
}

void dispatch(const CommandBuffer& commands, const Executable& executable, nb::handle entry_point, nb::handle grid,
              nb::handle bindings, nb::handle constants) {
  const std::vector<baton_binding> ranges = ranges_of(bindings);
  const std::vector<uint32_t> words = words_of(constants);
  baton_dispatch command{};
  command.struct_size = sizeof(command);
  command.entry_point = entry_point_of(executable, entry_point);
  command.executable = executable.handle();
  read_grid(grid, command.grid);
  command.constants = words.data();
  command.constant_count = static_cast<uint32_t>(words.size());
  command.bindings = ranges.data();
  command.binding_count = static_cast<uint32_t>(ranges.size());
  check_door(verbs().dispatch(commands.open(), &command));
}

void copy_buffer(const CommandBuffer& commands, const Binding& source, const Binding& target) {
  const baton_copy_buffer command = {sizeof(command), 0, source.range, target.range};
  check_door(verbs().copy_buffer(commands.open(), &command));
}

// Of anything dense in the host's memory; for messages `what` takes them.
nb::bytes bytes_of(nb::handle value, const char* what) {
  if (PyBytes_Check(value.ptr())) return nb::borrow<nb::bytes>(value);
  return nb::cast<nb::bytes>(nb::module_::import_("baton._arrays").attr("bytes_of")(value, what));
}

void fill_buffer(const CommandBuffer& commands, const Binding& target, nb::handle value) {
  const nb::bytes pattern = bytes_of(value, "fill_buffer");
  baton_fill_buffer command = {sizeof(command), static_cast<uint32_t>(pattern.size()), 0, target.range};
  if (pattern.size() > sizeof(command.pattern)) throw nb::value_error("a pattern has 1, 2, 4 or 8 bytes");
  std::memcpy(&command.pattern, pattern.data(), pattern.size());
  check_door(verbs().fill_buffer(commands.open(), &command));
}

void update_buffer(const CommandBuffer& commands, const Binding& target, nb::handle value) {
  const nb::bytes source = bytes_of(value, "update_buffer");
  baton_binding range = target.range;
  if (range.length > source.size()) range.length = source.size();
  const baton_update_buffer command = {sizeof(command), 0, source.data(), source.size(), range};
  check_door(verbs().update_buffer(commands.open(), &command));
}

void barrier(const CommandBuffer& commands) {
  const baton_barrier command = {sizeof(command), 0, nullptr};
  check_door(verbs().barrier(commands.open(), &command));
}

// ---- Functions of Python that a recording keeps ---------------------------------------------------------------------

struct KeptFunction {
  PyObject* callable;
  std::vector<uint32_t> access;  // Of each binding.
};

void release_kept(void* data) {
  auto* kept = static_cast<KeptFunction*>(data);
  drop(kept->callable);
  delete kept;
}

// Memory that a function has only while it runs. Views of it are counted, and so are references to the view that the
// function got, because numpy.frombuffer() keeps that without a word to the buffer protocol: who keeps either would
// read memory that is gone.
struct HostMemory {
  void* data;
  Py_ssize_t size;
  bool writable;
  int views = 0;
};

int view_memory(PyObject* self, Py_buffer* view, int flags) noexcept {
  HostMemory& memory = *nb::inst_ptr<HostMemory>(self);
  if (PyBuffer_FillInfo(view, self, memory.data, memory.size, !memory.writable, flags) != 0) return -1;
  ++memory.views;
  return 0;
}
void release_memory(PyObject* self, Py_buffer*) noexcept { --nb::inst_ptr<HostMemory>(self)->views; }

PyType_Slot memory_slots[] = {kNoConstructor,
                              {Py_bf_getbuffer, reinterpret_cast<void*>(view_memory)},
                              {Py_bf_releasebuffer, reinterpret_cast<void*>(release_memory)},
                              {0, nullptr}};

class Views {
 public:
  Views() = default;
  ~Views() { end(); }  // The function raised; its error is what is told.
  Views(const Views&) = delete;
  Views& operator=(const Views&) = delete;
  nb::object add(void* data, uint64_t size, bool writable) {
    static char nothing = 0;  // A view wants a pointer.
    nb::object memory = nb::cast(HostMemory{data ? data : &nothing, static_cast<Py_ssize_t>(size), writable});
    nb::object view = nb::steal(PyMemoryView_FromObject(memory.ptr()));
    if (!view.is_valid()) throw nb::python_error();
    all_.push_back({std::move(memory), view});
    return view;
  }
  // After the function, when nothing of ours refers to the views any more.
  void close() {
    if (end()) return;
    PyErr_SetString(PyExc_BufferError, "the function kept an array over memory that it has only while it runs");
    throw nb::python_error();
  }

 private:
  // Each one, whatever becomes of the others; whether nobody kept any.
  bool end() noexcept {
    bool nobody = true;
    for (const auto& [memory, view] : all_) {
      const bool is_kept = Py_REFCNT(view.ptr()) > 1;
      if (!nb::steal(PyObject_CallMethod(view.ptr(), "release", nullptr)).is_valid()) PyErr_Clear();
      nobody = nobody && !is_kept && nb::inst_ptr<HostMemory>(memory)->views == 0;
    }
    all_.clear();
    return nobody;
  }

  std::vector<std::pair<nb::object, nb::object>> all_;
};

// Calls it with `arguments`, and lets go of them.
void call_kept(const KeptFunction& kept, nb::list arguments) {
  nb::object tuple = nb::steal(PyList_AsTuple(arguments.ptr()));
  arguments.clear();
  const nb::object result = nb::steal(PyObject_CallObject(kept.callable, tuple.ptr()));
  if (!result.is_valid()) throw nb::python_error();
  forget_handled_interrupt();
}

void call_host_function(const KeptFunction& kept, const baton_host_arguments& arguments) {
  Views views;
  nb::list all;
  for (uint32_t i = 0; i < arguments.binding_count; ++i) {
    const bool writable = (kept.access[i] & BATON_ACCESS_WRITE) != 0;
    all.append(views.add(arguments.bindings[i].data, arguments.bindings[i].size, writable));
  }
  call_kept(kept, std::move(all));
  views.close();
}

baton_status* host_body(void* data, const baton_host_arguments* arguments) noexcept {
  return guarded("in a host function of Python",
                 [&] { call_host_function(*static_cast<KeptFunction*>(data), *arguments); });
}

std::vector<uint32_t> accesses_of(std::span<const baton_binding> ranges) {
  std::vector<uint32_t> access;
  for (const baton_binding& range : ranges) access.push_back(range.access ? range.access : BATON_ACCESS_READ_WRITE);
  return access;
}

// A command that keeps the function until its recording goes.
template <typename Command, typename Verb, typename Body>
void record_kept(const CommandBuffer& commands, Verb verb, Body body, nb::handle callable, nb::handle bindings,
                 const std::string& name) {
  const std::vector<baton_binding> ranges = ranges_of(bindings);
  Command command{};
  baton_command_buffer* open = commands.open();
  command.struct_size = sizeof(command);
  command.binding_count = static_cast<uint32_t>(ranges.size());
  command.name = {name.data(), name.size()};
  command.call = body;
  command.release = release_kept;
  command.data = new KeptFunction{nb::borrow(callable).release().ptr(), accesses_of(ranges)};
  command.bindings = ranges.data();
  check_door(verb(open, &command));
}

void host(const CommandBuffer& commands, nb::handle callable, nb::args bindings, const std::string& name) {
  record_kept<baton_host_call>(commands, verbs().host_call, host_body, callable, bindings, name);
}

// ---- Foreign work ---------------------------------------------------------------------------------------------------

// A binding as the device sees it; for libraries that take __cuda_array_interface__, bytes.
struct DeviceRange {
  uint64_t address;
  uint64_t size;
  bool readonly;
  nb::object view;  // A memoryview where the host sees the memory, else None.
};

nb::dict cuda_array_interface(const DeviceRange& range) {
  nb::dict about;
  about["shape"] = nb::make_tuple(range.size);
  about["typestr"] = "|u1";
  about["data"] = nb::make_tuple(range.address, range.readonly);
  about["version"] = 3;
  return about;
}

nb::object stream_of(const baton_foreign_arguments& arguments) {
  baton_cuda_stream stream{};
  stream.struct_size = sizeof(stream);
  const std::string_view name = BATON_CUDA_STREAM_V1;
  const Status asked = Status::adopt(
      reinterpret_cast<Status::Failure*>(arguments.extension(arguments.self, {name.data(), name.size()}, &stream)));
  if (!asked.ok() || !stream.stream) return nb::none();  // A device without streams: the work is done at once.
  return nb::int_(reinterpret_cast<uintptr_t>(stream.stream));
}

void call_foreign_function(const KeptFunction& kept, const baton_foreign_arguments& arguments) {
  Views views;
  nb::list all;
  all.append(stream_of(arguments));
  for (uint32_t i = 0; i < arguments.binding_count; ++i) {
    const baton_device_range& range = arguments.bindings[i];
    const bool writable = (kept.access[i] & BATON_ACCESS_WRITE) != 0;
    nb::object view = nb::none();
    if (range.data) view = views.add(range.data, range.size, writable);
    all.append(nb::cast(DeviceRange{range.address, range.size, !writable, std::move(view)}));
  }
  call_kept(kept, std::move(all));
  views.close();
}

baton_status* foreign_body(void* data, const baton_foreign_arguments* arguments) noexcept {
  return guarded("in a foreign function of Python",
                 [&] { call_foreign_function(*static_cast<KeptFunction*>(data), *arguments); });
}

void foreign(const CommandBuffer& commands, nb::handle callable, nb::args bindings, const std::string& name) {
  record_kept<baton_foreign>(commands, verbs().foreign, foreign_body, callable, bindings, name);
}

// ---- Bindings -------------------------------------------------------------------------------------------------------

// Beyond it is memory of other tensors. Of a slot that is taken as a whole only each execution knows the length, and looks.
Binding part_of(const Binding& binding, uint64_t offset, uint64_t length) {
  const uint64_t whole = binding.range.length;
  if (whole != BATON_WHOLE_LENGTH && (offset > whole || length > whole - offset)) {
    raise(failure(StatusCode::kOutOfRange, "part(", offset, ", ", length, ") of a binding of ", whole, " bytes"));
  }
  Binding part;
  part.range = binding.range;
  part.range.offset += offset;
  part.range.length = length;
  if (binding.buffer.get()) {
    vm::retain_object(reinterpret_cast<vm::Object*>(binding.buffer.get()));
    part.buffer = OwnedObject(binding.buffer.get());
  }
  return part;
}

nb::object length_of(const Binding& binding) {
  if (binding.range.length == BATON_WHOLE_LENGTH) return nb::none();  // Only each execution knows.
  return nb::int_(binding.range.length);
}

}  // namespace

baton_command_buffer* CommandBuffer::open() const {
  if (handle) return handle;
  raise(failure(StatusCode::kFailedPrecondition,
                "a command buffer takes commands only until the function that received it returns"));
}

nb::object make_binding(int64_t slot, baton_object* buffer, int64_t offset, int64_t length) {
  Binding binding;
  if (buffer) {
    if (buffer->type != devices().buffer_type)
      raise(failure(StatusCode::kInvalidArgument, "a binding's buffer is none"));
    vm::retain_object(reinterpret_cast<vm::Object*>(buffer));
    binding.buffer = OwnedObject(buffer);
    binding.range.buffer = reinterpret_cast<baton_buffer*>(buffer);
  }
  binding.range.slot = static_cast<uint32_t>(slot);
  binding.range.access = static_cast<uint32_t>(static_cast<uint64_t>(slot) >> 32 & BATON_ACCESS_READ_WRITE);
  binding.range.offset = static_cast<uint64_t>(offset);
  binding.range.length = length < 0 ? BATON_WHOLE_LENGTH : static_cast<uint64_t>(length);
  return nb::cast(std::move(binding));
}

nb::object device_object(const baton_device* device, std::span<const Ref<OpenDevice>> all) {
  const hal::Device* wanted =
      modules::unwrap<hal::Device>(reinterpret_cast<baton_object*>(const_cast<baton_device*>(device)));
  for (const Ref<OpenDevice>& open : all) {
    if (&open->device() == wanted) return nb::cast(Device(open));
  }
  raise(failure(StatusCode::kInternal, "a device that the program does not have"));
}

OpenCommandBuffer::OpenCommandBuffer(baton_object* commands, std::span<const Ref<OpenDevice>> all) {
  if (!commands || commands->type != verbs().command_buffer_type) {
    raise(failure(StatusCode::kInvalidArgument, "a command got no command buffer"));
  }
  auto* buffer = reinterpret_cast<baton_command_buffer*>(commands);
  object_ = nb::cast(CommandBuffer{buffer, device_object(verbs().device(buffer), all)});
}
OpenCommandBuffer::~OpenCommandBuffer() { nb::cast<CommandBuffer&>(object_).handle = nullptr; }

void bind_command_buffers(nb::module_& module) {
  const nb::class_<HostMemory> memory(module, "_HostMemory", nb::type_slots(memory_slots));
  nb::class_<Binding>(module, "Binding", nb::type_slots(kNoConstructorAlone))
      .def_prop_ro("is_slot", [](const Binding& binding) { return !binding.buffer.get(); })
      .def_prop_ro("offset", [](const Binding& binding) { return binding.range.offset; })
      .def_prop_ro("nbytes", length_of)
      .def("__repr__",
           [](const Binding& binding) {
             const baton_binding& range = binding.range;
             const bool whole = range.length == BATON_WHOLE_LENGTH;
             return nb::str(text("<baton.Binding of ", whole ? std::string("all") : text(range.length), " bytes from ",
                                 range.offset, binding.buffer.get() ? " of a buffer" : text(" of slot ", range.slot),
                                 ">")
                                .c_str());
           })
      .def_prop_ro("is_written",
                   [](const Binding& binding) { return (binding.range.access & BATON_ACCESS_WRITE) != 0; })
      .def("part", part_of, nb::arg("offset"), nb::arg("nbytes"));
  nb::class_<DeviceRange>(module, "DeviceRange", nb::type_slots(kNoConstructorAlone))
      .def_ro("address", &DeviceRange::address)
      .def_ro("nbytes", &DeviceRange::size)
      .def_ro("view", &DeviceRange::view)
      .def_prop_ro("__cuda_array_interface__", cuda_array_interface);
  nb::class_<CommandBuffer>(module, "CommandBuffer", nb::type_slots(kNoConstructorAlone))
      .def_ro("device", &CommandBuffer::device)
      .def("dispatch", dispatch, nb::arg("executable"), nb::arg("entry_point"), nb::arg("grid"), nb::arg("bindings"),
           nb::arg("constants") = nb::make_tuple())
      .def("copy_buffer", copy_buffer, nb::arg("source"), nb::arg("target"))
      .def("fill_buffer", fill_buffer, nb::arg("target"), nb::arg("pattern").none())
      .def("update_buffer", update_buffer, nb::arg("target"), nb::arg("source").none())
      // Their short names, as in modules/sdk/recording.hpp.
      .def("copy", copy_buffer, nb::arg("source"), nb::arg("target"))
      .def("fill", fill_buffer, nb::arg("target"), nb::arg("pattern").none())
      .def("update", update_buffer, nb::arg("target"), nb::arg("source").none())
      .def("barrier", barrier)
      .def("host", host, nb::arg("function"), nb::arg("bindings"), nb::arg("name") = "")
      .def("foreign", foreign, nb::arg("function"), nb::arg("bindings"), nb::arg("name") = "");
}

}  // namespace baton::python
