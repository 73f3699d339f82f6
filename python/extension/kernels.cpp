#include "python/extension/kernels.hpp"

#include "hal/queue.hpp"
#include "modules/hal_module/objects.hpp"
#include "python/extension/casts.hpp"
#include "python/extension/kernel_arguments.hpp"
#include "python/extension/no_constructor.hpp"

namespace baton::python {
namespace {

// Strongly: modules find it through the table of devices, which refers to it weakly.
const baton_kernel_table& table() { return *baton_kernel_functions(); }
Status adopt(baton_status* failed) { return Status::adopt(reinterpret_cast<Status::Failure*>(failed)); }
baton_string door_text(std::string_view given) { return {given.data(), given.size()}; }

// A reference to a library.
class KernelLibrary {
 public:
  explicit KernelLibrary(baton_kernel_library* owned) : library_(owned) {}
  KernelLibrary(const KernelLibrary& other) : library_(other.library_) { table().library_retain(library_); }
  KernelLibrary& operator=(const KernelLibrary&) = delete;
  ~KernelLibrary() {
    const Unlocked unlocked;  // The last one lets go of devices.
    table().library_release(library_);
  }
  baton_kernel_library* get() const { return library_; }

 private:
  baton_kernel_library* library_;
};

struct Kernel {
  KernelLibrary library;
  const baton_library_kernel* handle;
  std::vector<uint64_t> sizes;  // Of parameters; empty until they are asked for.
};

nb::object module_of_ours() { return nb::module_::import_("baton._kernels"); }

// ---- Libraries ------------------------------------------------------------------------------------------------------

// Without the lock: code is read, compiled, linked.
template <typename Make>
KernelLibrary made(const Make& make) {
  baton_kernel_library* library = nullptr;
  Status status;
  {
    const Unlocked unlocked;
    status = adopt(make(&library));
  }
  check(status);
  return KernelLibrary(library);
}

// Bytes by their format, and what keeps them.
struct Variants {
  std::vector<std::string> formats;
  std::vector<nb::bytes> images;
  std::vector<baton_executable_variant> all;

  void add(std::string format, nb::handle image) {
    formats.push_back(std::move(format));
    images.push_back(nb::bytes(image));
  }
  void finish() {
    for (size_t i = 0; i < formats.size(); ++i) {
      all.push_back({door_text(formats[i]), images[i].data(), images[i].size()});
    }
  }
};

bool is_bytes(nb::handle value) {
  return PyBytes_Check(value.ptr()) || PyByteArray_Check(value.ptr()) || PyMemoryView_Check(value.ptr());
}

KernelLibrary load_file(nb::handle path) {
  const nb::object text = nb::steal(PyOS_FSPath(path.ptr()));
  if (!text.is_valid()) throw nb::python_error();
  const auto name = nb::cast<std::string>(text);
  return made([&](baton_kernel_library** out) { return table().library_load_file(name.c_str(), out); });
}

KernelLibrary load(nb::handle code, const std::string& name) {
  Variants variants;
  if (PyDict_Check(code.ptr())) {
    for (auto [format, image] : nb::borrow<nb::dict>(code)) {
      if (!is_bytes(image)) throw nb::type_error("a library's variants are {format: bytes}");
      variants.add(string_of(format, "the name of a format"), image);
    }
  } else if (is_bytes(code)) {
    variants.add("", code);
  } else {
    return load_file(code);
  }
  variants.finish();
  return made([&](baton_kernel_library** out) {
    return table().library_make(door_text(name), variants.all.data(), variants.all.size(), out);
  });
}

std::vector<std::string> strings_of(nb::handle listed) {
  if (PyUnicode_Check(listed.ptr())) throw nb::type_error("a list of texts is wanted, not one text");
  std::vector<std::string> all;
  for (nb::handle one : listed) all.push_back(string_of(one, "an option"));
  return all;
}
std::vector<baton_string> door_texts(const std::vector<std::string>& all) {
  std::vector<baton_string> texts;
  for (const std::string& one : all) texts.push_back(door_text(one));
  return texts;
}

KernelLibrary compile(const std::string& source, const std::string& arch, nb::handle options, nb::dict headers,
                      const std::string& name) {
  const std::vector<std::string> flags = strings_of(options);
  const std::vector<baton_string> door_flags = door_texts(flags);
  std::vector<std::pair<std::string, std::string>> included;
  for (auto [as, text] : headers)
    included.emplace_back(string_of(as, "the name of a header"), string_of(text, "the text of a header"));
  std::vector<baton_kernel_header> door_headers;
  for (const auto& [as, text] : included) door_headers.push_back({door_text(as), door_text(text)});
  const baton_kernel_compile request = {sizeof(request),     static_cast<uint32_t>(flags.size()),
                                        door_text(name),     door_text(source),
                                        door_text(arch),     door_flags.data(),
                                        door_headers.data(), door_headers.size()};
  return made([&](baton_kernel_library** out) { return table().library_compile(&request, out); });
}

KernelLibrary link(nb::dict parts, const std::string& arch, nb::handle options, const std::string& name) {
  Variants variants;
  for (auto [part, image] : parts) {
    if (!is_bytes(image)) throw nb::type_error("the parts of a library are {name: bytes}");
    variants.add(string_of(part, "the name of a part"), image);
  }
  variants.finish();
  const std::vector<std::string> flags = strings_of(options);
  const std::vector<baton_string> door_flags = door_texts(flags);
  return made([&](baton_kernel_library** out) {
    return table().library_link(door_text(name), door_text(arch), variants.all.data(), variants.all.size(),
                                door_flags.data(), door_flags.size(), out);
  });
}

KernelLibrary load_triton(nb::handle metadata, nb::handle cubin) {
  const nb::object paths[] = {nb::steal(PyOS_FSPath(metadata.ptr())), nb::steal(PyOS_FSPath(cubin.ptr()))};
  if (!paths[0].is_valid() || !paths[1].is_valid()) throw nb::python_error();
  const auto json = nb::cast<std::string>(paths[0]), code = nb::cast<std::string>(paths[1]);
  return made([&](baton_kernel_library** out) { return table().library_load_triton(json.c_str(), code.c_str(), out); });
}

Kernel find(const KernelLibrary& library, const std::string& name) {
  const baton_library_kernel* found = nullptr;
  check(adopt(table().library_find(library.get(), door_text(name), &found)));
  return {library, found, {}};
}

nb::tuple variable(const KernelLibrary& library, const std::string& name, int32_t ordinal) {
  uint64_t address = 0, bytes = 0;
  check(adopt(table().library_global(library.get(), ordinal, door_text(name), &address, &bytes)));
  return nb::make_tuple(address, bytes);
}

void unload(const KernelLibrary& library) {
  Status status;
  {
    const Unlocked unlocked;
    status = adopt(table().library_unload(library.get()));
  }
  check(status);
}

// ---- Launches -------------------------------------------------------------------------------------------------------

void read_extents(nb::handle given, uint32_t (&extents)[3], const char* what) {
  if (given.is_none()) return;
  extents[0] = extents[1] = extents[2] = 1;
  const bool is_number = PyIndex_Check(given.ptr()) != 0;
  const size_t count = is_number ? 1 : nb::len(given);
  if (count == 0 || count > 3) throw nb::value_error(text("a ", what, " has one to three dimensions").c_str());
  for (size_t i = 0; i < count; ++i) {
    const nb::object extent = nb::steal(PyNumber_Index(is_number ? given.ptr() : nb::object(given[i]).ptr()));
    if (!extent.is_valid()) throw nb::python_error();
    const uint64_t number = PyLong_AsUnsignedLongLong(extent.ptr());
    if (PyErr_Occurred() || number > UINT32_MAX) {
      PyErr_Clear();
      throw nb::value_error(text("an extent of a ", what, " is a number of 32 bits, and not negative").c_str());
    }
    extents[i] = static_cast<uint32_t>(number);
  }
}

nb::str name_of(const Kernel& kernel) {
  const baton_string name = table().name(kernel.handle);
  return nb::str(name.data, static_cast<size_t>(name.size));
}

// The same error, with the kernel and the argument in its text.
[[noreturn]] void name_argument(nb::python_error& error, const Kernel& kernel, size_t index) {
  if (PyErr_GivenExceptionMatches(error.type().ptr(), PyExc_Exception)) {
    const std::string place =
        text("argument ", index + 1, " of kernel '", std::string_view(name_of(kernel).c_str()), "'");
    nb::module_::import_("baton._errors").attr("add_place")(error.value(), place.c_str());
  }
  throw std::move(error);
}

struct Shape {
  nb::handle grid, block, cluster;
  uint32_t shared_bytes;
  bool cooperative, early;
  int32_t priority;

  baton_kernel_launch door() const {
    baton_kernel_launch launch{};
    launch.struct_size = sizeof(launch);
    launch.flags = (cooperative ? BATON_KERNEL_COOPERATIVE : 0) | (early ? BATON_KERNEL_EARLY : 0);
    read_extents(grid, launch.grid, "grid");
    read_extents(block, launch.block, "block");
    read_extents(cluster, launch.cluster, "cluster");
    if (grid.is_none()) throw nb::type_error("a launch has a grid");
    launch.shared_bytes = shared_bytes;
    launch.priority = priority;
    launch.ordinal = BATON_KERNEL_DEVICE_OF_STREAM;
    return launch;
  }
};

// Only CUDA's code declares them; whoever cannot tell lets numbers have their default size.
std::span<const uint64_t> sizes_of(Kernel& kernel) {
  if (!kernel.sizes.empty()) return kernel.sizes;
  uint64_t count = 0;
  if (!adopt(table().parameters(kernel.handle, nullptr, 0, &count)).ok() || count == 0) return {};
  kernel.sizes.resize(static_cast<size_t>(count));
  if (!adopt(table().parameters(kernel.handle, kernel.sizes.data(), count, &count)).ok()) kernel.sizes.clear();
  return kernel.sizes;
}

nb::tuple parameter_sizes(const Kernel& kernel) {
  uint64_t count = 0;
  check(adopt(table().parameters(kernel.handle, nullptr, 0, &count)));
  std::vector<uint64_t> sizes(static_cast<size_t>(count));
  check(adopt(table().parameters(kernel.handle, sizes.data(), count, &count)));
  nb::list all;
  for (const uint64_t size : sizes) all.append(size);
  return nb::tuple(all);
}

// The host's memory is worked in by the CPU, whose code declares no parameters.
bool may_declare(const Ref<OpenDevice>& open) { return !open->device().name().starts_with("local"); }

// Where nothing is said: the device of the first tensor of Baton's, or the stream that a library works on with the
// first array.
void find_place(nb::args arguments, LaunchPlace& place, Ref<OpenDevice>& device) {
  for (nb::handle argument : arguments) {
    if (const Tensor* tensor = tensor_in(argument.ptr())) {
      device = tensor->open;
      place.device = &device;
      return;
    }
    if (PyLong_Check(argument.ptr()) || PyFloat_Check(argument.ptr())) continue;
    if (HandedOut given = hand_out(argument.ptr()); given.stream != hal::kNoStream) {
      place.stream = static_cast<uint64_t>(given.stream);
      return;
    }
  }
  throw nb::type_error("the launch names neither device= nor stream=, and no argument says where it lies");
}

void read_place(nb::args arguments, nb::handle stream, nb::handle device, LaunchPlace& place, Ref<OpenDevice>& open) {
  if (!stream.is_none() && !device.is_none()) throw nb::type_error("a launch goes to device= or to stream=, not both");
  if (!stream.is_none()) {
    place.stream = nb::cast<uint64_t>(module_of_ours().attr("stream_handle")(stream));
  } else if (!device.is_none()) {
    nb::object opened = nb::borrow(device);
    if (PyUnicode_Check(device.ptr())) opened = nb::module_::import_("baton._devices").attr("device")(device);
    if (!nb::isinstance<Device>(opened)) throw nb::type_error("device= takes a Device or what baton.device() opens");
    open = nb::cast<const Device&>(opened).open;
    check(open->check_usable());
    place.device = &open;
  } else {
    find_place(arguments, place, open);
  }
}

Status launch_unlocked(const Kernel& kernel, const baton_kernel_launch& launch, const KernelArguments& arguments) {
  return adopt(
      table().launch_on(kernel.handle, &launch, arguments.all().data(), static_cast<uint64_t>(arguments.all().size())));
}

// Tensors of Baton's are there before, and its devices go on behind.
Status launch_on_stream(const Kernel& kernel, baton_kernel_launch& launch, const KernelArguments& arguments,
                        uint64_t stream) {
  launch.flags |= BATON_KERNEL_ON_STREAM;
  launch.stream = reinterpret_cast<void*>(static_cast<uintptr_t>(stream));
  if (stream <= 2) launch.ordinal = arguments.ordinal();
  const uint64_t ordered = stream ? stream : 1;  // The default stream, as queues know it.
  const Unlocked unlocked;
  for (const hal::Fence* fence : arguments.waits()) {
    BATON_TRY(arguments.devices()[0]->device().queue().hold_stream(ordered, fence->points()));
  }
  BATON_TRY(launch_unlocked(kernel, launch, arguments));
  for (const Ref<OpenDevice>& open : arguments.devices()) {
    BATON_TRY(open->device().queue().wait_for_stream(ordered));
  }
  return {};
}

Status launch_on_device(const Kernel& kernel, baton_kernel_launch& launch, const KernelArguments& arguments,
                        const Ref<OpenDevice>& open, bool wait) {
  const OwnedObject device(modules::wrap(open->shared()).detach());
  OwnedObject before, after;
  Ref<hal::Fence> done;
  launch.device = reinterpret_cast<baton_device*>(device.get());
  if (!arguments.waits().empty()) {
    before = OwnedObject(modules::wrap(hal::Fence::join(arguments.waits())).detach());
    launch.wait = reinterpret_cast<const baton_fence*>(before.get());
  }
  const Unlocked unlocked;
  if (wait) {
    BATON_TRY_ASSIGN(const Ref<hal::Semaphore> semaphore, open->device().make_semaphore(0));
    done = hal::Fence::at(*semaphore, 1);
    after = OwnedObject(modules::wrap(done).detach());
    launch.signal = reinterpret_cast<const baton_fence*>(after.get());
  }
  BATON_TRY(launch_unlocked(kernel, launch, arguments));
  return done ? done->wait() : Status();
}

void add_all(const Kernel& kernel, nb::args given, const LaunchPlace& place, KernelArguments& arguments) {
  for (nb::handle argument : given) {
    try {
      arguments.add(argument.ptr(), place);
    } catch (nb::python_error& error) {
      name_argument(error, kernel, arguments.all().size());
    } catch (nb::builtin_exception& error) {
      PyErr_SetString(PyExc_TypeError, error.what());
      nb::python_error raised;
      name_argument(raised, kernel, arguments.all().size());
    }
  }
}

void launch(Kernel& kernel, nb::handle grid, nb::handle block, nb::args given, nb::handle stream, nb::handle device,
            bool wait, uint32_t shared_bytes, nb::handle cluster, bool cooperative, bool early, int32_t priority) {
  drop_left_over();
  forget_cause();
  baton_kernel_launch shape = Shape{grid, block, cluster, shared_bytes, cooperative, early, priority}.door();
  LaunchPlace place;
  Ref<OpenDevice> open;
  read_place(given, stream, device, place, open);
  const bool declares = place.stream || may_declare(open);
  Status status;
  {
    const DropsHere drops;
    KernelArguments arguments(declares ? sizes_of(kernel) : std::span<const uint64_t>());
    add_all(kernel, given, place, arguments);
    status = place.stream ? launch_on_stream(kernel, shape, arguments, *place.stream)
                          : launch_on_device(kernel, shape, arguments, open, wait);
  }
  check(status);
}

void record(const CommandBuffer& commands, Kernel& kernel, nb::handle grid, nb::handle block, nb::args given,
            uint32_t shared_bytes, nb::handle cluster, bool cooperative, bool early, int32_t priority) {
  baton_command_buffer* open = commands.open();
  const baton_kernel_launch shape = Shape{grid, block, cluster, shared_bytes, cooperative, early, priority}.door();
  const bool declares = may_declare(nb::cast<const Device&>(commands.device).open);
  KernelArguments arguments(declares ? sizes_of(kernel) : std::span<const uint64_t>());
  add_all(kernel, given, {}, arguments);
  if (!arguments.waits().empty()) {
    throw nb::type_error("a tensor that is not there yet cannot be recorded; wait() for it first");
  }
  check(adopt(table().record(kernel.handle, open, &shape, arguments.all().data(), arguments.all().size())));
}

nb::dict occupancy(const Kernel& kernel, uint32_t threads, uint32_t shared_bytes, int32_t ordinal) {
  baton_kernel_occupancy found = {sizeof(found), 0, 0, 0};
  check(adopt(table().get_occupancy(kernel.handle, ordinal, threads, shared_bytes, &found)));
  nb::dict all;
  all["workgroups_per_multiprocessor"] = found.workgroups_per_multiprocessor;
  all["multiprocessors"] = found.multiprocessors;
  all["block_for_most"] = found.block_for_most;
  return all;
}

// KernelLibrary(code, name=) is load_library(): a slot of the type and no __new__ written in Python's terms, beside which
// object.__new__(KernelLibrary) would make an object that nanobind never heard of.
PyObject* load_library = nullptr;  // Kept for good.
PyObject* new_library(PyTypeObject*, PyObject* args, PyObject* keywords) noexcept {
  return PyObject_Call(load_library, args, keywords);
}
int leave_as_it_is(PyObject*, PyObject*, PyObject*) noexcept { return 0; }

PyType_Slot library_slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_library)},
                               {Py_tp_init, reinterpret_cast<void*>(leave_as_it_is)},
                               {0, nullptr}};

}  // namespace

void bind_kernels(nb::module_& module) {
  module.def("_load_library", &load, nb::arg("code").none(), nb::kw_only(), nb::arg("name") = "kernels");
  load_library = module.attr("_load_library").inc_ref().ptr();
  nb::class_<KernelLibrary>(module, "KernelLibrary", nb::type_slots(library_slots), nb::is_final())
      .def_static("compile", compile, nb::arg("source"), nb::kw_only(), nb::arg("arch") = "",
                  nb::arg("options") = nb::make_tuple(), nb::arg("headers") = nb::dict(),
                  nb::arg("name") = "kernels.cu")
      .def_static("link", link, nb::arg("parts"), nb::kw_only(), nb::arg("arch"), nb::arg("options") = nb::make_tuple(),
                  nb::arg("name") = "kernels")
      .def_static("load_triton", load_triton, nb::arg("metadata"), nb::arg("cubin"))
      .def("__getitem__", find, nb::arg("name"))
      .def("variable", variable, nb::arg("name"), nb::arg("ordinal") = 0)
      .def("unload", unload);
  nb::class_<Kernel>(module, "Kernel", nb::type_slots(kNoConstructorAlone), nb::is_final())
      .def_prop_ro("name", name_of)
      .def_prop_ro("parameter_sizes", parameter_sizes)
      .def("occupancy", occupancy, nb::arg("threads"), nb::arg("shared_bytes") = 0, nb::arg("ordinal") = 0)
      .def("launch", launch, nb::arg("grid"), nb::arg("block").none(), nb::arg("arguments"), nb::kw_only(),
           nb::arg("stream") = nb::none(), nb::arg("device") = nb::none(), nb::arg("wait") = true,
           nb::arg("shared_bytes") = 0, nb::arg("cluster") = nb::none(), nb::arg("cooperative") = false,
           nb::arg("early") = false, nb::arg("priority") = 0)
      .def("__repr__", [](const Kernel& kernel) {
        return nb::str(text("<baton.Kernel ", std::string_view(name_of(kernel).c_str()), ">").c_str());
      });
  module.attr("CommandBuffer").attr("kernel") =
      nb::cpp_function(record, nb::is_method(), nb::scope(module.attr("CommandBuffer")), nb::name("kernel"),
                       nb::arg("kernel"), nb::arg("grid"), nb::arg("block").none(), nb::arg("arguments"), nb::kw_only(),
                       nb::arg("shared_bytes") = 0, nb::arg("cluster") = nb::none(), nb::arg("cooperative") = false,
                       nb::arg("early") = false, nb::arg("priority") = 0);
}

}  // namespace baton::python
