// .npy and .npz files are read as NumPy writes them, and files that are cut or strange are refused with a sentence.
#include "tools/support/npy.hpp"

#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "tests/support/status_matchers.hpp"
#include "tools/support/files.hpp"

namespace baton::tools {
namespace {

Tensor tensor_of(std::string_view text) {
  auto tensor = parse_tensor(text);
  EXPECT_OK(tensor);
  return *tensor;
}

std::string text_of_tensor(const Result<Tensor>& tensor) {
  if (!tensor) return tensor.error().to_string();
  return describe_tensor(tensor->type.shape, tensor->type.element_type, tensor->bytes);
}

// As numpy.save writes it.
std::string npy(std::string_view dictionary, std::string_view elements) {
  std::string file("\x93NUMPY\x01\0", 8);
  file += static_cast<char>(dictionary.size() & 0xff);
  file += static_cast<char>(dictionary.size() >> 8);
  return file.append(dictionary).append(elements);
}

// As numpy.savez writes it: members one after the other, then their directory.
std::string npz(std::initializer_list<std::pair<std::string_view, std::string>> members, uint16_t method = 0) {
  std::string file, directory;
  const auto u16 = [](std::string& target, size_t number) {
    target += static_cast<char>(number & 0xff);
    target += static_cast<char>(number >> 8 & 0xff);
  };
  const auto u32 = [&](std::string& target, size_t number) {
    u16(target, number & 0xffff);
    u16(target, number >> 16);
  };
  for (const auto& [name, data] : members) {
    const size_t start = file.size();
    file.append("PK\3\4", 4).append(22, '\0');
    u16(file, name.size());
    u16(file, 0);
    file.append(name).append(data);
    directory.append("PK\1\2", 4).append(6, '\0');
    u16(directory, method);
    directory.append(8, '\0');
    u32(directory, data.size());
    u32(directory, data.size());
    u16(directory, name.size());
    directory.append(12, '\0');
    u32(directory, start);
    directory.append(name);
  }
  const size_t at = file.size();
  file += directory;
  file.append("PK\5\6", 4).append(4, '\0');
  u16(file, members.size());
  u16(file, members.size());
  u32(file, directory.size());
  u32(file, at);
  u16(file, 0);
  return file;
}

TEST(NpyTest, WhatIsWrittenReadsBack) {
  for (const char* text : {"f32=3", "4xi32=1 2 3 4", "2x2xf64=[1 2][3 4]", "2x3xui16=[1 2 3][4 5 6]",
                           "0xf32=", "3xi8=-1 2 3", "2xf16=1 2", "2xi1=0 1"}) {
    const Tensor tensor = tensor_of(text);
    const std::vector<std::byte> file = write_npy(tensor.type, tensor.bytes);
    EXPECT_EQ((file.size() - tensor.bytes.size()) % 64, 0u);
    EXPECT_EQ(text_of_tensor(parse_npy(file)), text);
  }
}

TEST(NpyTest, NumpysOwnHeaderIsRead) {
  const std::string file = npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 1), }   \n",
                               std::string_view("\1\0\0\0\xff\xff\xff\xff", 8));
  EXPECT_EQ(text_of_tensor(parse_npy(bytes_of(file))), "2x1xi32=[1][-1]");
}

TEST(NpyTest, StrangeFilesAreRefused) {
  const auto message = [](const std::string& file) { return text_of_tensor(parse_npy(bytes_of(file))); };
  EXPECT_EQ(message("hello"), "DATA_LOSS; the .npy data is not as NumPy writes it; it does not begin with NUMPY");
  const std::string good = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", "12345678");
  for (size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(parse_npy(bytes_of(good.substr(0, size)))) << size;
  EXPECT_FAILS(parse_npy(bytes_of(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", "12345678"))),
               StatusCode::kUnimplemented, "'>f4' is not little-endian");
  EXPECT_FAILS(parse_npy(bytes_of(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1,2), }", "12345678"))),
               StatusCode::kUnimplemented, "Fortran order");
  EXPECT_FAILS(parse_npy(bytes_of(npy("{'descr': '<U4', 'fortran_order': False, 'shape': (2,), }", "12345678"))),
               StatusCode::kUnimplemented, "which no tensor has");
  EXPECT_FAILS(parse_npy(bytes_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (x,), }", "12345678"))),
               StatusCode::kDataLoss, "no number");
  EXPECT_FAILS(parse_npy(bytes_of(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "12345678"))),
               StatusCode::kDataLoss, "its 3xf32 takes 12 bytes, and 8 are there");
}

TEST(NpyTest, ArraysOfAnNpzAreFoundByName) {
  const auto array = [](std::string_view text) {
    const Tensor tensor = tensor_of(text);
    return std::string(text_of(write_npy(tensor.type, tensor.bytes)));
  };
  const std::string file = npz({{"a.npy", array("2xi32=1 2")}, {"b.npy", array("f64=2.5")}});
  EXPECT_EQ(text_of_tensor(parse_npz(bytes_of(file), "a")), "2xi32=1 2");
  EXPECT_EQ(text_of_tensor(parse_npz(bytes_of(file), "b")), "f64=2.5");
  EXPECT_FAILS(parse_npz(bytes_of(file), "c"), StatusCode::kNotFound, "no array 'c'; it has a, b");
  EXPECT_FAILS(parse_npz(bytes_of("PK"), "a"), StatusCode::kDataLoss, "it has no directory");
  for (size_t size = 0; size < file.size(); ++size) EXPECT_FALSE(parse_npz(bytes_of(file.substr(0, size)), "a"));
  EXPECT_FAILS(parse_npz(bytes_of(npz({{"a.npy", array("i8=1")}}, 8)), "a"), StatusCode::kUnimplemented,
               "is compressed");
}

}  // namespace
}  // namespace baton::tools
