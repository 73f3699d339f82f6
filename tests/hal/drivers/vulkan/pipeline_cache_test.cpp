// Goal: pipelines that are kept on disk come back, and no file, folder or other process can do harm. Method: the file by itself,
// altered at each of its parts; then devices with a folder of their own, several at once.
#include "hal/drivers/vulkan/pipeline_cache.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "hal/device.hpp"
#include "hal/drivers/vulkan/driver.hpp"
#include "tests/support/status_matchers.hpp"
#include "tests/support/temporary_path.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

namespace fs = std::filesystem;

class PipelineCacheTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path() const { return folder_ + "/file.pipelines"; }
  static std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(std::string_view bytes) const {
    fs::remove_all(path());
    std::ofstream(path(), std::ios::binary) << bytes;
    fs::permissions(path(), fs::perms::owner_read | fs::perms::owner_write);
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path());
    return found;
  }

  const std::string folder_ = testing_support::temporary_path(
      std::string("pipelines-") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

std::vector<std::byte> some_bytes() {
  std::vector<std::byte> bytes(100);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
  return bytes;
}

TEST_F(PipelineCacheTest, WhatIsWrittenComesBack) {
  EXPECT_TRUE(read_pipelines(path()).value().empty()) << "no file is no failure";
  EXPECT_OK(write_pipelines(path(), {}));
  EXPECT_TRUE(read_pipelines(path()).value().empty());
  EXPECT_OK(write_pipelines(path(), some_bytes()));
  EXPECT_EQ(read_pipelines(path()).value(), some_bytes());
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(PipelineCacheTest, WhatIsAlteredIsIgnored) {
  ASSERT_OK(write_pipelines(path(), some_bytes()));
  const std::string good = bytes_of(path());
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    put(bad);
    EXPECT_FAILS(read_pipelines(path()), StatusCode::kDataLoss, "is ignored: it ") << at;
    put(good.substr(0, at));
    EXPECT_FAILS(read_pipelines(path()), StatusCode::kDataLoss, "is ignored: it ") << at;
  }
  put(good + "x");
  EXPECT_FAILS(read_pipelines(path()), StatusCode::kDataLoss, "it is cut or altered");
  EXPECT_OK(write_pipelines(path(), some_bytes())) << "it is replaced";
  EXPECT_EQ(bytes_of(path()), good);
}

TEST_F(PipelineCacheTest, WhatIsNoFileOfOursIsIgnored) {
  ASSERT_OK(write_pipelines(path(), some_bytes()));
  fs::permissions(path(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_FAILS(read_pipelines(path()), StatusCode::kDataLoss, "others may have written it");
  const std::string link = folder_ + "/link";
  fs::create_symlink(path(), link);
  EXPECT_FAILS(read_pipelines(link), StatusCode::kDataLoss, "is ignored: ");
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FAILS(read_pipelines(pipe), StatusCode::kDataLoss, "it is no plain file");
  EXPECT_FAILS(read_pipelines(folder_), StatusCode::kDataLoss, "it is no plain file");
  EXPECT_FAILS(write_pipelines(path() + "/below/file", some_bytes()), StatusCode::kUnavailable, "cannot be written: ");
}

// The process may write files of a few bytes only: the first part of one is written, and the rest is not.
TEST_F(PipelineCacheTest, ADiskThatIsFullLeavesTheOldOne) {
  ASSERT_OK(write_pipelines(path(), some_bytes()));
  std::vector<std::byte> more = some_bytes();
  more.resize(1000);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit few{200, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &few), 0);
  const Status written = write_pipelines(path(), more);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_FAILS(written, StatusCode::kUnavailable, "cannot be written: ");
  EXPECT_EQ(files().size(), 1u) << "nothing is left beside it";
  EXPECT_EQ(read_pipelines(path()).value(), some_bytes());
}

TEST_F(PipelineCacheTest, ManyWriteAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 20; ++turn) {
        EXPECT_OK(write_pipelines(path(), some_bytes()));
        EXPECT_EQ(read_pipelines(path()).value(), some_bytes());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(files().size(), 1u);
}

// ---- Devices --------------------------------------------------------------------------------------------------------

class Heard final : public ValidationListener {
 public:
  void say(std::string_view message) override { messages.emplace_back(message); }
  std::vector<std::string> messages;
};

TEST_F(PipelineCacheTest, DevicesReadAndWriteTheirs) {
  const auto heard = std::make_shared<Heard>();
  const auto driver = make_driver({.validation_listener = heard});
  const DeviceParameter wanted[] = {{"vulkan_cache", folder_}};
  auto opened = driver->open("", wanted);
  if (!opened.has_value() && opened.error().code() == StatusCode::kUnavailable) {
    GTEST_SKIP() << "skipped: no Vulkan device (" << opened.error().message() << ")";
  }
  ASSERT_OK(opened);
  Ref<hal::Device> device = std::move(opened).value(), second = driver->open("", wanted).value();
  device = nullptr;
  second = nullptr;
  ASSERT_EQ(files().size(), 1u);
  const std::string path = files().front();
  EXPECT_FALSE(read_pipelines(path).value().empty());
  const std::string before = bytes_of(path);
  device = driver->open("", wanted).value();
  device = nullptr;
  EXPECT_TRUE(heard->messages.empty()) << heard->messages.front();
  // Altered while a device is open, and before one opens.
  device = driver->open("", wanted).value();
  std::ofstream(path) << "altered";
  device = nullptr;
  EXPECT_TRUE(heard->messages.empty());
  EXPECT_EQ(bytes_of(path).size(), before.size());
  std::ofstream(path) << "altered";
  device = driver->open("", wanted).value();
  ASSERT_EQ(heard->messages.size(), 1u);
  EXPECT_NE(heard->messages.front().find("is ignored: it has 7 bytes."), std::string::npos) << heard->messages.front();
  device = nullptr;
  EXPECT_EQ(bytes_of(path).size(), before.size());
  // Where nothing can be written.
  const std::string nowhere = path + "/folder";
  const DeviceParameter bad[] = {{"vulkan_cache", nowhere}};
  device = driver->open("", bad).value();
  device = nullptr;
  EXPECT_NE(heard->messages.back().find("cannot be written: "), std::string::npos) << heard->messages.back();
}

}  // namespace
}  // namespace baton::hal::drivers::vulkan
