#include "tools/support/devices.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "hal/drivers/local/import_plugin.hpp"
#include "hal/drivers/local/kernel_crash.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "hal/stepped_device.hpp"
#include "hal/timeline_observer.hpp"
#include "modules/kernel_library/device_functions.hpp"
#include "tools/flags/command_line.hpp"
#include "tools/support/device_report.hpp"
#include "tools/support/executable_files.hpp"
#include "tools/support/files.hpp"
#include "tools/support/report.hpp"

namespace baton::tools {
namespace {

// Standard output, in order with what the tool prints.
class OutputSink final : public hal::drivers::null::TraceSink {
 public:
  void write(std::string_view lines) override { print(lines); }
};

// A log: it grows while the program runs, and what is there when that fails is wanted most.
class FileSink final : public hal::drivers::null::TraceSink {
 public:
  FileSink(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}
  ~FileSink() override { check(std::fclose(file_) == 0); }
  void write(std::string_view lines) override {
    check(std::fwrite(lines.data(), 1, lines.size(), file_) == lines.size() && std::fflush(file_) == 0);
  }

 private:
  void check(bool is_written) {
    if (is_written) return;
    report_later(failure(StatusCode::kUnavailable, "'", path_, "' could not be written (", std::strerror(errno), ")"));
  }

  std::FILE* file_;
  std::string path_;
};

Result<hal::drivers::null::TraceOptions> open_trace(const std::string& path) {
  if (path.empty()) return hal::drivers::null::TraceOptions{};
  if (path == "-") return hal::drivers::null::TraceOptions{std::make_shared<OutputSink>(), false};
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) {
    return failure(StatusCode::kPermissionDenied, "'", path, "' could not be opened (", std::strerror(errno), ")");
  }
  const bool json = path.ends_with(".json") || path.ends_with(".jsonl");
  return hal::drivers::null::TraceOptions{std::make_shared<FileSink>(file, path), json};
}

// Device code goes to devices of CUDA and Vulkan, everything else is a library for the CPU.
Status add_plugin(const std::string& source, hal::drivers::DriverOptions& options) {
  if (source.find('?') == source.npos) {
    if (auto mapped = map_file(source); mapped.has_value()) {
      if (modules::is_device_code(mapped->bytes)) {
        return modules::add_device_functions(source, mapped->bytes, options);
      }
    }
  }
  BATON_TRY_ASSIGN(auto plugin, hal::drivers::local::load_import_plugin_source(source));
  options.local.imports.add(std::move(plugin));
  return {};
}

// The flags of Vulkan become parameters of its devices.
Status add_vulkan_parameters(const DeviceFlags& flags, std::vector<std::string>& uris) {
  std::string parameters;
  if (flags.vulkan_validation) parameters += "&vulkan_validation=1";
  if (!flags.vulkan_cache.empty()) parameters += text("&vulkan_cache=", flags.vulkan_cache);
  if (parameters.empty()) return {};
  if (flags.vulkan_cache.find('&') != std::string::npos) {
    return failure(StatusCode::kInvalidArgument, "--vulkan_cache: '&' ends a parameter of a device; '",
                   flags.vulkan_cache, "' cannot be told to one");
  }
  bool any = false;
  for (std::string& uri : uris) {
    if (!uri.starts_with("vulkan")) continue;
    any = true;
    uri += text(uri.find('?') == uri.npos ? "?" : "&", std::string_view(parameters).substr(1));
  }
  if (any) return {};
  return failure(StatusCode::kInvalidArgument, "--", flags.vulkan_validation ? "vulkan_validation" : "vulkan_cache",
                 " is for Vulkan devices; none is given");
}

// The flags of CUDA become parameters of its devices, which check them: "cuda://1?cuda_mode=graph". No other thread of
// a tool works on the legacy stream, so that a foreign call which does is found out.
Result<std::vector<std::string>> device_uris(const DeviceFlags& flags) {
  std::string parameters;
  if (!flags.cuda_mode.empty()) parameters += text("&cuda_mode=", flags.cuda_mode);
  if (flags.cuda_graph_report) parameters += "&cuda_graph_report=1";
  std::vector<std::string> uris = flags.devices;
  for (std::string& uri : uris) {
    if (flags.no_native_code && uri.starts_with("local"))
      uri += text(uri.find('?') == uri.npos ? "?" : "&", "native_code=0");
  }
  BATON_TRY(add_vulkan_parameters(flags, uris));
  bool any = false;
  std::string others;
  for (std::string& uri : uris) {
    others += text(others.empty() ? "" : ", ", uri);
    if (!uri.starts_with("cuda")) continue;
    any = true;
    std::string added = parameters;
    if (uri.find("cuda_legacy_stream=") == uri.npos) added += "&cuda_legacy_stream=guarded";
    if (!added.empty()) uri += text(uri.find('?') == uri.npos ? "?" : "&", std::string_view(added).substr(1));
  }
  if (any || parameters.empty()) return uris;
  return failure(StatusCode::kInvalidArgument, "--", flags.cuda_mode.empty() ? "cuda_graph_report" : "cuda_mode",
                 " is for CUDA devices; ", others.empty() ? "none is given" : text("given are: ", others));
}

}  // namespace

void add_no_native_code(flags::CommandLine& line, DeviceFlags& flags) {
  line.toggle("--no_native_code", flags.no_native_code,
              "Refuse machine code for the host that files carry: what runs is bytecode, and code of this tool");
}

void add_device_flags(flags::CommandLine& line, DeviceFlags& flags) {
  line.texts(
      "--device,-d", flags.devices,
      "local-sync, local-task?workers=4, null, cuda, vulkan; again for more: the program sees them in this order");
  line.text("--device_trace", flags.trace, "Where device null tells what it would do: a file (.json: JSON lines) or -");
  line.texts(
      "--executable_plugin", flags.executable_plugins,
      "Functions that kernels import: plugin.so or plugin.sos for CPUs, with ?key=value; PTX, cubin, fatbin, object, "
      "archive or LTO-IR for CUDA, SPIR-V for Vulkan; again for more");
  line.texts("--executable", flags.executables,
             "name=file: kernels that programs ask for by that name; again for more, or for more variants of one");
  line.text("--cuda_mode", flags.cuda_mode, "How CUDA devices execute recordings: auto, stream or graph");
  line.toggle("--cuda_graph_report", flags.cuda_graph_report, "What each CUDA graph took and brought, at the end");
  add_no_native_code(line, flags);
  line.toggle("--no_crash_names", flags.no_crash_names,
              "Leave signals alone; else a kernel that ends the process is named first");
  line.toggle("--vulkan_validation", flags.vulkan_validation,
              "Khronos' validation layer watches Vulkan devices; what it says goes to standard error");
  line.text("--vulkan_cache", flags.vulkan_cache,
            "A folder where Vulkan devices keep compiled pipelines, for the next process");
  line.toggle("--list_drivers", flags.list_drivers, "Print the drivers of this build and exit");
  line.toggle("--list_devices", flags.list_devices, "Print what --device= may name and exit");
  line.toggle("--dump_devices", flags.dump_devices, "Print the same with all that is known of each, and exit");
}

Result<hal::DriverRegistry> make_driver_registry(const DeviceFlags& flags) {
  hal::drivers::DriverOptions options;
  BATON_TRY_ASSIGN(options.null, open_trace(flags.trace));
  for (const std::string& source : flags.executable_plugins) {
    BATON_TRY(add_plugin(source, options));
  }
  options.local.dispatch_times = flags.dispatch_times;
  options.cuda.timeline = options.vulkan.timeline = flags.listens_to_drivers ? flags.timeline : nullptr;
  hal::DriverRegistry registry;
  BATON_TRY(hal::drivers::register_drivers(registry, std::move(options)));
  return registry;
}

Result<std::vector<Ref<hal::Device>>> open_devices(const hal::DriverRegistry& registry, const DeviceFlags& flags) {
  if (!flags.no_crash_names) hal::drivers::local::name_kernel_crashes();
  std::vector<Ref<hal::Device>> devices;
  BATON_TRY_ASSIGN(const std::vector<std::string> uris, device_uris(flags));
  for (const std::string& uri : uris) {
    BATON_TRY_ASSIGN(Ref<hal::Device> device, registry.open(uri));
    if (flags.step_listener) device = hal::step(std::move(device), flags.step_listener);
    devices.push_back(flags.timeline ? hal::observe(std::move(device), *flags.timeline) : std::move(device));
  }
  if (flags.executables.empty()) return devices;
  BATON_TRY_ASSIGN(const auto executables, register_executables(flags.executables));
  for (const Ref<hal::Device>& device : devices) device->set_executables(executables);
  return devices;
}

namespace {

void print_device(std::string_view name, std::string_view description) {
  print(text(name, std::string(name.size() < 16 ? 16 - name.size() : 1, ' '), description, "\n"));
}

// A driver of this build whose devices are not on this machine says why.
Status print_devices(hal::Driver& driver) {
  const auto devices = driver.list();
  if (!devices.has_value()) {
    if (devices.error().code() != StatusCode::kUnavailable) return devices.error().clone();
    print_device(driver.name(), text("none: ", devices.error().message()));
    return {};
  }
  for (const hal::DeviceInfo& device : *devices) {
    print_device(hal::device_uri(driver.name(), device), device.description);
  }
  return {};
}

}  // namespace

Result<bool> print_device_lists(const hal::DriverRegistry& registry, const DeviceFlags& flags) {
  if (flags.list_drivers) {
    for (const auto& driver : registry.drivers()) print(text(driver->name(), "\n"));
  }
  if (flags.list_devices) {
    for (const auto& driver : registry.drivers()) {
      BATON_TRY(print_devices(*driver));
    }
  }
  if (flags.dump_devices) print(devices_text(ask_drivers(registry, hal::drivers::left_out_drivers())));
  return flags.list_drivers || flags.list_devices || flags.dump_devices;
}

}  // namespace baton::tools
