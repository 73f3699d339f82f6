// Goal: what the plugin cublas records is right on a CUDA device, on a stream and in a graph, with tables that change and come
// round again; and what a program tells wrongly is refused. Method: a fake driver and a fake cuBLASLt, which computes on
// the host; tests/gpu/run has the real ones.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/libraries/fake_cublaslt.hpp"
#include "tests/libraries/faked_library_test.hpp"

namespace baton::modules {
namespace {

struct Strides {
  int64_t outer = 0, inner = 0, row = 0, column = 0;
};
struct Numbers {
  int64_t outer, inner, rows, columns, steps;
  Strides a, b, c;

  std::vector<int64_t> all() const {
    std::vector<int64_t> list = {outer, inner, rows, columns, steps};
    for (const Strides& each : {a, b, c}) list.insert(list.end(), {each.outer, each.inner, each.row, each.column});
    return list;
  }
};

// Slots: A, B, the bias where there is one, C.
std::string program_text(const std::string& command, const Numbers& numbers, std::vector<size_t> lengths,
                         int64_t element, int calls = 1) {
  std::string parameters;
  for (size_t i = 0; i < lengths.size(); ++i) parameters += RecordingProgram::kTensor;
  RecordingProgram program("cublas." + command, parameters + ", (i64)...");
  const std::vector<int64_t> all = numbers.all();
  for (int call = 0; call < calls; ++call) {
    program.begin_call();
    for (size_t i = 0; i < lengths.size(); ++i) {
      const int64_t access = i + 1 == lengths.size() ? 2 : 1;
      program.add_tensor(static_cast<int64_t>(lengths[i]), access << 32 | element << 34 | int64_t{2} << 50);
    }
    for (const int64_t number : all) program.add(number);
    program.end_call(all.size());
  }
  return program.text();
}

constexpr int64_t kF32 = 0x420;

class CublasTest : public FakedLibraryTest {
 protected:
  CublasTest() : FakedLibraryTest(BATON_TEST_PLUGIN "?library=" BATON_TEST_FAKE) {}
  void SetUp() override {
    FakedLibraryTest::SetUp();
    testing_support::fake_cublaslt_set_enqueue(enqueue_on_driver);
  }
};

std::vector<float> counted(size_t count, int seed) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>((static_cast<int>(i) * 7 + seed) % 11 - 5);
  return values;
}

// A GELU of the fake library adds 1000.
std::vector<float> wanted(const Numbers& n, const std::vector<float>& a, const std::vector<float>& b,
                          const std::vector<float>& bias, std::string_view command, size_t count) {
  const bool relu = command.ends_with("relu"), gelu = command.ends_with("gelu");
  std::vector<float> c(count);
  for (int64_t o = 0; o < n.outer; ++o) {
    for (int64_t i = 0; i < n.inner; ++i) {
      for (int64_t row = 0; row < n.rows; ++row) {
        for (int64_t column = 0; column < n.columns; ++column) {
          float sum = bias.empty() ? 0 : bias[static_cast<size_t>(column)];
          for (int64_t k = 0; k < n.steps; ++k) {
            sum += a[static_cast<size_t>(o * n.a.outer + i * n.a.inner + row * n.a.row + k * n.a.column)] *
                   b[static_cast<size_t>(o * n.b.outer + i * n.b.inner + k * n.b.row + column * n.b.column)];
          }
          c[static_cast<size_t>(o * n.c.outer + i * n.c.inner + row * n.c.row + column)] = relu   ? std::fmax(sum, 0.0f)
                                                                                           : gelu ? sum + 1000
                                                                                                  : sum;
        }
      }
    }
  }
  return c;
}

// Every way a matrix lies, in batches that do and don't follow each other; with every end.
TEST_P(CublasTest, EveryFormIsRightWithEveryTable) {
  constexpr int64_t m = 6, n = 5, k = 7, p = 3, q = 2;
  for (const bool turn_a : {false, true}) {
    for (const bool turn_b : {false, true}) {
      for (const char* command : {"gemm", "gemm_relu", "gemm_gelu", "gemm_bias", "gemm_bias_relu", "gemm_bias_gelu"}) {
        const Numbers numbers{q,
                              p,
                              m,
                              n,
                              k,
                              turn_a ? Strides{p * m * k, m * k, 1, m} : Strides{p * m * k, m * k, k, 1},
                              turn_b ? Strides{0, n * k, 1, k} : Strides{0, n * k, n, 1},
                              {m * p * n, n, p * n, 1}};  // Rows of C stand between the batches.
        const bool has_bias = std::string_view(command).find("bias") != std::string_view::npos;
        std::vector<size_t> lengths = {4 * q * p * m * k, 4 * p * n * k};
        if (has_bias) lengths.push_back(4 * n);
        lengths.push_back(4 * q * p * m * n);
        auto recording = record(program_text(command, numbers, lengths, kF32));
        ASSERT_OK(recording);
        for (int turn = 0; turn < 5; ++turn) {
          const int seed = turn % 2;
          const std::vector<float> a = counted(q * p * m * k, seed), b = counted(p * n * k, 3 * seed + 1);
          const std::vector<float> bias = has_bias ? counted(n, seed + 2) : std::vector<float>();
          std::vector<Ref<hal::Buffer>> buffers = {buffer_of(a), buffer_of(b)};
          if (has_bias) buffers.push_back(buffer_of(bias));
          const Ref<hal::Buffer> c = buffer_of(std::vector<float>(q * p * m * n, -77));
          buffers.push_back(c);
          const std::vector<hal::BufferRange> table(buffers.begin(), buffers.end());
          ASSERT_OK(execute(**recording, table));
          EXPECT_EQ(values_of(*c), wanted(numbers, a, b, bias, command, q * p * m * n)) << command << turn_a << turn_b;
        }
      }
    }
  }
}

// Nothing is summed: zeros, or the bias, in every row of a batch whose rows lie apart.
TEST_P(CublasTest, AProductOfNoStepsIsZerosAndWhatFollows) {
  constexpr int64_t m = 6, n = 5, p = 3;
  const Numbers numbers{2, p, m, n, 0, {0, 0, 1, 1}, {0, 0, n, 1}, {m * p * n, n, p * n, 1}};
  for (const char* command : {"gemm", "gemm_relu", "gemm_gelu", "gemm_bias", "gemm_bias_relu", "gemm_bias_gelu"}) {
    const bool has_bias = std::string_view(command).find("bias") != std::string_view::npos;
    std::vector<size_t> lengths = {4, 4};
    if (has_bias) lengths.push_back(4 * n);
    lengths.push_back(4 * 2 * p * m * n);
    auto recording = record(program_text(command, numbers, lengths, kF32));
    ASSERT_OK(recording);
    const std::vector<float> bias = has_bias ? counted(n, 2) : std::vector<float>();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<Ref<hal::Buffer>> buffers = {buffer_of({nan}), buffer_of({nan})};
    if (has_bias) buffers.push_back(buffer_of(bias));
    const Ref<hal::Buffer> c = buffer_of(std::vector<float>(2 * p * m * n, nan));
    buffers.push_back(c);
    ASSERT_OK(execute(**recording, {buffers.begin(), buffers.end()}));
    EXPECT_EQ(values_of(*c), wanted(numbers, {}, {}, bias, command, 2 * p * m * n)) << command;
  }
}

TEST_P(CublasTest, AnAlgorithmIsLookedForOnceForEachShape) {
  const Numbers numbers{1, 1, 4, 4, 4, {0, 0, 4, 1}, {0, 0, 4, 1}, {0, 0, 4, 1}};
  const std::string text = program_text("gemm", numbers, {64, 64, 64}, kF32, 2);
  const int before = testing_support::fake_cublaslt_searches();
  ASSERT_OK(record(text));
  EXPECT_EQ(testing_support::fake_cublaslt_searches() - before, 2)
      << "one for operands that are well aligned, one for others";
}

TEST_P(CublasTest, WhatDoesNotFitIsRefused) {
  const Numbers good{1, 1, 4, 4, 4, {0, 0, 4, 1}, {0, 0, 4, 1}, {0, 0, 4, 1}};
  const auto changed = [&](auto change) {
    Numbers numbers = good;
    change(numbers);
    return program_text("gemm", numbers, {64, 64, 64}, kF32);
  };
  EXPECT_FAILS(record(changed([](Numbers& n) { n.rows = -1; })), StatusCode::kOutOfRange,
               "Number 2 of a product is -1");
  EXPECT_FAILS(record(changed([](Numbers& n) { n.a.row = int64_t{1} << 40; })), StatusCode::kOutOfRange,
               "Number 7 of a product");
  EXPECT_FAILS(record(changed([](Numbers& n) { n.a.row = 2; })), StatusCode::kInvalidArgument,
               "A matrix of 4 by 4 has its rows 2");
  EXPECT_FAILS(record(changed([](Numbers& n) {
                 n.c = {0, 0, 1, 4};
               })),
               StatusCode::kInvalidArgument, "has its columns 4");
  EXPECT_FAILS(record(program_text("gemm", good, {64, 64, 64}, 0x220)), StatusCode::kInvalidArgument,
               "cuBLAS multiplies f16");
  auto recording = record(changed([](Numbers& n) { n.rows = 5; }));
  ASSERT_OK(recording);
  const auto x = buffer_of(std::vector<float>(16)), y = buffer_of(std::vector<float>(16));
  EXPECT_FAILS(execute(**recording, {x, x, y}), StatusCode::kOutOfRange,
               "Operand A of a product has 16 elements; its sizes and strides reach 20.");
}

TEST_P(CublasTest, NothingIsLeftBehind) {
  EXPECT_TRUE(comes_to_nothing(testing_support::fake_cublaslt_alive)) << "of what the tests before made";
  {
    const Numbers numbers{1, 1, 4, 4, 4, {0, 0, 4, 1}, {0, 0, 4, 1}, {0, 0, 4, 1}};
    auto recording = record(program_text("gemm", numbers, {64, 64, 64}, kF32));
    ASSERT_OK(recording);
    EXPECT_GT(testing_support::fake_cublaslt_alive(), 0);
  }
  program_.reset();
  EXPECT_TRUE(comes_to_nothing(testing_support::fake_cublaslt_alive));
}

INSTANTIATE_TEST_SUITE_P(Modes, CublasTest, testing::Values("stream", "graph"));

}  // namespace
}  // namespace baton::modules
