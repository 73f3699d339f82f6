#include "hal/drivers/local/driver.hpp"

#include <unistd.h>

#include <charconv>

#include "hal/drivers/local/code_loader.hpp"
#include "hal/drivers/local/device.hpp"
#include "hal/drivers/local/processor.hpp"

namespace baton::hal::drivers::local {
namespace {

constexpr uint32_t kMicrosMax = 1'000'000;

Result<uint32_t> parse_number(std::string_view key, std::string_view value, uint32_t least, uint32_t most) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && end == value.data() + value.size() && number >= least && number <= most) return number;
  return failure(StatusCode::kInvalidArgument, "Parameter ", key, " (", value, ") is not a number from ", least, " to ",
                 most, ".");
}

struct DeviceOptions {
  TaskPoolOptions pool{.worker_count = 0};  // No workers: local-sync.
  bool native_code = true;
};

Status set_parameter(std::string_view key, std::string_view value, DeviceOptions& options) {
  if (key == "native_code") {
    BATON_TRY_ASSIGN(const uint32_t allowed, parse_number(key, value, 0, 1));
    options.native_code = allowed != 0;
    return {};
  }
  const bool is_task = options.pool.worker_count != 0;
  if (is_task && key == "workers") {
    BATON_TRY_ASSIGN(options.pool.worker_count, parse_number(key, value, 1, kWorkersMax));
    return {};
  }
  if (is_task && (key == "spin_us" || key == "inline_us")) {
    BATON_TRY_ASSIGN(const uint32_t micros, parse_number(key, value, 0, kMicrosMax));
    (key == "spin_us" ? options.pool.spin_ns : options.pool.inline_ns) = int64_t{micros} * 1000;
    return {};
  }
  return failure(StatusCode::kInvalidArgument, "Device local-", is_task ? "task" : "sync", " has no parameter '", key,
                 "'.");
}

std::vector<DeviceFact> host_facts() {
  const auto pages = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES));
  return {{"architecture", std::string(host_code_architecture())},
          {"processors", static_cast<int64_t>(sysconf(_SC_NPROCESSORS_ONLN))},
          {"memory_bytes", pages * static_cast<int64_t>(sysconf(_SC_PAGESIZE))},
          {"features", processor_features()},
          {"formats", text("embedded-elf-", host_code_architecture(), " system-elf-", host_code_architecture(),
                           " static-library")}};
}

class LocalDriver final : public Driver {
 public:
  explicit LocalDriver(Options options) : options_(std::make_shared<Options>(std::move(options))) {}

  std::string_view name() const override { return "local"; }

  Result<std::vector<DeviceInfo>> list() override {
    std::vector<DeviceFact> facts = host_facts();
    std::vector<DeviceFact> task_facts = facts;
    task_facts.push_back({"workers", int64_t{default_worker_count()}});
    task_facts.push_back({"parameters", text("workers=1..", kWorkersMax, " spin_us=0..", kMicrosMax, " inline_us=0..",
                                             kMicrosMax, " native_code=0..1")});
    facts.push_back({"parameters", "native_code=0..1"});
    return std::vector<DeviceInfo>{{"sync", "the host, inline on the calling thread", std::move(facts)},
                                   {"task", "the host, on a pool of workers", std::move(task_facts)}};
  }

  Result<Ref<hal::Device>> open(std::string_view path, std::span<const DeviceParameter> parameters) override {
    if (path != "" && path != "sync" && path != "task") {
      return failure(StatusCode::kNotFound, "The local driver has devices 'sync' and 'task', no '", path, "'.");
    }
    DeviceOptions device;
    if (path == "task") device.pool.worker_count = default_worker_count();
    for (const auto& [key, value] : parameters) BATON_TRY(set_parameter(key, value, device));
    return make_device(options_, device.pool, device.native_code);
  }

 private:
  std::shared_ptr<const Options> options_;
};

}  // namespace

std::unique_ptr<Driver> make_driver(Options options) { return std::make_unique<LocalDriver>(std::move(options)); }

}  // namespace baton::hal::drivers::local
