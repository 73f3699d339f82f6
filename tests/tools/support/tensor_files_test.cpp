// Files hand out their arrays one after the other, by name, or all; what is left over or used up is said.
#include "tools/support/tensor_files.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/support/numpy_files.hpp"
#include "tests/support/status_matchers.hpp"
#include "tools/support/numpy.hpp"

namespace baton::tools {
namespace {

class TensorFilesTest : public testing::Test {
 protected:
  TensorFilesTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "baton-tensors-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    put("two.npy", npy_of("2xi8=1 2") + npy_of("f32=3"));
    put("two.npz", testing_support::zip_file({{"x.npy", npy_of("i8=7")}, {"y.npy", npy_of("i8=8")}}));
    put("raw.bin", "\1\2\3\4");
  }
  ~TensorFilesTest() override { std::filesystem::remove_all(folder_); }

  void put(const char* name, const std::string& content) {
    ASSERT_TRUE(write_file((folder_ / name).string(), bytes_of(content)).ok());
  }
  static std::string npy_of(std::string_view text) {
    const auto tensor = parse_tensor(text);
    return npy_header(tensor->type).append(text_of(tensor->bytes));
  }
  // With the folder in place of "$".
  std::string in_folder(std::string text) const {
    const size_t mark = text.find('$');
    return mark == text.npos ? text : text.replace(mark, 1, folder_.string() + "/");
  }
  Result<Tensor> load(const char* text) { return files_.load(in_folder(text)); }
  std::string text_of_tensor(const char* text) {
    const auto tensor = load(text);
    if (!tensor) return tensor.error().to_string();
    return describe_tensor(tensor->type.shape, tensor->type.element_type, tensor->bytes);
  }

  std::filesystem::path folder_;
  TensorFiles files_;
};

TEST_F(TensorFilesTest, ArraysComeOneAfterTheOther) {
  EXPECT_EQ(text_of_tensor("@$two.npy"), "2xi8=1 2");
  EXPECT_EQ(text_of_tensor("+$two.npy"), "f32=3");
  EXPECT_FAILS(load("+$two.npy"), StatusCode::kOutOfRange, "its arrays are used up");
  EXPECT_EQ(text_of_tensor("@$two.npy"), "2xi8=1 2");
  files_.rewind();
  EXPECT_EQ(text_of_tensor("+$two.npy"), "2xi8=1 2");
}

TEST_F(TensorFilesTest, MembersComeByNameAndInTheirOrder) {
  EXPECT_EQ(text_of_tensor("@$two.npz:y"), "i8=8");
  EXPECT_EQ(text_of_tensor("@$two.npz"), "i8=7");
  EXPECT_EQ(text_of_tensor("+$two.npz"), "i8=8");
  EXPECT_FAILS(load("+$two.npz"), StatusCode::kOutOfRange, "its 2 arrays are used up");
}

TEST_F(TensorFilesTest, AllOfAFileBecomeSeveral) {
  const auto texts = files_.expand({"i8=1", in_folder("*$two.npy"), in_folder("*$two.npz")});
  ASSERT_OK(texts);
  EXPECT_EQ(*texts, (std::vector<std::string>{"i8=1", in_folder("@$two.npy"), in_folder("+$two.npy"),
                                              in_folder("@$two.npz"), in_folder("+$two.npz")}));
  EXPECT_FAILS(files_.expand({in_folder("*$raw.bin")}), StatusCode::kDataLoss, "does not begin with NUMPY");
}

TEST_F(TensorFilesTest, RawBytesGetTheirShapeFromTheText) {
  EXPECT_EQ(text_of_tensor("2xi8=@$raw.bin"), "2xi8=1 2");
  EXPECT_FAILS(files_.check_used_up(), StatusCode::kInvalidArgument, "has 4 bytes, and only 2 of them were taken");
  EXPECT_EQ(text_of_tensor("i16=+$raw.bin"), "i16=1027");
  EXPECT_OK(files_.check_used_up());
  EXPECT_FAILS(load("i8=+$raw.bin"), StatusCode::kInvalidArgument, "takes 1 bytes, and");
  EXPECT_FAILS(load("5xi8=@$raw.bin"), StatusCode::kInvalidArgument, "has 4");
}

TEST_F(TensorFilesTest, NoTwoTensorsShareTheirBytes) {
  for (const char* text : {"@$two.npy", "@$two.npz:y", "4xi8=@$raw.bin"}) {
    const auto one = load(text), two = load(text);
    ASSERT_TRUE(one && two);
    EXPECT_NE(one->bytes.data(), two->bytes.data());
    EXPECT_EQ(text_of(one->bytes), text_of(two->bytes));
  }
}

TEST_F(TensorFilesTest, SignsAreNoFiles) { EXPECT_EQ(text_of_tensor("3xf32=+1,-2e+3,+inf"), "3xf32=1 -2000 INF"); }

}  // namespace
}  // namespace baton::tools
