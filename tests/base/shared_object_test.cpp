// Goal: a library that was cut off anywhere in what the loader maps is told before the loader sees it. Method: this program's own
// file, cut at every length.
#include "base/shared_object.hpp"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

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

}  // namespace
}  // namespace baton
