// build_user_library: kernels that users wrote whole run as they are; what is wrong with their objects is told.
#include "compiler-lite/codegen/cpu/user_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hal/allocator.hpp"
#include "hal/commands/dispatch.hpp"
#include "hal/device.hpp"
#include "hal/drivers/local/driver.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

namespace baton::compiler_lite::codegen::cpu {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kFolder = BATON_TEST_OBJECTS;

struct Built {
  std::vector<char> bytes;
  std::string messages;
};

Built build(const std::vector<std::string>& files, const std::string& kernel = "add_constant") {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Built built;
  const mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic& diagnostic) { built.messages += diagnostic.str() + "\n"; });
  EntryPoint entry{{kernel}};
  entry.constant_count = 1;
  entry.binding_count = 1;
  const mlir::Location location = mlir::UnknownLoc::get(&context);
  std::vector<Object> objects;
  for (const std::string& file : files) objects.push_back({file, {}, location});
  TargetOptions options;
  options.object_search_paths = {kFolder};
  const mlir::FailureOr<Variant> variant = build_user_library("whole", location, {entry}, 1, options, objects);
  if (mlir::succeeded(variant)) built.bytes = variant->bytes;
  return built;
}

// The kernel on {1, 2, 3, 4}, with 10 in the dispatch and 100 in the executable.
std::vector<int32_t> run(const Built& built) {
  const auto driver = hal::drivers::local::make_driver();
  const Ref<hal::Device> device = driver->open("sync", {}).value();
  const uint32_t specialization[] = {100}, constants[] = {10};
  const hal::ExecutableVariant variants[] = {
      {"embedded-elf-x86_64", std::as_bytes(std::span(built.bytes)), specialization}};
  const auto executable = device->make_executable({.name = "whole", .variants = variants});
  EXPECT_TRUE(executable.has_value()) << executable.error().to_string();
  const auto buffer = device->allocator().allocate({.length = 16}).value();
  for (int32_t i = 0; i < 4; ++i)
    buffer->map(hal::Access::kWrite).value().as<int32_t>()[static_cast<size_t>(i)] = i + 1;
  const auto commands = device->make_command_buffer().value();
  const hal::Binding bindings[] = {hal::Binding(buffer)};
  EXPECT_TRUE(commands
                  ->dispatch({.executable = executable->get(),
                              .entry_point = (*executable)->find("add_constant").value(),
                              .grid = {4, 1, 1},
                              .constants = constants,
                              .bindings = bindings})
                  .ok());
  const auto recording = commands->finish().value();
  EXPECT_TRUE(device->queue().execute({}, *recording).ok());
  EXPECT_TRUE(device->queue().wait_idle().ok());
  const auto mapping = buffer->map(hal::Access::kRead).value();
  const auto values = mapping.as<int32_t>();
  return {values.begin(), values.begin() + 4};
}

TEST(UserLibraryTest, RunsKernelsOfObjectsBitcodeAndArchives) {
  for (const char* file : {"whole_x86_64.o", "whole_x86_64.bc", "whole_x86_64.a"}) {
    const Built built = build({file});
    ASSERT_EQ(built.messages, "") << file;
    EXPECT_EQ(run(built), (std::vector<int32_t>{111, 112, 113, 114})) << file;
  }
}

TEST(UserLibraryTest, NamesTheKernelThatNobodyDefines) {
  EXPECT_THAT(build({"whole_x86_64.o"}, "add_nothing").messages,
              AllOf(HasSubstr("The executable 'whole' exports the kernel 'add_nothing', which no object defines"),
                    HasSubstr("whole_x86_64.o'")));
}

TEST(UserLibraryTest, NamesBothArchitectures) {
  EXPECT_THAT(build({"whole_aarch64.o"}).messages, HasSubstr("is for aarch64; this executable is for x86_64."));
}

TEST(UserLibraryTest, ListsWhereItLooked) {
  EXPECT_THAT(build({"nowhere.o"}).messages,
              AllOf(HasSubstr("The object 'nowhere.o' was not found; looked for 'nowhere.o', '"), HasSubstr(kFolder)));
}

TEST(UserLibraryTest, WantsAQueryFunctionOfAFinishedLibrary) {
  EXPECT_THAT(build({"forgetful_x86_64.so"}).messages,
              HasSubstr("is a shared object that exports no baton_executable_library_query"));
  EXPECT_THAT(build({"forgetful_x86_64.so", "whole_x86_64.o"}).messages, HasSubstr("forgetful_x86_64.so"));
}

}  // namespace
}  // namespace baton::compiler_lite::codegen::cpu
