// Goal: a plugin of version 1 works for ever. Method: the frozen source in plugin_v1/ is built, loaded, and every
// export of it called from a program.
#include <gtest/gtest.h>

#include "modules/plugin_loader.hpp"
#include "tests/modules/linked_program.hpp"

namespace baton::modules {
namespace {

constexpr std::string_view kProgram = R"(
module @program
type frozen.box
import @frozen.twice(i32, i64, f32, f64) -> (i32, i64, f32, f64)
import @frozen.accumulate(i64) -> i64
import @frozen.box.create(i64) -> frozen.box
import @frozen.box.open(frozen.box) -> i64
import @frozen.reverse(blob) -> blob
import @frozen.list_of((i32)...) -> list
import @frozen.sum(list) -> i64
import @frozen.later() -> i32
import @frozen.refuse()
rodata @abc = "abc"
export func @twice(i32, i64, f32, f64) -> (i32, i64, f32, f64) { call.import @frozen.twice, %v0, %r0
 return }
export func @accumulate(i64) -> i64 { call.import @frozen.accumulate, %v0, %r0
 return }
export func @box(i64) -> i64 { call.import @frozen.box.create, %v0, %r0
 call.import @frozen.box.open, %v0, %r0
 return }
export func @open_null() -> i64 values 1 refs 1 { ref.null %r0
 call.import @frozen.box.open, %v0, %r0
 return }
export func @reverse() -> blob { rodata %r0, @abc
 call.import @frozen.reverse, %v0, %r0
 return }
export func @sum(i32, i32, i32) -> i64 { call.variadic @frozen.list_of, %v0, %r0, [3]
 call.import @frozen.sum, %v0, %r0
 return }
export func @later() -> i32 { call.import @frozen.later, %v0, %r0
 return }
export func @refuse() { call.import @frozen.refuse, %v0, %r0
 return }
)";

class PluginV1 : public testing::Test {
 protected:
  static Ref<const vm::Module> load() {
    auto module = load_plugin(BATON_TEST_PLUGIN_V1 "?start=5");
    EXPECT_TRUE(module.has_value()) << module.error().to_string();
    return module ? *module : Ref<const vm::Module>();
  }
  const vm::Value& result(size_t index = 0) { return program_.results.at(index); }

  LinkedProgram program_{{load()}, kProgram};
};

TEST_F(PluginV1, ReadsAndWritesValues) {
  ASSERT_TRUE(
      program_
          .call("twice", {vm::Value::of(-3), vm::Value::of(int64_t{1} << 40), vm::Value::of(1.5f), vm::Value::of(0.25)})
          .ok());
  EXPECT_EQ(result(0).i32, -6);
  EXPECT_EQ(result(1).i64, int64_t{1} << 41);
  EXPECT_EQ(result(2).f32, 3.0f);
  EXPECT_EQ(result(3).f64, 0.5);
}

TEST_F(PluginV1, KeepsStateThatItsParametersStart) {
  ASSERT_TRUE(program_.call("accumulate", {vm::Value::of(int64_t{1})}).ok());
  ASSERT_TRUE(program_.call("accumulate", {vm::Value::of(int64_t{2})}).ok());
  EXPECT_EQ(result().i64, 5 + 10 + 20);
}

TEST_F(PluginV1, HasATypeOfItsOwn) {
  ASSERT_TRUE(program_.call("box", {vm::Value::of(int64_t{77})}).ok());
  EXPECT_EQ(result().i64, 77);
  const Status status = program_.call("open_null");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("This is not a box."), std::string_view::npos) << status.message();
}

TEST_F(PluginV1, UsesBlobsAndLists) {
  ASSERT_TRUE(program_.call("reverse").ok());
  const Ref<vm::Object> object = Ref<vm::Object>::adopt(result().ref);
  const vm::Blob* blob = vm::as_blob(object.get());
  ASSERT_NE(blob, nullptr);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(blob->data), blob->size), "cba");

  ASSERT_TRUE(program_.call("sum", {vm::Value::of(1), vm::Value::of(20), vm::Value::of(-300)}).ok());
  EXPECT_EQ(result().i64, -279);
}

TEST_F(PluginV1, IsWaitedFor) {
  ASSERT_TRUE(program_.call("later").ok());
  EXPECT_EQ(result().i32, 7);
}

TEST_F(PluginV1, FailsWithItsOwnWords) {
  const Status status = program_.call("refuse");
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(status.message().substr(0, 10), "Not today.");
}

}  // namespace
}  // namespace baton::modules
