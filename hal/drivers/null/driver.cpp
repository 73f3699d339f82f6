#include "hal/drivers/null/driver.hpp"

#include <cstdio>

#include "hal/drivers/null/device.hpp"

namespace baton::hal::drivers::null {
namespace {

class FileSink final : public TraceSink {
 public:
  explicit FileSink(std::FILE* file) : file_(file) {}
  ~FileSink() override {
    if (file_ != stdout) std::fclose(file_);
  }
  void write(std::string_view lines) override {
    std::fwrite(lines.data(), 1, lines.size(), file_);
    std::fflush(file_);
  }

 private:
  std::FILE* file_;
};

Result<std::shared_ptr<TraceSink>> open_sink(std::string_view path) {
  std::FILE* file = path == "-" ? stdout : std::fopen(std::string(path).c_str(), "w");
  if (!file) return failure(StatusCode::kPermissionDenied, "Cannot write the trace file '", path, "'.");
  return std::shared_ptr<TraceSink>(std::make_shared<FileSink>(file));
}

class NullDriver final : public Driver {
 public:
  explicit NullDriver(TraceOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "null"; }

  Result<std::vector<DeviceInfo>> list() override {
    return std::vector<DeviceInfo>{{"",
                                    "runs nothing; prints the command stream",
                                    {{"formats", "any"}, {"parameters", "trace=<path> trace_format=text|json"}}}};
  }

  Result<Ref<hal::Device>> open(std::string_view path, std::span<const DeviceParameter> parameters) override {
    if (!path.empty()) return failure(StatusCode::kNotFound, "The null driver has one device, no '", path, "'.");
    TraceOptions options = options_;
    for (const auto& [key, value] : parameters) {
      if (key == "trace") {
        BATON_TRY_ASSIGN(options.sink, open_sink(value));
      } else if (key == "trace_format" && (value == "text" || value == "json")) {
        options.json = value == "json";
      } else {
        return failure(StatusCode::kInvalidArgument, "Device null has no parameter '", key, "=", value,
                       "'; it takes trace=<path> and trace_format=text|json.");
      }
    }
    return Ref<hal::Device>(make_ref<Device>(std::move(options)));
  }

 private:
  TraceOptions options_;
};

}  // namespace

std::unique_ptr<Driver> make_driver(TraceOptions options) { return std::make_unique<NullDriver>(std::move(options)); }

}  // namespace baton::hal::drivers::null
