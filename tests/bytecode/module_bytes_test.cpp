// Bytes of modules: mapped, copied, borrowed, and the sentence for each way a path can disappoint.
#include "bytecode/module_bytes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "bytecode/module_view.hpp"
#include "tests/support/temporary_path.hpp"

namespace baton::bytecode {
namespace {

using testing::HasSubstr;

class ModuleBytesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing_support::temporary_path(testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const char* name, std::string_view content) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  std::filesystem::path folder_;
};

std::string text_of(const ModuleBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.bytes().data()), bytes.bytes().size()};
}

TEST_F(ModuleBytesTest, MapsAFileThatMayThenBeDeleted) {
  const std::string path = write("module.bvm", "content");
  Result<ModuleBytes> mapped = ModuleBytes::map_file(path);
  ASSERT_TRUE(mapped);
  std::filesystem::remove(path);
  const ModuleBytes moved = std::move(*mapped);
  EXPECT_EQ(text_of(moved), "content");
}

TEST_F(ModuleBytesTest, SaysWhyAFileCannotBeMapped) {
  const std::string missing = folder_ / "missing.bvm";
  EXPECT_EQ(ModuleBytes::map_file(missing).error().message(),
            text("Cannot open '", missing, "': No such file or directory."));
  EXPECT_EQ(ModuleBytes::map_file(missing).error().code(), StatusCode::kNotFound);
  EXPECT_THAT(std::string(ModuleBytes::map_file(folder_).error().message()), HasSubstr("is a directory"));
  EXPECT_THAT(std::string(ModuleBytes::map_file(write("e", "")).error().message()), HasSubstr("is an empty file"));
  EXPECT_THAT(std::string(ModuleBytes::map_file("/dev/null").error().message()), HasSubstr("is not a regular file"));
}

// A file as the gate sees it: a size prefix, so many bytes of tables, then rodata.
std::string file_with(size_t table_size, size_t rodata_size) {
  const auto prefix = static_cast<uint32_t>(table_size);
  std::string file(reinterpret_cast<const char*>(&prefix), sizeof(prefix));
  return file + std::string(table_size, 't') + std::string(rodata_size, 'r');
}

// What was verified is what runs: whoever writes to the file, cuts it off or makes it longer afterwards changes no byte
// of the tables, and of small files none at all.
TEST_F(ModuleBytesTest, TablesStayWhateverBecomesOfTheFile) {
  constexpr size_t kSmall = 1000, kLarge = 900'000;
  for (size_t table_size : {kSmall, kLarge}) {
    for (size_t rodata_size : {size_t{0}, kSmall, kLarge}) {
      SCOPED_TRACE(testing::Message() << table_size << " bytes of tables, " << rodata_size << " of rodata");
      const std::string content = file_with(table_size, rodata_size);
      const std::string path = write("module.bvm", content);
      const Result<ModuleBytes> mapped = ModuleBytes::map_file(path);
      ASSERT_TRUE(mapped) << mapped.error().to_string();
      ASSERT_EQ(text_of(*mapped), content);
      const size_t kept = table_size + rodata_size <= 2 * kSmall ? content.size() : 4 + table_size;
      const auto unchanged = [&] { return text_of(*mapped).substr(0, kept) == content.substr(0, kept); };
      std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << std::string(content.size(), 'x');
      EXPECT_TRUE(unchanged()) << "written to";
      std::filesystem::resize_file(path, 0);
      EXPECT_EQ(std::memcmp(mapped->bytes().data(), content.data(), kept), 0) << "cut off";
      std::filesystem::resize_file(path, content.size());
      EXPECT_TRUE(unchanged()) << "made longer again";
    }
  }
}

TEST_F(ModuleBytesTest, LargeRodataIsUsedInPlace) {
  const std::string content = file_with(1000, 2'000'000);
  const std::string path = write("module.bvm", content);
  const Result<ModuleBytes> mapped = ModuleBytes::map_file(path);
  ASSERT_TRUE(mapped);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(content.size() - 1)).put('x').flush();
  EXPECT_EQ(text_of(*mapped).back(), 'x') << "a copy of everything costs what large constants take";
}

TEST_F(ModuleBytesTest, CopiesToMemoryAlignedForRodata) {
  const char source[] = "xcontent";
  ModuleBytes copy = ModuleBytes::copy(std::as_bytes(std::span(source + 1, 7)));
  EXPECT_EQ(text_of(copy), "content");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(copy.bytes().data()) % kRodataAlignment, 0u);
  copy = ModuleBytes::copy({});
  EXPECT_TRUE(copy.bytes().empty());
}

TEST_F(ModuleBytesTest, BorrowsOnlyAlignedMemory) {
  alignas(kRodataAlignment) static const std::byte memory[128] = {};
  const Result<ModuleBytes> borrowed = ModuleBytes::borrow(memory);
  ASSERT_TRUE(borrowed);
  EXPECT_EQ(borrowed->bytes().data(), memory);
  EXPECT_EQ(ModuleBytes::borrow(std::span(memory).subspan(8)).error().message(),
            "Module bytes lie 8 past a multiple of 64.");
}

}  // namespace
}  // namespace baton::bytecode
