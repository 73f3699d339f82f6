// The directory of an archive leads to its members, also where numbers are wide; one that lies is refused.
#include "modules/parameters_module/zip.hpp"

#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "tests/support/numpy_files.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::modules {
namespace {

using testing_support::append_little_endian;
using testing_support::zip_file;

Result<std::vector<ZipMember>> parse(std::string_view file) { return parse_zip(std::as_bytes(std::span(file))); }

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(ZipTest, MembersAreFoundInTheFile) {
  const std::string file = zip_file({{"a.npy", "first"}, {"b.npy", ""}}) + std::string(100, '\0');  // As a comment.
  const auto members = parse(file);
  ASSERT_OK(members);
  ASSERT_EQ(members->size(), 2u);
  EXPECT_EQ(members.value()[0].name, "a.npy");
  EXPECT_EQ(text_of(members.value()[0].bytes), "first");
  EXPECT_FALSE(members.value()[0].is_deflated);
  EXPECT_TRUE(members.value()[1].bytes.empty());
  EXPECT_TRUE(parse(zip_file({{"a", "x"}}, 8)).value()[0].is_deflated);
  EXPECT_TRUE(parse(zip_file({}))->empty());
}

TEST(ZipTest, WhatIsCutIsRefused) {
  const std::string file = zip_file({{"a.npy", "first"}, {"b.npy", "second"}});
  EXPECT_FAILS(parse("PK"), StatusCode::kDataLoss, "it has no directory");
  for (size_t size = 0; size < file.size(); ++size) EXPECT_FALSE(parse(file.substr(0, size))) << size;
}

TEST(ZipTest, MembersOutsideOfTheFileAreRefused) {
  std::string file = zip_file({{"a", "first"}});
  const size_t row = file.find("PK\1\2");
  store_bytes<uint32_t>(file.data() + row + 20, 1000);
  store_bytes<uint32_t>(file.data() + row + 24, 1000);
  EXPECT_FAILS(parse(file), StatusCode::kDataLoss, "member 'a' is cut off");
  store_bytes<uint32_t>(file.data() + row + 42, 3);
  EXPECT_FAILS(parse(file), StatusCode::kDataLoss, "does not begin where its directory says");
  EXPECT_FAILS(parse(zip_file({{"a", "x"}}, 12)), StatusCode::kUnimplemented, "packed by method 12");
}

TEST(ZipTest, WideNumbersStandInARecordOfTheirOwn) {
  std::string file("PK\3\4", 4);
  file.append(22, '\0');
  append_little_endian(file, 1, 2);
  append_little_endian(file, 0, 2);
  file += "amember";
  const size_t row = file.size();
  file.append("PK\1\2", 4).append(16, '\0');
  append_little_endian(file, 0xffffffff, 4);
  append_little_endian(file, 0xffffffff, 4);
  append_little_endian(file, 1, 2);
  append_little_endian(file, 20, 2);
  file.append(14, '\0').append("a");
  append_little_endian(file, 1, 2);
  append_little_endian(file, 16, 2);
  append_little_endian(file, 6, 8);
  append_little_endian(file, 6, 8);
  const size_t record = file.size();
  file.append("PK\6\6", 4).append(28, '\0');
  append_little_endian(file, 1, 8);
  file.append(8, '\0');
  append_little_endian(file, row, 8);
  file.append("PK\6\7", 4).append(4, '\0');
  append_little_endian(file, record, 8);
  file.append(4, '\0').append("PK\5\6", 4).append(4, '\0');
  append_little_endian(file, 0xffffffff, 4);
  file.append(4, '\0');
  append_little_endian(file, 0xffffffff, 4);
  append_little_endian(file, 0, 2);
  const auto members = parse(file);
  ASSERT_OK(members);
  ASSERT_EQ(members->size(), 1u);
  EXPECT_EQ(text_of(members.value()[0].bytes), "member");
}

}  // namespace
}  // namespace baton::modules
