#include "python/extension/devices.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <mutex>
#include <unordered_map>

#include "hal/allocator.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "hal/queue.hpp"
#include "hal/timeline_observer.hpp"
#include "modules/kernel_library/device_functions.hpp"
#include "python/extension/arrays.hpp"
#include "python/extension/executables.hpp"
#include "python/extension/interrupts.hpp"
#include "python/extension/no_constructor.hpp"
#include "python/extension/trace.hpp"

namespace baton::python {
namespace {

using FunctionFiles = std::vector<std::pair<std::string, nb::bytes>>;  // Names for messages, code.

// Every device that is open, for the child of a fork; and all drivers of this build.
struct OpenDevices {
  std::mutex mutex;
  std::unordered_map<OpenDevice*, hal::Device*> all;
};
OpenDevices& open_devices() {
  static auto* one = new OpenDevices;
  return *one;
}

hal::DriverRegistry& drivers() {
  static hal::DriverRegistry* one = [] {
    auto* registry = new hal::DriverRegistry;
    check(hal::drivers::register_drivers(*registry));
    return registry;
  }();
  return *one;
}

// What drivers of its own know: the timeline, or null, and the functions.
Result<hal::drivers::DriverOptions> options_for(const std::string& uri, Timeline* timeline,
                                                const FunctionFiles& functions) {
  hal::drivers::DriverOptions options;
  options.cuda.timeline = timeline;
  options.vulkan.timeline = timeline;
  for (const auto& [name, held] : functions) {
    const auto code = std::as_bytes(std::span(held.c_str(), held.size()));
    BATON_TRY(modules::check_takes_device_functions(uri, name, code));
    BATON_TRY(modules::add_device_functions(name, code, options));
  }
  return options;
}

Result<Ref<hal::Device>> open_alone(const std::string& uri, hal::drivers::DriverOptions options) {
  Timeline* const timeline = options.cuda.timeline;
  hal::DriverRegistry registry;
  BATON_TRY(hal::drivers::register_drivers(registry, std::move(options)));
  BATON_TRY_ASSIGN(Ref<hal::Device> device, registry.open(uri));
  return timeline ? hal::observe(std::move(device), *timeline) : std::move(device);
}

// A device with functions, and inside a trace any, is one of its own.
Device open(const std::string& uri, const FunctionFiles& functions) {
  hal::DriverRegistry& registry = drivers();
  Timeline* const timeline = active_timeline();
  const bool alone = timeline || !functions.empty();
  Ref<OpenDevice> held = alone ? nullptr : OpenDevice::find(uri);
  if (held) return Device(std::move(held));
  hal::drivers::DriverOptions options = take(options_for(uri, timeline, functions));
  Result<Ref<hal::Device>> device = [&] {
    const Unlocked unlocked;
    return alone ? open_alone(uri, std::move(options)) : registry.open(uri);
  }();
  return Device(make_ref<OpenDevice>(take(std::move(device)), functions.empty() ? uri : std::string()));
}

// [(uri, description, {fact: value})]; a driver that finds none says why in place of a description.
nb::list list_devices() {
  nb::list all;
  for (const auto& driver : drivers().drivers()) {
    auto found = driver->list();
    if (!found) {
      nb::dict facts;
      facts["unavailable"] = std::string(found.error().message()).c_str();
      all.append(nb::make_tuple(nb::none(), std::string(driver->name()).c_str(), facts));
      continue;
    }
    for (const hal::DeviceInfo& info : *found) {
      nb::dict facts;
      for (const hal::DeviceFact& fact : info.facts) {
        const int64_t* number = std::get_if<int64_t>(&fact.value);
        facts[fact.name.c_str()] =
            number ? nb::object(nb::int_(*number)) : nb::object(nb::str(std::get<std::string>(fact.value).c_str()));
      }
      all.append(nb::make_tuple(hal::device_uri(driver->name(), info).c_str(), info.description.c_str(), facts));
    }
  }
  return all;
}

nb::tuple memory_use(const Device& device) {
  const hal::MemoryUse use = device.hal().allocator().memory_use();
  return nb::make_tuple(use.live_bytes, use.peak_bytes);
}

// In place where the device works in the array's memory, else a copy, which may be on its way.
nb::object make_tensor_of(const Device& device, nb::handle value) {
  check(device.open->check_usable());
  hal::Uploads uploads(device.hal());
  Ref<hal::BufferView> view = view_of(value.ptr(), {*device.open, &uploads}, {});
  if (const Tensor* tensor = tensor_in(value.ptr()); tensor && tensor->view.get() == view.get()) {
    return make_tensor(std::move(view), device.open, tensor->ready);
  }
  auto begun = [&] {
    const Unlocked unlocked;
    return uploads.begin();
  }();
  return make_tensor(std::move(view), device.open, take(std::move(begun)));
}

int64_t query(const Device& device, const char* category, const char* key) {
  return take(device.hal().query(category, key));
}

void wait_idle(const Device& device) {
  Status status = device.open->check_usable();
  hal::Queue& queue = device.hal().queue();
  if (status.ok()) status = wait_for_signals_too([&](int64_t timeout_ns) { return queue.wait_idle(timeout_ns); });
  check(status);
}

// Python is about to end: what is in flight may still call its functions, which it cannot later. Afterwards devices
// stay open: their threads end with the process.
void before_exit() {
  constexpr int64_t kPatienceNs = 5'000'000'000;
  std::vector<Ref<hal::Device>> all;
  {
    const std::lock_guard lock(open_devices().mutex);
    for (const auto& [open, device] : open_devices().all) {
      if (open->check_usable().ok()) all.emplace_back(device);
    }
  }
  const Unlocked unlocked;
  for (const Ref<hal::Device>& device : all) {
    const Status failed_earlier = device->queue().wait_idle(kPatienceNs);
    device->retain();
  }
}

}  // namespace

OpenDevice::OpenDevice(Ref<hal::Device> device, std::string uri)
    : device_(std::move(device)),
      uri_(std::move(uri)),
      generation_(fork_generation()),
      has_threads_(device_->name() != "local-sync" && device_->name() != "null") {
  const std::lock_guard lock(open_devices().mutex);
  open_devices().all.emplace(this, device_.get());
}

OpenDevice::~OpenDevice() {
  const std::lock_guard lock(open_devices().mutex);
  open_devices().all.erase(this);
}

Status OpenDevice::refuse_after_fork() const {
  if (!has_threads_) return {};
  return failure(StatusCode::kFailedPrecondition, "Device '", device_->name(),
                 "' was opened before this process was forked, and its threads stayed in the parent; open it in the "
                 "child, or start children with multiprocessing's 'spawn'.");
}

bool OpenDevice::retain_if_alive() {
  uint32_t count = count_.load(std::memory_order_relaxed);
  while (count != 0) {
    if (count_.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) return true;
  }
  return false;
}

// Who destroys one takes it out of the map first, so what is found there can be looked at.
Ref<OpenDevice> OpenDevice::find(const std::string& uri) {
  const std::lock_guard lock(open_devices().mutex);
  for (const auto& [open, device] : open_devices().all) {
    const bool is_it = !uri.empty() && open->uri_ == uri && open->generation_ == fork_generation();
    if (is_it && open->retain_if_alive()) return Ref<OpenDevice>::adopt(open);
  }
  return nullptr;
}

void OpenDevice::keep_all() {
  for (const auto& [open, device] : open_devices().all) device->retain();
}

void release_device(Ref<OpenDevice> device) {
  if (!device) return;
  const Unlocked unlocked;
  device = nullptr;
}

void bind_devices(nb::module_& module) {
  nb::class_<Device>(module, "Device", nb::is_weak_referenceable(), nb::type_slots(kNoConstructorAlone), nb::is_final())
      .def_prop_ro("name", [](const Device& device) { return nb::str(device.hal().name().c_str()); })
      .def_prop_ro("memory_use", memory_use)
      .def("query", query, nb::arg("category"), nb::arg("key"))
      .def("wait", wait_idle)
      .def("tensor", make_tensor_of, nb::arg("value").none())
      .def("executable", make_executable, nb::arg("variants"), nb::arg("entry_points") = nb::none(),
           nb::arg("name") = "python", nb::arg("constants") = nb::make_tuple())
      .def("__eq__",
           [](const Device& device, nb::handle other) {
             return nb::isinstance<Device>(other) && &nb::cast<const Device&>(other).hal() == &device.hal();
           })
      .def("__hash__", [](const Device& device) { return reinterpret_cast<intptr_t>(&device.hal()); })
      .def("__repr__",
           [](const Device& device) { return nb::str(text("<baton.Device ", device.hal().name(), ">").c_str()); });
  module.def("open_device", open, nb::arg("uri"), nb::arg("functions"));
  module.def("list_devices", list_devices);
  module.def("left_out_drivers", [] {
    nb::dict left_out;
    for (const auto& driver : hal::drivers::left_out_drivers()) {
      left_out[std::string(driver.name).c_str()] = std::string(driver.reason).c_str();
    }
    return left_out;
  });
  module.def("before_exit", before_exit);
  module.def("after_fork_in_child", [] {
    note_fork();
    OpenDevice::keep_all();
  });
}

}  // namespace baton::python
