// Arrays of NumPy's files become tensors, whichever way they are packed and ordered, and tensors become such arrays.
#include "tools/support/numpy.hpp"

#include <gtest/gtest.h>

#include "tests/support/numpy_files.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::tools {
namespace {

using testing_support::npy_file;
using testing_support::zip_file;

SharedBytes shared(const std::string& file) {
  auto owner = std::make_shared<const std::string>(file);
  return {bytes_of(*owner), owner};
}

std::string text_of_tensor(const Result<Tensor>& tensor) {
  if (!tensor) return tensor.error().to_string();
  return describe_tensor(tensor->type.shape, tensor->type.element_type, tensor->bytes);
}

std::string npy_of(std::string_view text) {
  const auto tensor = parse_tensor(text);
  EXPECT_OK(tensor);
  return npy_header(tensor->type).append(text_of(tensor->bytes));
}

std::string read_back(const std::string& file) {
  size_t offset = 0;
  return text_of_tensor(read_npy(shared(file), offset));
}

TEST(NumpyTest, WhatIsWrittenReadsBack) {
  for (const char* text : {"f32=3", "4xi32=1 2 3 4", "2x2xf64=[1 2][3 4]", "2x3xui16=[1 2 3][4 5 6]",
                           "0xf32=", "3xi8=-1 2 3", "2xf16=1 2", "2xi1=0 1"}) {
    EXPECT_EQ(read_back(npy_of(text)), text);
    EXPECT_EQ(npy_header(parse_tensor(text)->type).size() % 64, 0u);
  }
}

TEST(NumpyTest, FortranOrderIsTurnedAround) {
  EXPECT_EQ(read_back(npy_file("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }\n", "\1\4\2\5\3\6")),
            "2x3xi8=[1 2 3][4 5 6]");
  EXPECT_EQ(read_back(npy_file("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 0), }\n", "")), "2x0xi8=");
  EXPECT_EQ(read_back(npy_file("{'descr': '|i1', 'fortran_order': True, 'shape': (2,1,2), }\n", "\1\3\2\4")),
            "2x1x2xi8=[[1 2]][[3 4]]");
}

TEST(NumpyTest, SeveralArraysStandInOneFile) {
  const SharedBytes file = shared(npy_of("2xi8=1 2") + npy_of("f32=3"));
  size_t offset = 0;
  EXPECT_EQ(text_of_tensor(read_npy(file, offset)), "2xi8=1 2");
  EXPECT_EQ(text_of_tensor(read_npy(file, offset)), "f32=3");
  EXPECT_EQ(offset, file.bytes.size());
  EXPECT_EQ(*count_npy(file.bytes), 2u);
}

TEST(NumpyTest, ArraysOfAnNpzAreFoundByName) {
  const SharedBytes file = shared(zip_file({{"a.npy", npy_of("2xi32=1 2")}, {"b.npy", npy_of("f64=2.5")}}));
  EXPECT_TRUE(is_npz(file.bytes));
  EXPECT_EQ(text_of_tensor(read_npz(file, "a")), "2xi32=1 2");
  EXPECT_EQ(text_of_tensor(read_npz(file, "b")), "f64=2.5");
  EXPECT_EQ(*npz_names(file.bytes), (std::vector<std::string>{"a", "b"}));
  EXPECT_FAILS(read_npz(file, "c"), StatusCode::kNotFound, "no array 'c'; it has a, b");
}

TEST(NumpyTest, PackedBytesThatAreDamagedAreRefused) {
#ifdef BATON_TEST_EMULATED
  GTEST_SKIP() << "built without zlib, of which Debian has no cross library";
#endif
  EXPECT_FAILS(read_npz(shared(zip_file({{"a.npy", npy_of("i8=1")}}, 8)), "a"), StatusCode::kDataLoss,
               "member 'a.npy' of the .npz data could not be unpacked; its packed bytes are damaged");
}

}  // namespace
}  // namespace baton::tools
