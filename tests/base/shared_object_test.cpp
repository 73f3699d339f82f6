// Goal: a library that was cut off anywhere in what the loader maps is told before the loader sees it, and the one that is opened is
// the file that is there. Method: this program's own file, cut at every length; small libraries that say who they are.
#include "base/shared_object.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "tests/support/status_matchers.hpp"

namespace baton {
namespace {

std::string own_bytes() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class SharedObjectTest : public ::testing::Test {
 protected:
  ~SharedObjectTest() override { ::unlink(path_.c_str()); }

  Status check(std::string_view bytes) const {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return check_shared_object(path_.c_str());
  }

  std::string path_ = ::testing::TempDir() + text("shared_object_test.", ::getpid());
};

TEST_F(SharedObjectTest, AnythingCutOffIsTold) {
  const std::string whole = own_bytes();
  Elf64_Ehdr head;
  ASSERT_GT(whole.size(), sizeof(head));
  std::memcpy(&head, whole.data(), sizeof(head));
  uint64_t mapped = 0;  // Where the last segment ends; sections behind it are not mapped.
  for (uint64_t i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, whole.data() + head.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_type == PT_LOAD) mapped = std::max<uint64_t>(mapped, segment.p_offset + segment.p_filesz);
  }
  EXPECT_OK(check(whole));
  EXPECT_OK(check(whole.substr(0, mapped)));
  for (uint64_t length = sizeof(head); length < 2048; length += 64) {
    EXPECT_FAILS(check(whole.substr(0, length)), StatusCode::kDataLoss, "it was cut off") << length;
  }
  for (uint64_t length = 2048; length < mapped; length += mapped / 20) {
    EXPECT_FAILS(check(whole.substr(0, length)), StatusCode::kDataLoss, "it was cut off") << length;
  }
  EXPECT_FAILS(check(whole.substr(0, mapped - 1)), StatusCode::kDataLoss, "it was cut off");
}

TEST_F(SharedObjectTest, NumbersThatWrapAreToldToo) {
  std::string bytes = own_bytes();
  Elf64_Ehdr head;
  std::memcpy(&head, bytes.data(), sizeof(head));
  head.e_phoff = UINT64_MAX - 8;
  std::memcpy(bytes.data(), &head, sizeof(head));
  EXPECT_FAILS(check(bytes), StatusCode::kDataLoss, "table of segments");
}

TEST_F(SharedObjectTest, WhatIsNoLibraryIsLeftToTheLoader) {
  EXPECT_OK(check(""));
  EXPECT_OK(check("no library"));
  EXPECT_OK(check_shared_object("/nonexistent/library.so"));
  EXPECT_OK(check_shared_object("/"));
}

// What the library at `path` says it is.
class OpenedLibrary {
 public:
  explicit OpenedLibrary(const std::string& path) : handle_(open_shared_object(path)) {}
  ~OpenedLibrary() {
    if (handle_) ::dlclose(handle_);
  }
  OpenedLibrary(const OpenedLibrary&) = delete;
  OpenedLibrary& operator=(const OpenedLibrary&) = delete;

  int number() const {
    using Number = int (*)();
    void* symbol = handle_ ? ::dlsym(handle_, "library_number") : nullptr;
    return symbol ? reinterpret_cast<Number>(symbol)() : -1;
  }
  void* handle() const { return handle_; }

 private:
  void* handle_;
};

std::string library(int number) { return text(BATON_TEST_LIBRARIES "/libnumber_", number, ".so"); }

TEST_F(SharedObjectTest, TheFileThatIsThereNowIsOpened) {
  std::vector<std::unique_ptr<OpenedLibrary>> open;
  for (const int number : {1, 2, 3, 1}) {  // Each is a new file, as linkers and package managers make them.
    const std::string next = path_ + ".next";
    std::filesystem::copy_file(library(number), next);
    std::filesystem::rename(next, path_);
    open.push_back(std::make_unique<OpenedLibrary>(path_));
    EXPECT_EQ(open.back()->number(), number);
    const OpenedLibrary again(path_);
    EXPECT_EQ(again.handle(), open.back()->handle());
  }
  EXPECT_EQ(open[0]->number(), 1);
  EXPECT_EQ(open[1]->number(), 2);
  open.clear();
  EXPECT_EQ(OpenedLibrary(path_).number(), 1);
}

TEST_F(SharedObjectTest, DescriptorsAreWhatTheyAreOf) {
  std::vector<std::unique_ptr<OpenedLibrary>> open;
  int first = -1;
  for (const int number : {1, 2, 3}) {
    const int file = ::open(library(number).c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    if (first < 0) first = file;
    EXPECT_EQ(file, first);  // The same path for each.
    open.push_back(std::make_unique<OpenedLibrary>(text("/proc/self/fd/", file)));
    ::close(file);
    EXPECT_EQ(open.back()->number(), number);
  }
}

TEST_F(SharedObjectTest, WhatCannotBeOpenedIsNull) {
  EXPECT_EQ(OpenedLibrary("/nowhere.so").handle(), nullptr);
  EXPECT_THAT(::dlerror(), testing::HasSubstr("/nowhere.so"));
}

}  // namespace
}  // namespace baton
