#include "modules/parameters_module/parameters_module.hpp"

#include <cstring>
#include <memory>

#include "base/bytes.hpp"
#include "modules/hal_module/constant_buffer.hpp"
#include "modules/hal_module/objects.hpp"
#include "modules/shared_module.hpp"

namespace baton::modules {
namespace {

bool is_aligned(std::span<const std::byte> bytes, hal::ElementType type) {
  return reinterpret_cast<uintptr_t>(bytes.data()) % std::max(element_bytes(type), 1u) == 0;
}

// In place on devices in host memory. Nothing pads the tensors of a safetensors file: one that does not lie on a
// multiple of its element's size, where kernels could not read it, is copied.
Result<baton::Ref<hal::Buffer>> buffer_of(hal::Device& device, const FileParameter& parameter,
                                          std::span<const std::byte> bytes) {
  BATON_TRY(parameter.file->check_whole());
  if (is_aligned(bytes, parameter.element_type)) {
    parameter.file->retain();
    return make_constant_buffer(device, bytes,
                                {[](void* file) { static_cast<MappedFile*>(file)->release(); }, parameter.file.get()});
  }
  auto copy = std::make_unique<std::byte[]>(bytes.size());
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  const std::span<const std::byte> copied(copy.get(), bytes.size());
  return make_constant_buffer(device, copied,
                              {[](void* data) { delete[] static_cast<std::byte*>(data); }, copy.release()});
}

class ParametersModule final : public sdk::Module<ParametersModule> {
 public:
  explicit ParametersModule(ParameterFiles files) : files_(std::move(files)) {}

  baton::Result<int64_t> length(std::string_view scope, std::string_view key) const {
    BATON_TRY_ASSIGN(const FileParameter* parameter, files_.find(scope, key));
    return static_cast<int64_t>(parameter->bytes.size());
  }

  // Length -1: up to the end.
  baton::Result<baton::Ref<hal::Buffer>> load(hal::Device& device, std::string_view scope, std::string_view key,
                                              int64_t offset, int64_t length) const {
    BATON_TRY_ASSIGN(const FileParameter* parameter, files_.find(scope, key));
    const auto bytes = parameter->bytes;
    const auto start = static_cast<uint64_t>(offset);
    const uint64_t size = length == -1 && start <= bytes.size() ? bytes.size() - start : static_cast<uint64_t>(length);
    if (!range_inside(start, size, bytes.size())) {
      return baton::failure(baton::StatusCode::kOutOfRange, "Part of ", length, " bytes at ", offset,
                            " is not inside parameter '", key, "' of scope '", scope, "' (", bytes.size(), " bytes).");
    }
    return buffer_of(device, *parameter, bytes.subspan(start, size));
  }

  baton::Result<baton::Ref<hal::BufferView>> view(hal::Device& device, std::string_view scope,
                                                  std::string_view key) const {
    BATON_TRY_ASSIGN(const FileParameter* parameter, files_.find(scope, key));
    BATON_TRY_ASSIGN(baton::Ref<hal::Buffer> buffer, buffer_of(device, *parameter, parameter->bytes));
    return hal::BufferView::make(std::move(buffer), parameter->shape, parameter->element_type);
  }

 private:
  ParameterFiles files_;
};

}  // namespace

Result<Ref<const vm::Module>> make_parameters_module(std::span<const ParameterSource> sources) {
  ParameterFiles files;
  for (const ParameterSource& source : sources) BATON_TRY(files.add(source));
  return make_shared_module<ParametersModule>(
      "parameters",
      {BATON_FUNCTION("length", &ParametersModule::length), BATON_FUNCTION("load", &ParametersModule::load),
       BATON_FUNCTION("view", &ParametersModule::view)},
      std::move(files));
}

}  // namespace baton::modules
