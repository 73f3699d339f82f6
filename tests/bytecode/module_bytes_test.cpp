// Bytes of modules: mapped, copied, borrowed, and the sentence for each way a path can disappoint.
#include "bytecode/module_bytes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "bytecode/module_view.hpp"

namespace baton::bytecode {
namespace {

using testing::HasSubstr;

class ModuleBytesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
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
