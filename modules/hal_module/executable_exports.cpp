// hal.executable.*: device code that the program carries.

#include <vector>

#include "hal/launch_attributes.hpp"
#include "modules/hal_module/exports.hpp"

namespace baton::modules::exports::executable {
namespace {

// The code is used in place, so the executable shares its blobs.
class Blobs final : public hal::ExecutableData {
 public:
  void add(sdk::Blob& blob) { blobs_.emplace_back(&blob); }

 private:
  std::vector<sdk::Ref<sdk::Blob>> blobs_;
};

Result<Ref<hal::Executable>> make(hal::Device& device, const Variants& given,
                                  std::span<const hal::EntryPoint> expected) {
  std::vector<hal::ExecutableVariant> variants;
  auto blobs = make_ref<Blobs>();
  for (auto [format, code] : given) {
    variants.push_back({format, code.bytes()});
    blobs->add(code);
  }
  return device.make_executable(
      {.name = "program", .variants = variants, .expected = expected, .data = std::move(blobs)});
}

std::vector<hal::EntryPoint> entry_points_of(const EntryPoints& entry_points) {
  std::vector<hal::EntryPoint> expected;
  for (auto [name, constants, bindings, x, y, z, local_memory_bytes] : entry_points) {
    expected.push_back({std::string(name), constants, bindings, {x, y, z}, local_memory_bytes});
  }
  return expected;
}

}  // namespace

Result<Ref<hal::Executable>> create(hal::Device& device, const Variants& given) { return make(device, given, {}); }

Result<Ref<hal::Executable>> create_with_entry_points(hal::Device& device, const Variants& given,
                                                      const EntryPoints& entry_points) {
  return make(device, given, entry_points_of(entry_points));
}

Result<Ref<hal::Executable>> create_with_launch_attributes(hal::Device& device, const Variants& given,
                                                           const EntryPoints& entry_points,
                                                           const LaunchAttributes& attributes) {
  BATON_TRY_ASSIGN(const std::vector<hal::EntryPoint> expected, read_entry_points(entry_points, attributes));
  return make(device, given, expected);
}

Result<std::vector<hal::EntryPoint>> read_entry_points(const EntryPoints& entry_points,
                                                       const LaunchAttributes& attributes) {
  std::vector<hal::EntryPoint> expected = entry_points_of(entry_points);
  for (auto [index, name, value] : attributes) {
    if (index >= expected.size()) {
      return failure(StatusCode::kOutOfRange, "Launch attribute '", name, "' is for entry point ", index,
                     "; there are ", expected.size(), ".");
    }
    BATON_TRY_CONTEXT(hal::set_launch_attribute(expected[index], name, value), "for entry point '",
                      expected[index].name, "'");
  }
  return expected;
}

Result<Ref<hal::Executable>> create_specialized(hal::Device& device, const Variadic<uint32_t>& constants,
                                                const SpecializedVariants& given) {
  std::vector<uint32_t> words;
  for (const uint32_t word : constants) words.push_back(word);
  std::vector<hal::ExecutableVariant> variants;
  auto blobs = make_ref<Blobs>();
  size_t next = 0;
  for (auto [format, code, count] : given) {
    if (count > words.size() - next) {
      return failure(StatusCode::kInvalidArgument, "The variants take more constants than the ", words.size(),
                     " that are given.");
    }
    variants.push_back({format, code.bytes(), std::span(words).subspan(next, count)});
    next += count;
    blobs->add(code);
  }
  return device.make_executable({.name = "program", .variants = variants, .data = std::move(blobs)});
}

uint32_t variant(const hal::Executable& executable) { return executable.variant(); }

Result<uint32_t> entry_point(hal::Executable& executable, std::string_view name) { return executable.find(name); }

}  // namespace baton::modules::exports::executable
