// Tensors of GGUF files come with their types and with shapes turned around; headers that lie are refused.
#include "modules/parameters_module/gguf.hpp"

#include <gtest/gtest.h>

#include "tests/support/numpy_files.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::modules {
namespace {

using testing_support::append_little_endian;

struct Writer {
  std::string file = "GGUF";

  Writer& u32(uint64_t number) { return put(number, 4); }
  Writer& u64(uint64_t number) { return put(number, 8); }
  Writer& put(uint64_t number, int width) {
    append_little_endian(file, number, width);
    return *this;
  }
  Writer& string(std::string_view text) {
    u64(text.size());
    file += text;
    return *this;
  }
  Writer& tensor(std::string_view name, std::initializer_list<uint64_t> extents, uint32_t type, uint64_t offset) {
    string(name).u32(extents.size());
    for (const uint64_t extent : extents) u64(extent);
    return u32(type).u64(offset);
  }
  Writer& data(size_t size, size_t alignment = 32) {
    file.append((alignment - file.size() % alignment) % alignment, '\0');
    for (size_t i = 0; i < size; ++i) file += static_cast<char>(i);
    return *this;
  }
};

Writer header(uint64_t tensors, uint64_t metadata = 0) {
  Writer writer;
  writer.u32(3).u64(tensors).u64(metadata);
  return writer;
}

Result<std::vector<TensorEntry>> parse(const Writer& writer) {
  return parse_gguf(std::as_bytes(std::span(writer.file)));
}

TEST(GgufTest, TensorsAreFoundInTheFile) {
  Writer writer = header(2, 3);
  writer.string("general.name").u32(8).string("tiny");
  writer.string("tokens").u32(9).u32(8).u64(2).string("a").string("");
  writer.string("general.alignment").u32(4).u32(64);
  writer.tensor("weight", {3, 2}, 0, 0).tensor("blocks", {64, 2}, 2, 64).data(64 + 72, 64);
  const auto entries = parse(writer);
  ASSERT_OK(entries);
  ASSERT_EQ(entries->size(), 2u);
  const TensorEntry &weight = entries.value()[0], &blocks = entries.value()[1];
  EXPECT_EQ(weight.name, "weight");
  EXPECT_EQ(weight.element_type, hal::ElementType::kF32);
  EXPECT_EQ(weight.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(weight.bytes.size(), 24u);
  EXPECT_EQ(weight.bytes[1], std::byte{1});
  EXPECT_EQ(blocks.element_type, hal::ElementType::kU8);
  EXPECT_EQ(blocks.shape, (std::vector<int64_t>{2, 36}));  // Two blocks of 18 bytes a row.
  EXPECT_EQ(blocks.bytes[0], std::byte{64});
}

TEST(GgufTest, WhatIsCutIsRefused) {
  Writer writer = header(1, 1);
  writer.string("key").u32(9).u32(5).u64(2).u32(1).u32(2).tensor("a", {4}, 24, 0).data(4);
  EXPECT_OK(parse(writer));
  while (!writer.file.empty()) {
    writer.file.pop_back();
    EXPECT_FALSE(parse(writer)) << writer.file.size();
  }
}

TEST(GgufTest, HeadersThatLieAreRefused) {
  EXPECT_FAILS(parse(Writer{"ELF..........."}), StatusCode::kDataLoss, "does not begin with GGUF");
  Writer old;
  EXPECT_FAILS(parse(old.u32(1).u64(0).u64(0)), StatusCode::kUnimplemented, "version 1");
  const auto with_tensor = [](std::initializer_list<uint64_t> extents, uint32_t type, uint64_t offset) {
    return parse(header(1).tensor("t", extents, type, offset).data(32));
  };
  EXPECT_OK(with_tensor({8}, 0, 0));
  EXPECT_FAILS(with_tensor({8}, 0, 8), StatusCode::kDataLoss, "takes 32 bytes at 8, outside of the data (32 bytes)");
  EXPECT_FAILS(with_tensor({8}, 99, 0), StatusCode::kUnimplemented, "type number 99");
  EXPECT_FAILS(with_tensor({8}, 2, 0), StatusCode::kDataLoss, "rows of 8 elements, no whole blocks");
  EXPECT_FAILS(with_tensor({}, 2, 0), StatusCode::kDataLoss, "a single element, no whole block");
  EXPECT_FAILS(with_tensor({~uint64_t{0}}, 24, 0), StatusCode::kDataLoss, "larger than any file");
  EXPECT_FAILS(with_tensor({uint64_t{1} << 40, uint64_t{1} << 40}, 0, 0), StatusCode::kDataLoss, "larger than any");
  EXPECT_FAILS(with_tensor({1, 1, 1, 1, 1}, 0, 0), StatusCode::kDataLoss, "a tensor of 5 dimensions");
  EXPECT_FAILS(parse(header(0, 1).string("general.alignment").u32(4).u32(0)), StatusCode::kDataLoss, "alignment 0");
  EXPECT_FAILS(parse(header(0, 1).string("k").u32(9).u32(9).u64(1)), StatusCode::kDataLoss, "an array of arrays");
  EXPECT_FAILS(parse(header(0, 1).string("k").u32(13)), StatusCode::kDataLoss, "the unknown type 13");
  EXPECT_FAILS(parse(header(0, 1).string("k").u32(9).u32(10).u64(uint64_t{1} << 61)), StatusCode::kDataLoss,
               "end beyond the file");
}

}  // namespace
}  // namespace baton::modules
