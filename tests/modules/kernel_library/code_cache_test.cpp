// Goal: what comes out of the cache was stored under exactly that key, whatever lies in its folder.
#include "modules/kernel_library/code_cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/support/temporary_path.hpp"

namespace baton::modules {
namespace {

namespace fs = std::filesystem;

class CodeCacheTest : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  static std::vector<std::byte> code(std::string_view text) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }
  const fs::path folder_ = testing_support::temporary_path("code-cache");
  const CodeCache cache_{(folder_ / "deep" / "er").string()};
};

TEST_F(CodeCacheTest, GivesWhatWasStored) {
  EXPECT_FALSE(cache_.find("key").has_value());
  cache_.store("key", code("machine"));
  cache_.store("other", code(""));
  cache_.store("key", code("machine code"));
  EXPECT_EQ(cache_.find("key"), code("machine code"));
  EXPECT_EQ(cache_.find("other"), code(""));
  EXPECT_FALSE(cache_.find("ke").has_value());
}

TEST_F(CodeCacheTest, DamageIsNothing) {
  cache_.store("key", code("machine code"));
  const fs::path path = fs::directory_iterator(folder_ / "deep" / "er")->path();
  std::ifstream file(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  const auto rewrite = [&](const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; };
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    rewrite(damaged);
    EXPECT_FALSE(cache_.find("key").has_value()) << at;
    rewrite(whole.substr(0, at));
    EXPECT_FALSE(cache_.find("key").has_value()) << at;
  }
  rewrite(whole + "x");
  EXPECT_FALSE(cache_.find("key").has_value());
  rewrite(whole);
  EXPECT_EQ(cache_.find("key"), code("machine code"));
}

// Nobody waits for a pipe's other end, and nothing is read or written through a link.
TEST_F(CodeCacheTest, PipesAndLinksAreNothing) {
  cache_.store("key", code("machine code"));
  const fs::path path = fs::directory_iterator(folder_ / "deep" / "er")->path(), kept = folder_ / "kept";
  fs::rename(path, kept);
  fs::create_symlink(kept, path);
  EXPECT_FALSE(cache_.find("key").has_value());
  cache_.store("key", code("other code"));
  EXPECT_EQ(cache_.find("key"), code("other code"));
  EXPECT_FALSE(fs::is_symlink(path));
  fs::rename(kept, path);
  EXPECT_EQ(cache_.find("key"), code("machine code"));
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(cache_.find("key").has_value());
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_FALSE(cache_.find("key").has_value());
}

// Not the system's either: whoever stores files lets nobody else read them. Needs to be root, who may give files away.
TEST_F(CodeCacheTest, WhatAnotherUserStoredIsNothing) {
  cache_.store("key", code("machine code"));
  const fs::path path = fs::directory_iterator(folder_ / "deep" / "er")->path();
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  constexpr uid_t kOther = 12345;
  if (chown(path.c_str(), kOther, static_cast<gid_t>(-1)) != 0) GTEST_SKIP() << "only root gives files away";
  EXPECT_FALSE(cache_.find("key").has_value());
}

TEST_F(CodeCacheTest, AFolderThatCannotBeWrittenIsEmpty) {
  const CodeCache none(""), nowhere("/proc/nowhere");
  for (const CodeCache* cache : {&none, &nowhere}) {
    cache->store("key", code("machine code"));
    EXPECT_FALSE(cache->find("key").has_value());
  }
}

}  // namespace
}  // namespace baton::modules
