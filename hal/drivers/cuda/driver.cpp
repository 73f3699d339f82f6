#include "hal/drivers/cuda/driver.hpp"

#include <charconv>
#include <mutex>

#include "hal/drivers/cuda/cupti.hpp"
#include "hal/drivers/cuda/device.hpp"
#include "hal/drivers/cuda/kernel_code.hpp"
#include "hal/drivers/cuda/work_listener.hpp"

namespace baton::hal::drivers::cuda {
namespace {

constexpr uint32_t kStreamsMax = 16;

Status bad_parameter(const DeviceParameter& parameter) {
  return failure(StatusCode::kInvalidArgument, "Device cuda has no parameter '", parameter.first, "=", parameter.second,
                 "'; it takes cuda_mode=auto|stream|graph, cuda_streams=1..", kStreamsMax,
                 ", cuda_capture_check=0|1, cuda_legacy_stream=guarded|shared, cuda_peer_reduction=0|1 and "
                 "cuda_graph_report=0|1.");
}

bool parse_number(std::string_view text, uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_switch(std::string_view text, bool& value) {
  value = text == "1";
  return text == "0" || text == "1";
}

bool parse_mode(std::string_view text, Mode& mode) {
  mode = text == "stream" ? Mode::kStream : text == "graph" ? Mode::kGraph : Mode::kAuto;
  return text == "stream" || text == "graph" || text == "auto";
}

Result<DeviceOptions> parse_options(std::span<const DeviceParameter> parameters) {
  DeviceOptions options;
  for (const DeviceParameter& parameter : parameters) {
    const auto& [key, value] = parameter;
    bool good = false;
    if (key == "cuda_mode") good = parse_mode(value, options.mode);
    if (key == "cuda_capture_check") good = parse_switch(value, options.captures.check_twice);
    if (key == "cuda_legacy_stream") {
      options.captures.share_legacy_stream = value == "shared";
      good = value == "shared" || value == "guarded";
    }
    if (key == "cuda_peer_reduction") good = parse_switch(value, options.peer_reduction);
    if (key == "cuda_graph_report") good = parse_switch(value, options.graph_report);
    if (key == "cuda_streams") {
      good =
          parse_number(value, options.stream_count) && options.stream_count >= 1 && options.stream_count <= kStreamsMax;
    }
    if (!good) return bad_parameter(parameter);
  }
  return options;
}

std::string describe(const DeviceFacts& facts) {
  return text(facts.name, ", sm_", facts.arch(), ", ", facts.memory_bytes >> 20, " MiB, ", facts.multiprocessors,
              " multiprocessors, driver ", version_text(facts.driver_version), ", ", facts.uuid_text());
}

std::vector<DeviceFact> list_facts(const DeviceFacts& facts) {
  const int arch = facts.arch();
  const auto rate = [](int64_t a_second) { return a_second != 0 ? text(a_second / 1'000'000'000, "e9") : "unknown"; };
  const auto listed = [](const char* name, bool has) { return has ? name : ""; };
  return {{"architecture", text("sm_", arch)},
          {"memory_bytes", static_cast<int64_t>(facts.memory_bytes)},
          {"multiprocessors", int64_t{facts.multiprocessors}},
          {"threads_per_block_max", int64_t{facts.threads_per_block_max}},
          {"shared_bytes_max", int64_t{facts.shared_bytes_max}},
          {"l2_bytes", int64_t{facts.l2_bytes}},
          {"peak_bytes_per_second", rate(facts.peak_bytes_per_second())},
          {"peak_f32_flops_per_second", rate(facts.peak_f32_flops_per_second())},
          {"driver_version", version_text(facts.driver_version)},
          {"uuid", facts.uuid_text()},
          {"features", text("streams graphs capture", listed(" memory-pools", facts.memory_pools),
                            listed(" cooperative-launch", facts.cooperative))},
          {"formats", text("cuda-sm_", arch, " cuda-fatbin cuda-ptx-compute_", arch, " (and older) cuda-ptx")},
          {"parameters", text("cuda_mode=auto|stream|graph cuda_streams=1..", kStreamsMax,
                              " cuda_capture_check=0|1 cuda_legacy_stream=guarded|shared cuda_peer_reduction=0|1 "
                              "cuda_graph_report=0|1")}};
}

class CudaDriver final : public Driver {
 public:
  explicit CudaDriver(Options options)
      : symbols_(std::move(options.symbols)),
        nccl_(std::move(options.nccl)),
        functions_(std::make_shared<const RegisteredFunctions>(
            RegisteredFunctions{std::move(options.functions), std::move(options.linker)})),
        timeline_(options.timeline),
        cupti_(std::move(options.cupti)) {}

  std::string_view name() const override { return "cuda"; }

  Result<std::vector<DeviceInfo>> list() override {
    BATON_TRY_ASSIGN(const auto symbols, open_symbols());
    BATON_TRY_ASSIGN(const int count, device_count(*symbols));
    std::vector<DeviceInfo> devices;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      BATON_TRY_ASSIGN(const DeviceFacts facts, facts_of(*symbols, ordinal));
      devices.push_back({text(ordinal), describe(facts), list_facts(facts)});
    }
    return devices;
  }

  Result<Ref<hal::Device>> open(std::string_view path, std::span<const DeviceParameter> parameters) override {
    BATON_TRY_ASSIGN(DeviceOptions options, parse_options(parameters));
    options.functions = functions_;
    BATON_TRY_ASSIGN(const auto symbols, open_symbols());
    BATON_TRY_ASSIGN(const int ordinal, find(*symbols, path));
    BATON_TRY_ASSIGN(Ref<PrimaryContext> context, PrimaryContext::retain_device(symbols, ordinal));
    if (timeline_) context->set_work_listener(work_listener(symbols));
    return Device::make(text("cuda://", ordinal), std::move(context), options, nccl_);
  }

  Result<Ref<hal::KernelCode>> load_kernels(const KernelCodeRequest& request) override {
    BATON_TRY_ASSIGN(auto symbols, open_symbols());
    return KernelCode::make(std::move(symbols), request);
  }

 private:
  // By CUPTI where it can be had; else by events, and the timeline says why.
  std::shared_ptr<WorkListener> work_listener(const std::shared_ptr<const Symbols>& symbols) {
    const std::lock_guard lock(mutex_);
    if (!listener_) {
      std::string why_not;
      if (auto loaded = cupti_ ? Result<std::shared_ptr<const CuptiSymbols>>(cupti_) : load_cupti();
          loaded.has_value()) {
        listener_ = listen_by_cupti(*loaded, *timeline_, why_not);
      } else {
        why_not = loaded.error().message();
      }
      if (!listener_) {
        timeline_->note(text("cuda: spans by events, one for each launch (", why_not, ")"));
        listener_ = listen_by_events(symbols, *timeline_);
      }
    }
    return listener_;
  }

  Result<std::shared_ptr<const Symbols>> open_symbols() {
    std::lock_guard lock(mutex_);
    if (!started_) {
      if (symbols_) {
        BATON_TRY(start(*symbols_));
      } else {
        BATON_TRY_ASSIGN(symbols_, load_symbols());
      }
      started_ = true;
    }
    return symbols_;
  }

  static Result<int> device_count(const Symbols& symbols) {
    int count = 0;
    BATON_CUDA_TRY(symbols, cuDeviceGetCount, &count);
    return count;
  }

  static Result<DeviceFacts> facts_of(const Symbols& symbols, int ordinal) {
    CUdevice device = 0;
    BATON_CUDA_TRY(symbols, cuDeviceGet, &device, ordinal);
    return ask_facts(symbols, device);
  }

  // By index, or by UUID with or without its end.
  static Result<int> find(const Symbols& symbols, std::string_view path) {
    BATON_TRY_ASSIGN(const int count, device_count(symbols));
    if (path.empty()) return 0;
    uint32_t index = 0;
    if (parse_number(path, index) && index < static_cast<uint32_t>(count)) return static_cast<int>(index);
    std::string known;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      BATON_TRY_ASSIGN(const DeviceFacts facts, facts_of(symbols, ordinal));
      if (path.size() >= 8 && facts.uuid_text().starts_with(path)) return ordinal;
      known += text(known.empty() ? "" : ", ", ordinal, " (", facts.uuid_text(), ")");
    }
    return failure(StatusCode::kNotFound, "There is no CUDA device '", path, "'; there are: ", known, ".");
  }

  std::mutex mutex_;
  std::shared_ptr<const Symbols> symbols_;  // Guarded by mutex_ until started_.
  const std::shared_ptr<const Nccl> nccl_;
  const FunctionList functions_;
  bool started_ = false;      // Guarded by mutex_.
  Timeline* const timeline_;  // Null: no trace is taken.
  const std::shared_ptr<const CuptiSymbols> cupti_;
  std::shared_ptr<WorkListener> listener_;  // Guarded by mutex_; made for the first device.
};

}  // namespace

std::unique_ptr<Driver> make_driver(Options options) { return std::make_unique<CudaDriver>(std::move(options)); }

}  // namespace baton::hal::drivers::cuda
