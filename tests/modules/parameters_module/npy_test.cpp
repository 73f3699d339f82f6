// .npy data is read where it lies as NumPy writes it, and what is cut or strange is refused with a sentence.
#include "modules/parameters_module/npy.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "tests/support/numpy_files.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::modules {
namespace {

using testing_support::npy_file;

Result<NpyArray> parse(std::string_view file) { return parse_npy(std::as_bytes(std::span(file))); }

TEST(NpyTest, ArraysAreFoundInTheFile) {
  const std::string file =
      npy_file("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 1), }   \n", "12345678") + "more";
  const auto array = parse(file);
  ASSERT_OK(array);
  EXPECT_EQ(array->element_type, hal::ElementType::kI32);
  EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 1}));
  EXPECT_FALSE(array->is_fortran);
  EXPECT_EQ(array->end, file.size() - 4);
  EXPECT_EQ(reinterpret_cast<const char*>(array->bytes.data()), file.data() + file.size() - 12);
  EXPECT_EQ(array->bytes.size(), 8u);
}

TEST(NpyTest, OrderMattersFromRankTwoOn) {
  EXPECT_TRUE(parse(npy_file("{'descr': '<f4', 'fortran_order': True, 'shape': (1,2), }\n", "12345678"))->is_fortran);
  EXPECT_FALSE(parse(npy_file("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }\n", "12345678"))->is_fortran);
}

TEST(NpyTest, StrangeFilesAreRefused) {
  EXPECT_FAILS(parse("hello"), StatusCode::kDataLoss, "it does not begin with NUMPY");
  const std::string good = npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", "12345678");
  for (size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(parse(good.substr(0, size))) << size;
  const auto with_shape = [](std::string_view shape) {
    return parse(npy_file(text("{'descr': '<f4', 'fortran_order': False, 'shape': ", shape, ", }\n"), "12345678"));
  };
  EXPECT_FAILS(with_shape("(x,)"), StatusCode::kDataLoss, "no number");
  EXPECT_FAILS(with_shape("(3,)"), StatusCode::kDataLoss, "its shape takes 12 bytes, and 8 are there");
  EXPECT_FAILS(with_shape("(4294967296,4294967296)"), StatusCode::kDataLoss, "more bytes than there are");
  EXPECT_FAILS(with_shape("(0,9223372036854775807,9)"), StatusCode::kDataLoss, "more bytes than there are");
}

TEST(NpyTest, VersionsOfTomorrowAreRefused) {
  for (const auto& [major, minor, is_read] : {std::tuple(0, 0, false), std::tuple(1, 0, true), std::tuple(1, 1, false),
                                              std::tuple(4, 0, false), std::tuple(255, 0, false)}) {
    std::string file = npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", "12345678");
    file[6] = static_cast<char>(major);
    file[7] = static_cast<char>(minor);
    if (is_read) {
      EXPECT_OK(parse(file));
    } else {
      EXPECT_FAILS(parse(file), StatusCode::kUnimplemented, text("has version ", major, ".", minor, " of the format"));
    }
  }
}

// A damaged header would be believed in part, and the data begin elsewhere.
TEST(NpyTest, HeadersAreReadWhole) {
  const auto with = [](std::string_view header) { return parse(npy_file(header, "12345678")); };
  for (const std::string_view good : {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
                                      "{'shape':(2,),'descr':'<f4','fortran_order':False}\n",
                                      "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2,)}    \n",
                                      "{'descr': '<f8', 'fortran_order': True, 'shape': (), }\n",
                                      "{'descr': '<f4', 'fortran_order': True, 'shape': (1L, 2L), }\n"}) {
    EXPECT_OK(with(good));
  }
  for (const std::string_view bad : {"",
                                     "{",
                                     "}",
                                     "{}\n",
                                     "'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
                                     "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), \n",
                                     "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
                                     "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }  ",
                                     "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }  x \n",
                                     "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n1",
                                     "{'descr': '<f4', 'fortran_order': Falsy, 'shape': (2,), }\n",
                                     "{'descr': '<f4', 'fortran_ordeR': False, 'shape': (2,), }\n",
                                     "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1, }\n",
                                     "{'descr': '<f4', 'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n",
                                     "{'descr': '<f4', 'fortran_order': False 'shape': (2,), }\n",
                                     "{'descr': '<f4', 'fortran_order': False, 'shape': (2}\n",
                                     "{'descr': '<f4, 'fortran_order': False, 'shape': (2,), }\n",
                                     "{'descr': '<f4', 'fortran_order': , 'shape': (2,), }\n",
                                     "{'descr': '<f4', 'fortran_order': False, 'shape': (2 1), }\n",
                                     "{'descr': '<f4', 'fortran_order': False, 'shape': (,), }\n",
                                     "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)3, }\n",
                                     "{'descr': '<f4', 'shape': (2,), }\n"}) {
    EXPECT_FALSE(with(bad)) << bad;
  }
}

TEST(NpyTest, TypesThatNoTensorHasAreRefused) {
  const auto with_type = [](std::string_view type) {
    return parse(npy_file(text("{'descr': '", type, "', 'fortran_order': False, 'shape': (1,), }\n"), "12345678"));
  };
  EXPECT_FAILS(with_type(">f4"), StatusCode::kUnimplemented, "'>f4' is not little-endian");
  EXPECT_FAILS(with_type("<U4"), StatusCode::kUnimplemented, "which no tensor has");
  EXPECT_FAILS(with_type("x"), StatusCode::kDataLoss, "its type 'x' is unknown");
}

}  // namespace
}  // namespace baton::modules
