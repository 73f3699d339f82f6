#include "hal/drivers/vulkan/driver.hpp"

#include <algorithm>
#include <charconv>
#include <mutex>

#include "hal/drivers/vulkan/device.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

constexpr size_t kNameMin = 4, kUuidMin = 8;  // The least that is reported of either.

struct Parameters {
  Validation validation = Validation::kOff;
  std::string cache_folder;
};

Result<Parameters> parse(std::span<const DeviceParameter> parameters) {
  Parameters parsed;
  for (const auto& [key, value] : parameters) {
    if (key == "vulkan_validation" && (value == "0" || value == "1" || value == "fatal")) {
      parsed.validation = value == "0" ? Validation::kOff : value == "1" ? Validation::kOn : Validation::kFatal;
    } else if (key == "vulkan_cache" && !value.empty()) {
      parsed.cache_folder = value;
    } else {
      return failure(StatusCode::kInvalidArgument, "Device vulkan has no parameter '", key, "=", value,
                     "'; it takes vulkan_validation=0|1|fatal and vulkan_cache=FOLDER.");
    }
  }
  return parsed;
}

bool parse_index(std::string_view path, size_t& index) {
  const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), index);
  return error == std::errc() && end == path.data() + path.size();
}

// The place in the list that `path` means.
Result<size_t> find_device(std::span<const DeviceFacts> devices, std::string_view path) {
  if (devices.empty()) return failure(StatusCode::kUnavailable, "No Vulkan device: the loader sees none.");
  if (path.empty()) return size_t{0};
  size_t index = 0;
  if (parse_index(path, index) && index < devices.size()) return index;
  std::string known;
  for (index = 0; index < devices.size(); ++index) {
    const DeviceFacts& facts = devices[index];
    if (path.size() >= kNameMin && facts.name.starts_with(path)) return index;
    if (path.size() >= kUuidMin && facts.uuid.starts_with(path)) return index;
    known += text(known.empty() ? "" : ", ", index, " (", facts.name, ", ", facts.uuid, ")");
  }
  return failure(StatusCode::kNotFound, "There is no Vulkan device '", path, "'; there are: ", known, ".");
}

class VulkanDriver final : public Driver {
 public:
  explicit VulkanDriver(Options options)
      : functions_(std::make_shared<const std::vector<DeviceFunctions>>(std::move(options.functions))),
        options_(std::move(options)) {}

  std::string_view name() const override { return "vulkan"; }

  Result<std::vector<DeviceInfo>> list() override {
    BATON_TRY_ASSIGN(const Ref<Instance> instance, open_instance(Validation::kOff));
    BATON_TRY_ASSIGN(const std::vector<DeviceFacts> devices, list_devices(*instance));
    if (devices.empty()) return failure(StatusCode::kUnavailable, "No Vulkan device: the loader sees none.");
    std::vector<DeviceInfo> infos;
    for (size_t i = 0; i < devices.size(); ++i) infos.push_back(describe(devices[i], i));
    return infos;
  }

  Result<Ref<hal::Device>> open(std::string_view path, std::span<const DeviceParameter> parameters) override {
    BATON_TRY_ASSIGN(const Parameters wanted, parse(parameters));
    BATON_TRY_ASSIGN(const Ref<Instance> instance, open_instance(wanted.validation));
    BATON_TRY_ASSIGN(std::vector<DeviceFacts> devices, list_devices(*instance));
    BATON_TRY_ASSIGN(const size_t index, find_device(devices, path));
    for (uint32_t& most : devices[index].limits.maxComputeWorkGroupCount)
      most = std::min(most, options_.workgroups_max);
    BATON_TRY_ASSIGN(Ref<Context> context, Context::open(instance, devices[index], wanted.cache_folder));
    return Device::make(text("vulkan://", index), std::move(context), functions_, options_.timeline);
  }

 private:
  // One of a kind: loading drivers takes tens of milliseconds.
  Result<Ref<Instance>> open_instance(Validation validation) {
    const std::lock_guard lock(mutex_);
    Ref<Instance>& instance = instances_[static_cast<size_t>(validation)];
    if (!instance) {
      BATON_TRY_ASSIGN(instance, Instance::make(validation, options_.validation_listener));
    }
    return instance;
  }

  const FunctionList functions_;
  const Options options_;  // Without functions.
  std::mutex mutex_;
  Ref<Instance> instances_[3];  // By what watches them. Guarded by mutex_.
};

}  // namespace

std::unique_ptr<Driver> make_driver(Options options) { return std::make_unique<VulkanDriver>(std::move(options)); }

}  // namespace baton::hal::drivers::vulkan
