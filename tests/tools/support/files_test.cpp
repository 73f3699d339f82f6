// Files appear whole or not at all.
#include "tools/support/files.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace baton::tools {
namespace {

class Files : public testing::Test {
 protected:
  Files() {
    std::string pattern = (std::filesystem::temp_directory_path() / "baton-files-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Files() override { std::filesystem::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  size_t file_count() const {
    const std::filesystem::directory_iterator files(folder_);
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }

  std::filesystem::path folder_;
};

TEST_F(Files, AreReadAsTheyWereWritten) {
  const std::string text(200'000, 'x');
  ASSERT_TRUE(write_file(path("a"), bytes_of(text)).ok());
  Result<std::vector<std::byte>> bytes = read_file(path("a"));
  ASSERT_TRUE(bytes.has_value());
  EXPECT_EQ(text_of(*bytes), text);
  EXPECT_EQ(file_count(), 1u) << "the file it was written to first is gone";
}

TEST_F(Files, ReplaceWhatWasThere) {
  ASSERT_TRUE(write_file(path("a"), bytes_of("longer than its successor")).ok());
  ASSERT_TRUE(write_file(path("a"), bytes_of("new")).ok());
  EXPECT_EQ(text_of(*read_file(path("a"))), "new");
}

TEST_F(Files, ThatCannotBeWrittenLeaveNothing) {
  std::filesystem::create_directory(path("folder"));
  EXPECT_FALSE(write_file(path("folder"), bytes_of("x")).ok());
  EXPECT_EQ(write_file(path("missing/a"), bytes_of("x")).code(), StatusCode::kNotFound);
  EXPECT_EQ(file_count(), 1u);
}

TEST_F(Files, GrowAtTheirEnd) {
  for (const char* text : {"one", "two"}) {
    Result<OutputFile> file = OutputFile::append_to(path("a"));
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE(file->write(bytes_of(text)).ok());
    ASSERT_TRUE(file->finish().ok());
  }
  EXPECT_EQ(text_of(*read_file(path("a"))), "onetwo");
}

TEST_F(Files, ThatAreNotFinishedLeaveWhatWasThere) {
  ASSERT_TRUE(write_file(path("a"), bytes_of("old")).ok());
  for (auto* begin : {&OutputFile::create, &OutputFile::append_to}) {
    for (const char* name : {"a", "b"}) {
      Result<OutputFile> file = begin(path(name));
      ASSERT_TRUE(file.has_value());
      ASSERT_TRUE(file->write(bytes_of("new")).ok());
    }
  }
  EXPECT_EQ(text_of(*read_file(path("a"))), "old");
  EXPECT_EQ(file_count(), 1u);
}

TEST_F(Files, ThatAreMappedMayBeChangedInMemory) {
  ASSERT_TRUE(write_file(path("a"), bytes_of("old")).ok());
  Result<SharedBytes> mapped = map_file(path("a"));
  ASSERT_TRUE(mapped.has_value());
  const_cast<std::byte&>(mapped->bytes[0]) = std::byte{'x'};
  EXPECT_EQ(text_of(mapped->bytes), "xld");
  EXPECT_EQ(text_of(*read_file(path("a"))), "old");
  ASSERT_TRUE(write_file(path("empty"), {}).ok());
  EXPECT_TRUE(map_file(path("empty"))->bytes.empty());
}

TEST_F(Files, ThatAreFullSaySo) {
  const Status status = write_file("/dev/full", bytes_of("x"));
  EXPECT_EQ(status.message(), "'/dev/full' could not be written (No space left on device)");
}

TEST_F(Files, ThatAreMissingSaySo) {
  Result<std::vector<std::byte>> bytes = read_file(path("missing"));
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(bytes.error().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace baton::tools
