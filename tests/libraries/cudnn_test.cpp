// Goal: what the plugin cudnn records is right on a CUDA device, on a stream and in a graph, with tables that change: convolutions and both
// gradients, in each order of tensors, and attention; an engine that rounds or takes nothing isn't taken; what a program tells wrongly is refused.
// Method: a fake driver, and a fake cuDNN that computes on the host; bench/programs has the real ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "tests/libraries/fake_cudnn.hpp"
#include "tests/libraries/faked_library_test.hpp"

namespace baton::modules {
namespace {

constexpr char kPlugin[] = BATON_TEST_PLUGIN "?library=" BATON_TEST_FAKE;

// Two images of 5x4 with four channels, in two groups, by windows of 3x2: in steps of 2 with one zero before the rows.
struct Shape {
  static constexpr int64_t kGroups = 2, kImages = 2, kInputs = 2, kOutputs = 3;
  static constexpr std::array<int64_t, 2> kImage = {5, 4}, kWindow = {3, 2}, kResult = {3, 3}, kSteps = {2, 1},
                                          kBefore = {1, 0};
  bool channels_last = false, moved_filter = false;

  using Strides = std::array<int64_t, 4>;
  static int64_t elements(const std::array<int64_t, 4>& sizes) { return sizes[0] * sizes[1] * sizes[2] * sizes[3]; }
  static Strides strides(const std::array<int64_t, 4>& sizes, std::array<size_t, 4> innermost_first) {
    Strides made = {};
    int64_t inner = 1;
    for (const size_t d : innermost_first) {
      made[d] = inner;
      inner *= sizes[d];
    }
    return made;
  }
  std::array<size_t, 4> order() const {
    return channels_last ? std::array<size_t, 4>{1, 3, 2, 0} : std::array<size_t, 4>{3, 2, 1, 0};
  }
  static constexpr std::array<int64_t, 4> kX = {kImages, kGroups*kInputs, kImage[0], kImage[1]},
                                          kW = {kGroups * kOutputs, kInputs, kWindow[0], kWindow[1]},
                                          kY = {kImages, kGroups*kOutputs, kResult[0], kResult[1]};
  Strides x() const { return strides(kX, order()); }
  // As JAX has them: outputs innermost.
  Strides w() const { return strides(kW, moved_filter ? std::array<size_t, 4>{0, 1, 3, 2} : order()); }
  Strides y() const { return strides(kY, order()); }

  std::vector<int64_t> numbers() const {
    std::vector<int64_t> all = {kGroups, kImages, kInputs, kOutputs, 1, 1, 1, 1, 1, 0};
    for (size_t d = 0; d < 2; ++d) all.insert(all.end(), {kImage[d], kWindow[d], kResult[d], kSteps[d], 1, kBefore[d]});
    for (const Strides& of : {x(), w(), y()}) all.insert(all.end(), {of[0], of[1], 0, of[2], of[3]});
    return all;
  }

  // What one x and one w add to one y.
  template <typename Visit>
  void visit(Visit&& add) const {
    const auto at = [](const Strides& of, int64_t a, int64_t b, int64_t c, int64_t d) {
      return static_cast<size_t>(a * of[0] + b * of[1] + c * of[2] + d * of[3]);
    };
    const Strides in_x = x(), in_w = w(), in_y = y();
    for (int64_t i = 0; i < elements(kY); ++i) {
      const int64_t column = i % kY[3], row = i / kY[3] % kY[2], channel = i / kY[3] / kY[2] % kY[1],
                    image = i / kY[3] / kY[2] / kY[1];
      for (int64_t j = 0; j < kW[1] * kW[2] * kW[3]; ++j) {
        const int64_t over = j % kW[3], down = j / kW[3] % kW[2], input = j / kW[3] / kW[2];
        const int64_t x_row = row * kSteps[0] + down - kBefore[0], x_column = column * kSteps[1] + over - kBefore[1];
        if (x_row < 0 || x_row >= kImage[0] || x_column < 0 || x_column >= kImage[1]) continue;
        add(at(in_x, image, channel / kOutputs * kInputs + input, x_row, x_column),
            at(in_w, channel, input, down, over), at(in_y, image, channel, row, column));
      }
    }
  }
};

// Three heads of Q for each of two heads of K and V, in two batches.
struct AttentionShape {
  static constexpr int64_t kBatches = 2, kHeads = 6, kKeyHeads = 2, kRows = 5, kKeys = 4, kDepth = 8, kWidth = 16;
  bool is_causal = false, heads_inside = false;
  float scale = 0.5f;

  struct Tensor {
    int64_t heads, rows, size;
    int64_t elements() const { return kBatches * heads * rows * size; }
  };
  static constexpr Tensor kQ = {kHeads, kRows, kDepth}, kK = {kKeyHeads, kKeys, kDepth},
                          kV = {kKeyHeads, kKeys, kWidth}, kResult = {kHeads, kRows, kWidth};
  std::array<int64_t, 3> strides(const Tensor& of) const {
    const int64_t batch = of.heads * of.rows * of.size;
    if (heads_inside) return {batch, of.size, of.heads * of.size};
    return {batch, of.rows * of.size, of.size};
  }
  std::vector<int64_t> numbers() const {
    std::vector<int64_t> all = {
        kBatches, kHeads, kKeyHeads, kRows, kKeys, kDepth, kWidth, is_causal, std::bit_cast<int32_t>(scale)};
    for (const Tensor& of : {kQ, kK, kV, kResult}) {
      for (const int64_t stride : strides(of)) all.push_back(stride);
    }
    return all;
  }

  std::vector<float> result(const std::vector<float>& q, const std::vector<float>& k,
                            const std::vector<float>& v) const {
    std::vector<float> made(static_cast<size_t>(kResult.elements()));
    const auto at = [&](const Tensor& of, int64_t batch, int64_t head, int64_t row, int64_t element) {
      const std::array<int64_t, 3> by = strides(of);
      return static_cast<size_t>(batch * by[0] + head * by[1] + row * by[2] + element);
    };
    for (int64_t i = 0; i < kBatches * kHeads * kRows; ++i) {
      const int64_t batch = i / kRows / kHeads, head = i / kRows % kHeads, row = i % kRows;
      const int64_t key_head = head / (kHeads / kKeyHeads), keys = is_causal ? std::min(kKeys, row + 1) : kKeys;
      std::vector<double> weights(static_cast<size_t>(keys));
      double sum = 0;
      for (int64_t key = 0; key < keys; ++key) {
        double score = 0;
        for (int64_t d = 0; d < kDepth; ++d) {
          score += double{q[at(kQ, batch, head, row, d)]} * double{k[at(kK, batch, key_head, key, d)]};
        }
        sum += weights[static_cast<size_t>(key)] = std::exp(score * double{scale});
      }
      for (int64_t d = 0; d < kWidth; ++d) {
        double mixed = 0;
        for (int64_t key = 0; key < keys; ++key) {
          mixed += weights[static_cast<size_t>(key)] / sum * double{v[at(kV, batch, key_head, key, d)]};
        }
        made[at(kResult, batch, head, row, d)] = static_cast<float>(mixed);
      }
    }
    return made;
  }
};

struct Call {
  std::string command;
  std::vector<int64_t> bytes;  // Of all operands and the result.
  std::vector<int64_t> numbers;
};

std::string program_text(const Call& call) {
  std::string tensors;
  for (size_t i = 0; i < call.bytes.size(); ++i) tensors += RecordingProgram::kTensor;
  RecordingProgram program("cudnn." + call.command, tensors + ", (i64)...");
  constexpr int64_t kF32 = int64_t{BATON_ELEMENT_F32} << 34;
  program.begin_call();
  for (size_t i = 0; i < call.bytes.size(); ++i) {
    program.add_tensor(call.bytes[i], int64_t{i + 1 == call.bytes.size() ? 2 : 1} << 32 | kF32);
  }
  for (const int64_t number : call.numbers) program.add(number);
  program.end_call(call.numbers.size());
  return program.text();
}

std::vector<float> counted(int64_t size, int seed) {
  std::vector<float> values(static_cast<size_t>(size));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((static_cast<int>(i) * 7 + seed * 5) % 11 - 5);
  return values;
}

class CudnnTest : public FakedLibraryTest {
 public:
  Result<Ref<hal::Recording>> record(const Call& call) { return FakedLibraryTest::record(program_text(call)); }

  void check(const Shape& shape, const std::string& command) {
    const int64_t x_size = Shape::elements(Shape::kX), w_size = Shape::elements(Shape::kW),
                  y_size = Shape::elements(Shape::kY);
    const bool is_forward = command == "convolution", is_filter = command == "convolution_filter_gradient";
    const std::array<int64_t, 3> sizes = is_forward  ? std::array<int64_t, 3>{x_size, w_size, y_size}
                                         : is_filter ? std::array<int64_t, 3>{x_size, y_size, w_size}
                                                     : std::array<int64_t, 3>{y_size, w_size, x_size};
    const auto recording = record({command, {4 * sizes[0], 4 * sizes[1], 4 * sizes[2]}, shape.numbers()});
    ASSERT_OK(recording);
    for (int turn = 0; turn < 3; ++turn) {  // The first table comes again.
      const std::vector<float> a = counted(sizes[0], turn % 2), b = counted(sizes[1], 3 + turn % 2);
      std::vector<float> wanted(static_cast<size_t>(sizes[2]));
      shape.visit([&](size_t x, size_t w, size_t y) {
        if (is_forward) wanted[y] += a[x] * b[w];
        if (is_filter) wanted[w] += a[x] * b[y];
        if (!is_forward && !is_filter) wanted[x] += a[y] * b[w];
      });
      const auto result = buffer_of(counted(sizes[2], 9));
      ASSERT_OK(execute(**recording, {buffer_of(a), buffer_of(b), result}));
      EXPECT_EQ(values_of<float>(*result), wanted) << command << turn;
    }
  }

 protected:
  CudnnTest() : FakedLibraryTest(kPlugin) {}
  void SetUp() override {
    FakedLibraryTest::SetUp();
    testing_support::fake_cudnn_set_enqueue(enqueue_on_driver);
  }
};

TEST_P(CudnnTest, EachKindInEachOrder) {
  for (const char* command : {"convolution", "convolution_filter_gradient", "convolution_input_gradient"}) {
    for (const bool channels_last : {false, true}) {
      for (const bool moved_filter : {false, true}) {
        SCOPED_TRACE(testing::Message() << command << channels_last << moved_filter);
        const int before = testing_support::fake_cudnn_moved();
        check({channels_last, moved_filter}, command);
        EXPECT_EQ(testing_support::fake_cudnn_moved() > before, moved_filter);
      }
    }
  }
}

TEST_P(CudnnTest, AttentionInEachOrder) {
  const std::vector<int64_t> bytes = {4 * AttentionShape::kQ.elements(), 4 * AttentionShape::kK.elements(),
                                      4 * AttentionShape::kV.elements(), 4 * AttentionShape::kResult.elements()};
  for (const bool is_causal : {false, true}) {
    for (const bool heads_inside : {false, true}) {
      SCOPED_TRACE(testing::Message() << is_causal << heads_inside);
      const AttentionShape shape = {is_causal, heads_inside, is_causal ? 0.25f : 0.125f};
      const auto recording = record({"attention", bytes, shape.numbers()});
      ASSERT_OK(recording);
      for (int turn = 0; turn < 3; ++turn) {  // The first table comes again.
        const std::vector<float> q = counted(AttentionShape::kQ.elements(), turn % 2),
                                 k = counted(AttentionShape::kK.elements(), 3),
                                 v = counted(AttentionShape::kV.elements(), turn % 2 + 1);
        const auto result = buffer_of(counted(AttentionShape::kResult.elements(), 9));
        ASSERT_OK(execute(**recording, {buffer_of(q), buffer_of(k), buffer_of(v), result}));
        const std::vector<float> given = values_of<float>(*result), wanted = shape.result(q, k, v);
        for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(given[i], wanted[i], 1e-4) << i;
      }
    }
  }
}

TEST_P(CudnnTest, AnAttentionThatIsToldWronglyIsRefused) {
  const AttentionShape shape;
  const std::vector<int64_t> bytes(4, 4096);
  const auto refused = [&](size_t number, int64_t value, StatusCode code, const char* message) {
    std::vector<int64_t> numbers = shape.numbers();
    numbers[number] = value;
    EXPECT_FAILS(record({"attention", bytes, numbers}), code, message);
  };
  refused(0, 0, StatusCode::kOutOfRange, "Number 0 of an attention is 0; from 1 to 2147483647 is possible.");
  refused(5, int64_t{1} << 31, StatusCode::kOutOfRange, "Number 5 of an attention is 2147483648");
  refused(7, 2, StatusCode::kOutOfRange, "Number 7 of an attention is 2; from 0 to 1 is possible.");
  refused(10, -1, StatusCode::kOutOfRange, "Number 10 of an attention is -1");
  refused(2, 4, StatusCode::kInvalidArgument, "6 heads of Q share no 4 heads of keys evenly.");
  std::vector<int64_t> few = shape.numbers();
  few.pop_back();
  EXPECT_FAILS(record({"attention", bytes, few}), StatusCode::kInvalidArgument, "told by 21 numbers, not 20");
  // Sizes that memory does not hold, and where it begins, are found when there is some.
  const auto large = buffer_of(counted(1024, 1)), apart = large->subspan(4, 2048).value();
  const auto short_of_keys = record({"attention", {4096, 256, 2048, 4096}, shape.numbers()});
  ASSERT_OK(short_of_keys);
  EXPECT_FAILS(execute(**short_of_keys, {large, large, large, large}), StatusCode::kOutOfRange,
               "Of an attention, K has 64 elements; its sizes and strides reach 128.");
  const auto recording = record({"attention", {4096, 512, 2048, 4096}, shape.numbers()});
  ASSERT_OK(recording);
  EXPECT_FAILS(execute(**recording, {large, large, apart, large}), StatusCode::kUnimplemented,
               "begin at no multiple of 16 bytes, as V does");
}

TEST_P(CudnnTest, WhatIsToldWronglyIsRefused) {
  const Shape shape;
  const auto refused = [&](size_t number, int64_t value, StatusCode code, const char* message) {
    std::vector<int64_t> numbers = shape.numbers();
    numbers[number] = value;
    EXPECT_FAILS(record({"convolution", {640, 640, 640}, numbers}), code, message);
  };
  refused(1, 0, StatusCode::kInvalidArgument, "A convolution has a size or a step of 0.");
  refused(2, -1, StatusCode::kOutOfRange, "Number 2 of a convolution is -1");
  refused(3, int64_t{1} << 31, StatusCode::kOutOfRange, "Number 3 of a convolution is 2147483648");
  refused(12, 4, StatusCode::kInvalidArgument,
          "Windows of 3 in steps of 2 over 5 elements with 1 zeros before them don't give 4 results.");
  refused(15, 3, StatusCode::kInvalidArgument, "with 3 zeros before them");
  refused(22, 1000, StatusCode::kInvalidArgument, "The images and results of a convolution have gaps");
  std::vector<int64_t> few = shape.numbers();
  few.pop_back();
  EXPECT_FAILS(record({"convolution", {640, 640, 640}, few}), StatusCode::kInvalidArgument,
               "told by 37 numbers, not 36");
  // Sizes that memory does not hold are found when there is some.
  const auto recording = record({"convolution", {640, 160, 640}, shape.numbers()});
  ASSERT_OK(recording);
  const auto small = buffer_of(counted(40, 1)), large = buffer_of(counted(160, 1));
  EXPECT_FAILS(execute(**recording, {large, small, large}), StatusCode::kOutOfRange,
               "Tensor w of a convolution has 40 elements; its sizes and strides reach 72.");
}

TEST_P(CudnnTest, NothingOutlivesTheModule) {
  check({}, "convolution");
  ASSERT_GT(testing_support::fake_cudnn_alive(), 0);
  program_.reset();
  EXPECT_TRUE(comes_to_nothing(testing_support::fake_cudnn_alive));
}

INSTANTIATE_TEST_SUITE_P(Modes, CudnnTest, testing::Values("stream", "graph"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace baton::modules
