// Goal: a plugin is loaded or refused with a sentence that names its file and what is wrong. Method: shared libraries
// that are wrong in one way each (bad_plugins/), and references that are.
#include "modules/plugin_loader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/modules/linked_program.hpp"

namespace baton::modules {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The tests' plugins lie in the folder that CMake names.
std::string plugin(const std::string& name) { return std::string(BATON_TEST_PLUGINS) + "/" + name + ".so"; }

std::string error_of(const std::string& text) {
  auto module = load_plugin(text);
  return module ? "no error" : module.error().to_string();
}

TEST(PluginReference, HasPathEntryAndParameters) {
  auto reference = PluginReference::parse("dir/blas.so@create_blas?threads=4&name=a%26b%20c&empty=");
  ASSERT_TRUE(reference.has_value()) << reference.error().message();
  EXPECT_EQ(reference->path, "dir/blas.so");
  EXPECT_EQ(reference->entry, "create_blas");
  ASSERT_EQ(reference->parameters.size(), 3u);
  EXPECT_EQ(reference->parameters[0].key, "threads");
  EXPECT_EQ(reference->parameters[1].value, "a&b c");
  EXPECT_EQ(reference->parameters[2].value, "");
}

TEST(PluginReference, HasAnEntryByDefault) {
  auto reference = PluginReference::parse("blas.so");
  ASSERT_TRUE(reference.has_value());
  EXPECT_EQ(reference->entry, "baton_module_query_v1");
  EXPECT_TRUE(reference->parameters.empty());
}

TEST(PluginReference, LeavesOtherMarksToThePath) {
  EXPECT_EQ(PluginReference::parse("me@home/blas.so")->path, "me@home/blas.so");
}

TEST(PluginReference, SaysWhatIsWrong) {
  EXPECT_EQ(error_of(""), "INVALID_ARGUMENT; Plugin '' names no file.");
  EXPECT_THAT(error_of("a.so?fast"),
              HasSubstr("Parameter 'fast' is not of the form key=value.\n  in plugin 'a.so?fast'"));
  EXPECT_THAT(error_of("a.so?x=%4"), HasSubstr("'%' in '%4' is not followed by two hexadecimal digits."));
}

TEST(PluginLoader, TellsThatAPluginWasCutOff) {
  std::ifstream file(plugin("good"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  const std::string path = testing::TempDir() + "cut_off.so";
  // Where the half of the file is, the loader may map nothing any more.
  for (const size_t length : {size_t{100}, size_t{700}, whole.size() / 8, whole.size() / 4}) {
    std::ofstream(path, std::ios::binary).write(whole.data(), static_cast<std::streamsize>(length));
    EXPECT_THAT(error_of(path), AllOf(HasSubstr("DATA_LOSS; The library has "), HasSubstr("it was cut off"))) << length;
  }
}

TEST(PluginLoader, LoadsAModuleThatRuns) {
  auto module = load_plugin(plugin("good"));
  ASSERT_TRUE(module.has_value()) << module.error().to_string();
  EXPECT_EQ((*module)->name(), "tested");
  const Ref<const vm::Module> modules[] = {*module};
  auto program = vm::Program::link(modules);
  ASSERT_TRUE(program.has_value()) << program.error().to_string();
  auto context = vm::Context::make(*program);
  ASSERT_TRUE(context.has_value());
  auto answer = (*context)->find_function("answer");
  ASSERT_TRUE(answer.has_value()) << answer.error().to_string();
  vm::Invocation invocation(*context);
  vm::Value result;
  const Status status = invocation.invoke(*answer, {}, {&result, 1});
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(result.i32, 42);
}

TEST(PluginLoader, LoadsTheModuleOfTheReadme) {
  auto counter = load_plugin(plugin("readme") + "?name=ticks");
  ASSERT_TRUE(counter.has_value()) << counter.error().to_string();
  LinkedProgram program({*counter}, R"(
module @program
import @counter.add(i32) -> i32
import @counter.reset(i32)
import @counter.label(blob) -> blob
import @counter.twice(i32) -> i32
rodata @my = "my "
export func @count(i32) -> i32 { call.import @counter.add, %v0, %r0
 call.import @counter.twice, %v0, %r0
 return }
export func @reset(i32) { call.import @counter.reset, %v0, %r0
 return }
export func @label() -> blob { rodata %r0, @my
 call.import @counter.label, %v0, %r0
 return }
)");
  ASSERT_TRUE(program.call("reset", {vm::Value::of(10)}).ok());
  ASSERT_TRUE(program.call("count", {vm::Value::of(5)}).ok());
  EXPECT_EQ(program.results[0].i32, 30);
  const Status refused = program.call("reset", {vm::Value::of(-1)});
  EXPECT_THAT(std::string(refused.message()), HasSubstr("A counter starts at 0 or above, not at -1."));
  ASSERT_TRUE(program.call("label").ok());
  const Ref<vm::Object> label = Ref<vm::Object>::adopt(program.results[0].ref);
  const std::span<std::byte> bytes = vm::as_blob(label.get())->bytes();
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "my ticks");
}

// Modules, program and context are gone: what is left of the plugin are its objects, and their destructors.
TEST(PluginLoader, ObjectsOutliveTheirModule) {
  constexpr std::string_view kProgram = R"(
module @program
import @tokens.make() -> tested.token
import @tokens.count() -> i32
export func @make() -> tested.token { call.import @tokens.make, %v0, %r0
 return }
export func @count() -> i32 { call.import @tokens.count, %v0, %r0
 return }
)";
  const auto load = [&] { return LinkedProgram({load_plugin(plugin("tokens")).value()}, kProgram); };
  const auto count = [&] {
    LinkedProgram program = load();
    EXPECT_TRUE(program.call("count").ok());
    return program.results[0].i32;
  };
  std::vector<Ref<vm::Object>> kept;
  for (int turn = 0; turn < 3; ++turn) {
    LinkedProgram program = load();
    ASSERT_TRUE(program.call("make").ok());
    kept.push_back(Ref<vm::Object>::adopt(program.results[0].ref));
  }
  EXPECT_EQ(count(), 3);
  kept.resize(1);
  EXPECT_EQ(count(), 1);
  kept.clear();
  EXPECT_EQ(count(), 0);
}

TEST(PluginLoader, PassesParametersToTheEntryThatIsNamed) {
  EXPECT_TRUE(load_plugin(plugin("good") + "@needs_a_key?key=a%26b").has_value());
  EXPECT_THAT(error_of(plugin("good") + "@needs_a_key?key=b"),
              AllOf(HasSubstr("INVALID_ARGUMENT; The plugin wants key=a&b."), HasSubstr("good.so")));
}

TEST(PluginLoader, NamesAFileThatIsMissing) {
  EXPECT_EQ(error_of("nowhere/x.so"), "NOT_FOUND; Plugin 'nowhere/x.so' does not exist or cannot be read.");
}

TEST(PluginLoader, NamesAFileThatIsNoLibrary) {
  EXPECT_THAT(error_of(BATON_TEST_NO_LIBRARY),
              AllOf(HasSubstr("FAILED_PRECONDITION; Plugin '" BATON_TEST_NO_LIBRARY "' cannot be opened: "),
                    HasSubstr("invalid ELF header")));
}

TEST(PluginLoader, NamesTheSymbolThatIsMissing) {
  EXPECT_EQ(error_of(plugin("no_symbol")),
            "NOT_FOUND; Plugin '" + plugin("no_symbol") + "' has no symbol 'baton_module_query_v1'.");
  EXPECT_EQ(error_of(plugin("good") + "@create"), "NOT_FOUND; Plugin '" + plugin("good") + "' has no symbol 'create'.");
}

TEST(PluginLoader, NamesBothVersions) {
  EXPECT_THAT(
      error_of(plugin("wrong_version")),
      AllOf(HasSubstr("UNIMPLEMENTED; The module is built for version 1000 of the module interface, and this program "
                      "provides versions 1 to 4."),
            HasSubstr("wrong_version.so")));
}

TEST(PluginLoader, RefusesAShortDescriptor) {
  EXPECT_THAT(error_of(plugin("short_descriptor")),
              AllOf(HasSubstr("The module's descriptor is too short (8 bytes)"), HasSubstr("short_descriptor.so")));
}

TEST(PluginLoader, RefusesABadSignature) {
  EXPECT_THAT(error_of(plugin("bad_signature")),
              AllOf(HasSubstr("Signature 'i_q' is malformed"), HasSubstr("function 'answer' of module 'tested'"),
                    HasSubstr("bad_signature.so")));
}

TEST(PluginLoader, PassesOnThePluginsOwnReason) {
  EXPECT_THAT(
      error_of(plugin("returns_error")),
      AllOf(HasSubstr("PERMISSION_DENIED; There is no license for this machine."), HasSubstr("returns_error.so")));
}

TEST(PluginLoader, RefusesNoDescriptor) {
  EXPECT_THAT(error_of(plugin("no_descriptor")),
              AllOf(HasSubstr("The module gave no descriptor"), HasSubstr("no_descriptor.so")));
}

}  // namespace
}  // namespace baton::modules
