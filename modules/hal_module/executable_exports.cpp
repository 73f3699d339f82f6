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

Result<Ref<hal::Executable>> make(hal::Device& device, const Variants& given,
                                  std::span<const hal::EntryPoint> expected) {
  std::vector<hal::ExecutableVariant> variants;
  for (auto [format, code] : given) variants.push_back({format, code.bytes()});
  return device.make_executable(
      {.name = "program", .variants = variants, .expected = expected, .data = make_ref<Blobs>(given)});
}

}  // namespace

Result<Ref<hal::Executable>> create(hal::Device& device, const Variants& given) { return make(device, given, {}); }

Result<Ref<hal::Executable>> create_with_entry_points(hal::Device& device, const Variants& given,
                                                      const EntryPoints& entry_points) {
  std::vector<hal::EntryPoint> expected;
  for (auto [name, constants, bindings, x, y, z, local_memory_bytes] : entry_points) {
    expected.push_back({std::string(name), constants, bindings, {x, y, z}, local_memory_bytes});
  }
  return make(device, given, expected);
}

uint32_t variant(const hal::Executable& executable) { return executable.variant(); }

Result<uint32_t> entry_point(hal::Executable& executable, std::string_view name) { return executable.find(name); }

}  // namespace baton::modules::exports::executable
