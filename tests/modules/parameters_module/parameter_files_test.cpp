// Files that lie, cut off at every byte or with hostile numbers at every place: refused, or read as tensors that lie inside
// the file and are as large as they say. A file that got shorter after it was mapped is refused when it is asked for.
#include "modules/parameters_module/parameter_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "modules/parameters_module/gguf.hpp"
#include "modules/parameters_module/npy.hpp"
#include "modules/parameters_module/safetensors.hpp"
#include "modules/parameters_module/zip.hpp"
#include "tests/support/numpy_files.hpp"
#include "tests/support/status_matchers.hpp"
#include "tests/support/temporary_path.hpp"

namespace baton::modules {
namespace {

using testing_support::append_little_endian;
using testing_support::npy_file;
using testing_support::temporary_path;
using testing_support::zip_file;
using Bytes = std::span<const std::byte>;

constexpr std::string_view kTwoFloats = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";

std::string good_npy() { return npy_file(kTwoFloats, "12345678"); }
std::string good_npz() { return zip_file({{"a.npy", good_npy()}, {"b.npy", good_npy()}}); }

std::string good_safetensors() {
  const std::string_view header =
      R"({"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"b":{"dtype":"I64","shape":[1],"data_offsets":[16,24]}})";
  std::string file;
  append_little_endian(file, header.size(), 8);
  return file.append(header).append(24, 'x');
}

// Two tensors behind a name, a list of names and an alignment: each kind of number that a header has.
std::string good_gguf() {
  std::string file = "GGUF";
  const auto number = [&](uint64_t value, int width) { append_little_endian(file, value, width); };
  const auto string = [&](std::string_view value) {
    number(value.size(), 8);
    file += value;
  };
  number(3, 4), number(2, 8), number(3, 8);
  string("general.name"), number(8, 4), string("tiny");
  string("tokens"), number(9, 4), number(8, 4), number(2, 8), string("a"), string("");
  string("general.alignment"), number(4, 4), number(64, 4);
  for (const uint64_t offset : {uint64_t{0}, uint64_t{64}}) {
    string(offset == 0 ? "a" : "b"), number(2, 4), number(3, 8), number(2, 8), number(0, 4), number(offset, 8);
  }
  file.append((64 - file.size() % 64) % 64, '\0');
  return file.append(64 + 24, 'x');
}

struct Format {
  const char* ending;
  std::string (*good)();
};
constexpr Format kFormats[] = {
    {"npy", good_npy}, {"npz", good_npz}, {"safetensors", good_safetensors}, {"gguf", good_gguf}};

void expect_inside(Bytes file, Bytes bytes, const std::vector<int64_t>& shape, hal::ElementType type) {
  uint64_t length = element_bytes(type);
  for (const int64_t extent : shape) {
    ASSERT_GE(extent, 0);
    if (length != 0) {
      ASSERT_LE(static_cast<uint64_t>(extent), file.size());  // So that the product is one.
    }
    length *= static_cast<uint64_t>(extent);
    ASSERT_LE(length, file.size());
  }
  ASSERT_EQ(bytes.size(), length);
  if (bytes.empty()) return;
  ASSERT_GE(bytes.data(), file.data());
  ASSERT_LE(bytes.data() + bytes.size(), file.data() + file.size());
}

void expect_all_inside(Bytes file, const Result<std::vector<TensorEntry>>& entries) {
  if (!entries) return;
  for (const TensorEntry& entry : *entries) expect_inside(file, entry.bytes, entry.shape, entry.element_type);
}

// From memory that is exactly as large as the file, so that a sanitizer sees a read beyond its end.
void read_exactly(std::string_view ending, std::string_view content) {
  const auto copy = std::make_unique<std::byte[]>(content.size());
  std::copy_n(reinterpret_cast<const std::byte*>(content.data()), content.size(), copy.get());
  const Bytes file(copy.get(), content.size());
  const auto read_array = [&](Bytes bytes) {
    if (const auto array = parse_npy(bytes)) expect_inside(file, array->bytes, array->shape, array->element_type);
  };
  if (ending == "npy") return read_array(file);
  if (ending == "gguf") return expect_all_inside(file, parse_gguf(file));
  if (ending == "safetensors") return expect_all_inside(file, parse_safetensors(file));
  const auto members = parse_zip(file);
  if (!members) return;
  for (const ZipMember& member : *members) {
    if (!member.bytes.empty()) read_array(member.bytes);
  }
}

void write(const std::string& path, std::string_view content) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::write(file, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  ASSERT_EQ(close(file), 0);
}

class ParameterFilesTest : public testing::TestWithParam<Format> {
 protected:
  ParameterFilesTest() : path_(temporary_path(std::string("hostile.") + GetParam().ending)) {}
  ~ParameterFilesTest() override { unlink(path_.c_str()); }

  const std::string path_;
};

TEST_P(ParameterFilesTest, GoodFilesAreRead) {
  write(path_, GetParam().good());
  ParameterFiles files;
  EXPECT_OK(files.add({"s", path_}));
  EXPECT_FAILS(files.add({"s", path_}), StatusCode::kAlreadyExists, "already");
}

TEST_P(ParameterFilesTest, FilesThatAreCutOffAreRefused) {
  const std::string good = GetParam().good();
  for (size_t size = 0; size < good.size(); ++size) {
    SCOPED_TRACE(size);
    read_exactly(GetParam().ending, std::string_view(good).substr(0, size));
    write(path_, std::string_view(good).substr(0, size));
    ParameterFiles files;
    EXPECT_FALSE(files.add({"s", path_}).ok());
  }
}

// Counts, lengths, offsets and types of every width, none of which this test has to know.
TEST_P(ParameterFilesTest, HostileNumbersAnywhere) {
  const std::string good = GetParam().good();
  const uint64_t size = good.size();
  for (const uint64_t number :
       {uint64_t{0}, uint64_t{1}, size - 1, size, size + 1, uint64_t{0x7fffffff}, uint64_t{0x80000000},
        uint64_t{0xffffffff}, uint64_t{INT64_MAX}, uint64_t{1} << 63, ~uint64_t{0} - 7, ~uint64_t{0}}) {
    for (const int width : {1, 2, 4, 8}) {
      if (width < 8 && number >> (8 * width) != 0 && ~number != 0) continue;  // Too wide.
      std::string bytes;
      append_little_endian(bytes, number, width);
      for (size_t at = 0; at + bytes.size() <= good.size(); ++at) {
        SCOPED_TRACE(testing::Message() << number << " in " << width << " bytes at " << at);
        std::string bad = good;
        read_exactly(GetParam().ending, bad.replace(at, bytes.size(), bytes));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// The same where numbers are text.
TEST_P(ParameterFilesTest, HostileTextForEveryNumber) {
  const std::string good = GetParam().good();
  for (const std::string_view text :
       {"", "-1", "0", "00", "1e9", "0x10", "9223372036854775807", "9223372036854775808", "18446744073709551615",
        "18446744073709551616", "[", "]", "(", ")", "'", "\"", "\\"}) {
    for (size_t at = 0; at < good.size(); ++at) {
      if (good[at] < '0' || good[at] > '9') continue;
      SCOPED_TRACE(testing::Message() << text << " at " << at);
      std::string bad = good;
      read_exactly(GetParam().ending, bad.replace(at, 1, text));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(ParameterFilesTest, AFileThatGotShorterIsRefused) {
  write(path_, GetParam().good());
  ParameterFiles files;
  ASSERT_OK(files.add({"s", path_}));
  const std::string key = std::string_view(GetParam().ending) == "npy" ? path_.substr(path_.rfind('/') + 1) : "a";
  const auto parameter = files.find("s", key.substr(0, key.rfind('.')));
  ASSERT_OK(parameter);
  EXPECT_OK((*parameter)->file->check_whole());
  ASSERT_EQ(truncate(path_.c_str(), 40), 0);
  EXPECT_FAILS((*parameter)->file->check_whole(), StatusCode::kDataLoss, "bytes when it was mapped, and now has 40");
}

INSTANTIATE_TEST_SUITE_P(Formats, ParameterFilesTest, testing::ValuesIn(kFormats),
                         [](const auto& format) { return std::string(format.param.ending); });

// Tensors may share bytes; names may not be shared.
TEST(ParameterNamesTest, TensorsMayOverlapAndNamesMayNot) {
  const auto parse = [](std::string_view second) {
    const std::string header = text(R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},")", second,
                                    R"(":{"dtype":"U8","shape":[8],"data_offsets":[4,12]}})");
    std::string file;
    append_little_endian(file, header.size(), 8);
    const std::string path = temporary_path("overlapping.safetensors");
    write(path, file.append(header).append(12, 'x'));
    ParameterFiles files;
    Status status = files.add({"s", path});
    unlink(path.c_str());
    return status;
  };
  EXPECT_OK(parse("b"));
  EXPECT_FAILS(parse("a"), StatusCode::kAlreadyExists, "has 'a' already");
}

}  // namespace
}  // namespace baton::modules
