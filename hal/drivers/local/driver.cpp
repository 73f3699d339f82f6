#include "hal/drivers/local/driver.hpp"

#include <unistd.h>

#include <charconv>

#include "hal/drivers/local/code_loader.hpp"
#include "hal/drivers/local/device.hpp"
#include "hal/drivers/local/processor.hpp"

namespace baton::hal::drivers::local {
namespace {

Result<uint32_t> parse_worker_count(std::string_view value) {
  uint32_t count = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (error == std::errc() && end == value.data() + value.size() && count >= 1 && count <= kWorkersMax) return count;
  return failure(StatusCode::kInvalidArgument, "Parameter workers (", value, ") is not a number from 1 to ",
                 kWorkersMax, ".");
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
    task_facts.push_back({"parameters", text("workers=1..", kWorkersMax)});
    return std::vector<DeviceInfo>{{"sync", "the host, inline on the calling thread", std::move(facts)},
                                   {"task", "the host, on a pool of workers", std::move(task_facts)}};
  }

  Result<Ref<hal::Device>> open(std::string_view path, std::span<const DeviceParameter> parameters) override {
    if (path != "" && path != "sync" && path != "task") {
      return failure(StatusCode::kNotFound, "The local driver has devices 'sync' and 'task', no '", path, "'.");
    }
    uint32_t workers = default_worker_count();
    for (const auto& [key, value] : parameters) {
      if (path != "task" || key != "workers") {
        return failure(StatusCode::kInvalidArgument, "Device local-", path.empty() ? "sync" : path,
                       " has no parameter '", key, "'.");
      }
      BATON_TRY_ASSIGN(workers, parse_worker_count(value));
    }
    return make_device(options_, path == "task" ? workers : 0);
  }

 private:
  std::shared_ptr<const Options> options_;
};

}  // namespace

std::unique_ptr<Driver> make_driver(Options options) { return std::make_unique<LocalDriver>(std::move(options)); }

}  // namespace baton::hal::drivers::local
