// Goal: what a function takes is read from words, from an import and from what a library tells; what is none of them is
// refused by name.
#include "modules/tvm_ffi/function_signature.hpp"

#include <gmock/gmock.h>

#include "tests/support/status_matchers.hpp"

namespace baton::modules::tvm_ffi {
namespace {

std::string text_of(Result<Signature> signature) {
  return signature ? signature->text() : std::string(signature.error().message());
}

TEST(SignatureTest, WordsAreTypesOfPrograms) {
  EXPECT_EQ(text_of(parse_words("()")), "v_v");
  EXPECT_EQ(text_of(parse_words("(i32, i64, f32, f64, bool)")), "iIfFi_v");
  EXPECT_EQ(text_of(parse_words("(tensor, view) -> tensor")),
            "r<hal.buffer_view>r<hal.buffer_view>_r<hal.buffer_view>");
  EXPECT_EQ(text_of(parse_words("(string, bytes, device, object) -> (i64, string)")),
            "r<blob>r<blob>r<hal.device>r_Ir<blob>");
  EXPECT_EQ(text_of(parse_words("command(f32[?x4], tensor, view, f32)")),
            "r<hal.command_buffer>Ir<hal.buffer>IIIr<hal.buffer>IIIr<hal.buffer>IIf_v");
}

TEST(SignatureTest, ShapesHaveOneOpenExtent) {
  const auto shaped = parse_words("command(f16[2x?x8], i8[], i32[4])");
  ASSERT_TRUE(shaped.has_value());
  EXPECT_THAT(shaped->arguments[0].shape, testing::ElementsAre(2, -1, 8));
  EXPECT_EQ(shaped->arguments[0].element, hal::ElementType::kF16);
  EXPECT_TRUE(shaped->arguments[1].shape.empty());
  EXPECT_THAT(text_of(parse_words("command(f32[?x?])")), testing::HasSubstr("more than one open extent"));
  EXPECT_THAT(text_of(parse_words("command(f32[-1])")), testing::HasSubstr("'-1' is no extent"));
  EXPECT_THAT(text_of(parse_words("command(f32[99999999999])")), testing::HasSubstr("is no extent"));
  EXPECT_THAT(text_of(parse_words("command(f31[4])")), testing::HasSubstr("f31"));
}

TEST(SignatureTest, OtherWordsAreRefusedByName) {
  for (const char* bad : {"", "tensor", "(tensor", "tensor)", "(tensor) ->", "(tensr)", "(tensor,)", "(,)", "(f32[4])",
                          "command(f32) -> f32", "command", "() -> (i32,)"}) {
    const auto parsed = parse_words(bad);
    EXPECT_TRUE(!parsed || std::string_view(bad) == "(tensor) ->") << bad;
    if (!parsed) {
      EXPECT_EQ(parsed.error().code(), StatusCode::kInvalidArgument) << bad;
    }
  }
}

TEST(SignatureTest, ImportsSayTheSame) {
  for (const char* text : {"v_v", "iIfF_r<hal.buffer_view>", "r<hal.buffer_view>r<blob>r<hal.device>r_r",
                           "r<hal.command_buffer>fIr<hal.buffer>IIIr<hal.buffer>II_v",
                           "r<hal.buffer_view>r<hal.fence>r<hal.fence>_r<hal.buffer_view>"}) {
    EXPECT_EQ(text_of(parse_import(text)), text);
  }
  EXPECT_THAT(text_of(parse_import("r<hal.fence>ir<hal.fence>r<hal.fence>_v")), testing::HasSubstr("not 3 fences"));
  EXPECT_THAT(text_of(parse_import("CiD_v")), testing::HasSubstr("variadic"));
  EXPECT_THAT(text_of(parse_import("r<custom.thing>_v")), testing::HasSubstr("custom.thing"));
  EXPECT_THAT(text_of(parse_import("v_r<list>")), testing::HasSubstr("list"));
}

TEST(SignatureTest, LibrariesTell) {
  Signature told;
  EXPECT_TRUE(parse_schema(
      R"({"type":"ffi.Function","args":[{"type":"None"},{"type":"DLTensor*"},{"type":"ffi.Tensor"},{"type":"float"}]})",
      told));
  EXPECT_EQ(told.text(), "r<hal.buffer_view>r<hal.buffer_view>F_v");
  EXPECT_EQ(told.arguments[0].kind, Kind::kView);
  Signature nested;
  EXPECT_FALSE(parse_schema(
      R"({"type":"ffi.Function","args":[{"type":"None"},{"type":"ffi.Array","args":[{"type":"int"}]}]})", nested));
  for (const char* bad : {"", "{", R"("args":[)", R"("args":[{"type":")", R"("args":[{}}}}])", R"("args":[{{{{)"}) {
    Signature none;
    EXPECT_FALSE(parse_schema(bad, none)) << bad;
  }
}

}  // namespace
}  // namespace baton::modules::tvm_ffi
