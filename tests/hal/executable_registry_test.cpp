// Executables that the app brings by name: the best variant is loaded, and what is missing is told with what there is.
#include "hal/executable_registry.hpp"

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

}  // namespace
}  // namespace baton::hal
