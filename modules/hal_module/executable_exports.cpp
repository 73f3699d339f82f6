// hal.executable.*: device code that the program carries.

#include <vector>

#include "modules/hal_module/exports.hpp"

namespace baton::modules::exports::executable {
namespace {

// The code is used in place, so the executable shares its blobs.
class Blobs final : public hal::ExecutableData {
 public:
  explicit Blobs(const Variants& variants) {
    for (auto [format, code] : variants) blobs_.emplace_back(&code);
  }

 private:
  std::vector<sdk::Ref<sdk::Blob>> blobs_;
};

}  // namespace

Result<Ref<hal::Executable>> create(hal::Device& device, const Variants& given) {
  std::vector<hal::ExecutableVariant> variants;
  for (auto [format, code] : given) variants.push_back({format, code.bytes()});
  return device.make_executable({.name = "program", .variants = variants, .data = make_ref<Blobs>(given)});
}

Result<uint32_t> entry_point(hal::Executable& executable, std::string_view name) { return executable.find(name); }

}  // namespace baton::modules::exports::executable
