// Headers are read as they are written in the field; one that lies is refused with the place or the tensor's name.
#include "modules/parameters_module/safetensors.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/status_matchers.hpp"

namespace baton::modules {
namespace {

std::vector<std::byte> file_of(std::string_view header, size_t data_size) {
  std::vector<std::byte> file(8 + header.size() + data_size);
  const uint64_t size = header.size();
  std::memcpy(file.data(), &size, 8);
  std::memcpy(file.data() + 8, header.data(), header.size());
  for (size_t i = 0; i < data_size; ++i) file[8 + header.size() + i] = static_cast<std::byte>(i);
  return file;
}

Result<std::vector<TensorEntry>> parse(std::string_view header, size_t data_size = 24) {
  static std::vector<std::byte> file;  // What is parsed points into it.
  file = file_of(header, data_size);
  return parse_safetensors(file);
}

TEST(SafetensorsTest, TensorsAreFoundInTheFile) {
  const auto entries = parse(R"( {"a" : {"dtype":"F32","shape":[2, 2],"data_offsets":[0,16]},
      "__metadata__":{"format":"pt","note":"\"x\"\n"},
      "b":{"shape":[],"data_offsets":[16,24],"dtype":"I64"} }   )");
  ASSERT_OK(entries);
  ASSERT_EQ(entries->size(), 2u);
  const TensorEntry& a = entries.value()[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.element_type, hal::ElementType::kF32);
  EXPECT_EQ(a.shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(a.bytes.size(), 16u);
  EXPECT_EQ(a.bytes[0], std::byte{0});
  EXPECT_EQ(entries.value()[1].bytes[0], std::byte{16});
  EXPECT_TRUE(entries.value()[1].shape.empty());
  EXPECT_OK(parse("{}", 0));
}

TEST(SafetensorsTest, NamesAreUnescaped) {
  const auto entries = parse(R"({"\u00e4\ud83d\ude00\/\\":{"dtype":"U8","shape":[0,7],"data_offsets":[3,3]}})");
  ASSERT_OK(entries);
  EXPECT_EQ(entries.value()[0].name, "\xc3\xa4\xf0\x9f\x98\x80/\\");
}

TEST(SafetensorsTest, LiesAreRefused) {
  const auto refused = [](std::string_view header, std::string_view sentence) {
    EXPECT_FAILS(parse(header), StatusCode::kDataLoss, sentence) << header;
  };
  refused("", "The safetensors header has no '{' at byte 0.");
  refused(R"({"a":1})", "no '{' at byte 5");
  refused(R"({"a":{"dtype":"F32","shape":[1]}})", "Tensor 'a' of the safetensors file lacks its dtype, shape or two");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", "lacks its dtype, shape or two data_offsets");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[24,28]}})",
          "lies at [24, 28), outside of the data (24 bytes)");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}})", "lies at [8, 4)");
  refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",
          "has 4 bytes, which is not what its shape takes");
  refused(R"({"a":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}})", "not what its shape takes");
  refused(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "no whole number");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}} x)", "more than one object");
  refused(R"({"a":{"size":1}})", "an unknown member 'size'");
  refused(R"({"a)", "no '\"'");
  refused(R"({"\ud83d":{}})", "half a pair of surrogates");
  refused(R"({"\x":{}})", "an unknown escape");
  EXPECT_FAILS(parse(R"({"a":{"dtype":"F8_E5M2","shape":[1],"data_offsets":[0,1]}})"), StatusCode::kUnimplemented,
               "dtype 'F8_E5M2'");
}

TEST(SafetensorsTest, CutFilesAreRefused) {
  const auto file = file_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4);
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(parse_safetensors(std::span(file).first(size)).has_value()) << size;
  }
  EXPECT_OK(parse_safetensors(file));
}

}  // namespace
}  // namespace baton::modules
