// Executables that the app brings by name: the best variant is loaded, and what is missing is told with what there is.
#include "hal/executable_registry.hpp"

#include <array>

#include "hal/drivers/local/driver.hpp"
#include "tests/conformance/kernels.h"
#include "tests/support/status_matchers.hpp"

namespace baton::hal {
namespace {

TEST(ExecutableRegistryTest, LoadsByName) {
  drivers::local::Options options;
  options.libraries.push_back({"kernels", conformance_kernels_query});
  const auto device = drivers::local::make_driver(std::move(options))->open("sync", {}).value();
  constexpr std::string_view library = "kernels";
  ExecutableRegistry registry;
  EXPECT_FAILS(registry.load(*device, "acme"), StatusCode::kNotFound,
               "No executable 'acme' is registered with the host; registered are: none.");
  EXPECT_OK(registry.add("acme", "cuda-sm_90", {}));
  EXPECT_FAILS(registry.load(*device, "acme"), StatusCode::kNotFound,
               "None of the 1 variants of executable 'acme' fits device 'local-sync'.");
  EXPECT_OK(registry.add("acme", "static-library", std::as_bytes(std::span(library))));
  EXPECT_FAILS(registry.add("acme", "static-library", {}), StatusCode::kAlreadyExists,
               "Executable 'acme' has a variant of format 'static-library' already.");
  EXPECT_EQ(registry.load(*device, "acme").value()->entry_points().size(), 5u);
  EXPECT_FAILS(registry.load(*device, "acmee"), StatusCode::kNotFound, "registered are: acme.");
}

// What baton_embed_kernels() writes, in the words of this room: all variants by one call, or none.
TEST(ExecutableRegistryTest, TakesEmbeddedKernelsAtOnce) {
  struct Text {
    const char* data;
    uint64_t size;
  };
  struct Embedded {
    struct Variant {
      Text format;
      const void* begin;
      const void* end;
    };
    uint32_t variant_count;
    const Variant* variants;
  };
  drivers::local::Options options;
  options.libraries.push_back({"kernels", conformance_kernels_query});
  const auto device = drivers::local::make_driver(std::move(options))->open("sync", {}).value();
  static constexpr char kName[] = "kernels";
  const Embedded::Variant variants[] = {{{"cuda-sm_90", 10}, kName, kName}, {{"static-library", 14}, kName, kName + 7}};
  ExecutableRegistry registry;
  EXPECT_OK(registry.add("acme", Embedded{2, variants}));
  EXPECT_EQ(registry.load(*device, "acme").value()->entry_points().size(), 5u);
  EXPECT_FAILS(registry.add("acme", Embedded{2, variants}), StatusCode::kAlreadyExists,
               "has a variant of format 'cuda-sm_90' already.");
  // The second of these is there: the first isn't taken either.
  const Embedded::Variant more[] = {{{"cuda-ptx", 8}, kName, kName}, variants[0]};
  EXPECT_FAILS(registry.add("acme", Embedded{2, more}), StatusCode::kAlreadyExists, "'cuda-sm_90' already");
  EXPECT_OK(registry.add("acme", Embedded{1, more}));
  EXPECT_FAILS(registry.add("other", Embedded{2, std::array{more[0], more[0]}.data()}), StatusCode::kAlreadyExists,
               "'cuda-ptx' already");
  EXPECT_FAILS(registry.load(*device, "other"), StatusCode::kNotFound, "registered are: acme.");
}

}  // namespace
}  // namespace baton::hal
