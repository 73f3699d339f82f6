// build_user_library: kernels that users wrote whole run as they are; what is wrong with their objects is told.
#include "compiler-lite/codegen/cpu/user_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "hal/allocator.hpp"
#include "hal/commands/dispatch.hpp"
#include "hal/device.hpp"
#include "hal/drivers/local/driver.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/support/temporary_path.hpp"

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

TEST(UserLibraryTest, TellsBitcodeByItsBytesAlsoInArchives) {
  for (const char* file : {"odd_usable.o", "odd_usable.bc", "odd_usable_lto.o", "odd_bitcode.a"}) {
    const Built built = build({file});
    ASSERT_EQ(built.messages, "") << file;
    EXPECT_EQ(run(built), (std::vector<int32_t>{111, 112, 113, 114})) << file;
  }
}

// What nobody would run, or nobody would have, is told when the program is compiled, and not left out.
TEST(UserLibraryTest, RefusesWhatKernelsCannotHave) {
  struct Case {
    const char* name;
    const char* reason;
  };
  for (const Case& one :
       {Case{"odd_initialized", "has initializers, which nobody runs (static objects of C++?)"},
        Case{"odd_thread_local", "has thread-local variables, which kernels cannot have"},
        Case{"odd_cplusplus", ", where it is one of C++; extern \"C\" gives it this name."},
        Case{"odd_static", ", where it is static."}, Case{"odd_variable", ", where it is a variable."},
        Case{"odd_near", "; did you mean 'add_constants'?"}}) {
    for (const char* ending : {".o", ".bc", "_lto.o"}) {
      const std::string file = std::string(one.name) + ending;
      const Built built = build({file});
      EXPECT_TRUE(built.bytes.empty()) << file;
      EXPECT_THAT(built.messages, AllOf(HasSubstr(one.reason), HasSubstr(file))) << file;
    }
  }
  EXPECT_THAT(build({"odd_thin.a"}).messages, HasSubstr("is a thin archive, which names files and holds none"));
  if (std::ifstream(std::string(kFolder) + "/odd_slim.o").good()) {
    EXPECT_THAT(build({"odd_slim.o"}).messages, HasSubstr("holds no machine code, only what GCC needs to make some"));
  }
}

// The part that is not needed may have what it likes.
TEST(UserLibraryTest, TakesOnlyWhatIsNeededOfBitcode) {
  const Built built = build({"odd_usable.bc", "odd_initialized.bc"});
  ASSERT_EQ(built.messages, "");
  EXPECT_EQ(run(built), (std::vector<int32_t>{111, 112, 113, 114}));
}

// Damage is a message, whether we, LLVM or LLD find it, and the next program is linked as ever.
TEST(UserLibraryTest, SurvivesDamagedObjects) {
  std::ifstream stream(std::string(kFolder) + "/odd_usable.o", std::ios::binary);
  const std::vector<char> whole((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  ASSERT_GT(whole.size(), 64U);
  const std::string path = testing_support::temporary_path("damaged.o");
  size_t refused = 0;
  for (size_t at = 16; at < whole.size(); at += 7) {
    std::vector<char> damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x5a);
    std::ofstream(path, std::ios::binary).write(damaged.data(), static_cast<std::streamsize>(damaged.size()));
    const Built built = build({path});
    EXPECT_EQ(built.bytes.empty(), !built.messages.empty()) << at;
    refused += built.bytes.empty() ? 1 : 0;
  }
  EXPECT_GT(refused, 20U);
  const Built built = build({"odd_usable.o"});
  ASSERT_EQ(built.messages, "");
  EXPECT_EQ(run(built), (std::vector<int32_t>{111, 112, 113, 114}));
}

}  // namespace
}  // namespace baton::compiler_lite::codegen::cpu
