// Goal: what the plugin cusolver records is right on a CUDA device, on a stream and in a graph, with tables that change; what can't be
// captured runs in graph mode all the same; and what a program tells wrongly is refused. Method: a fake driver, and a
// fake cuSOLVER that computes by LAPACK; bench/programs has the real ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/libraries/fake_cusolver.hpp"
#include "tests/libraries/faked_library_test.hpp"

namespace baton::modules {
namespace {

int wait_on_driver(void* stream) {
  return static_cast<int>(faked_driver->cuStreamSynchronize(static_cast<CUstream>(stream)));
}

// A command of flat tensors, which are the slots in order: inputs, then results.
struct Call {
  std::string command;
  std::vector<size_t> inputs, results;  // Bytes.
  std::vector<int64_t> numbers;
};

std::string program_text(const Call& call) {
  std::string parameters;
  for (size_t i = 0; i < call.inputs.size(); ++i) parameters += RecordingProgram::kTensor;
  for (size_t i = 0; i < call.results.size() + call.numbers.size(); ++i) parameters += ", i64";
  for (size_t i = 0; i < call.results.size(); ++i) parameters += RecordingProgram::kTensor;
  RecordingProgram program("cusolver." + call.command, parameters);
  program.begin_call();
  for (const size_t bytes : call.inputs) program.add_tensor(static_cast<int64_t>(bytes), int64_t{1} << 32);
  for (size_t i = 0; i < call.results.size(); ++i) program.add(0);
  for (const int64_t number : call.numbers) program.add(number);
  for (const size_t bytes : call.results) program.add_tensor(static_cast<int64_t>(bytes), int64_t{2} << 32);
  program.end_call();
  return program.text();
}

constexpr char kPlugin[] = BATON_TEST_PLUGIN "?library=" BATON_TEST_FAKE "&blas=" BATON_TEST_FAKE;

class CusolverTest : public FakedLibraryTest {
 public:
  Result<Ref<hal::Recording>> record(const Call& call) { return FakedLibraryTest::record(program_text(call)); }
  Status execute(hal::Recording& recording, const std::vector<Ref<hal::Buffer>>& buffers) {
    return FakedLibraryTest::execute(recording, {buffers.begin(), buffers.end()});
  }

 protected:
  CusolverTest() : FakedLibraryTest(kPlugin) {}
  void SetUp() override {
    FakedLibraryTest::SetUp();
    testing_support::fake_cusolver_set_driver(enqueue_on_driver, wait_on_driver);
  }
};

// Matrices of a batch, each column by column.
template <typename T>
struct Batch {
  size_t count, rows, columns;
  std::vector<T> values = std::vector<T>(count * rows * columns);

  T& at(size_t i, size_t row, size_t column) { return values[(i * columns + column) * rows + row]; }
  const T& at(size_t i, size_t row, size_t column) const { return values[(i * columns + column) * rows + row]; }
  size_t bytes() const { return values.size() * sizeof(T); }
};
template <typename T>
Batch<T> counted(size_t count, size_t rows, size_t columns, int seed) {
  Batch<T> all{count, rows, columns};
  for (size_t i = 0; i < all.values.size(); ++i) {
    all.values[i] = static_cast<T>((static_cast<int>(i) * 7 + seed * 5 + static_cast<int>(i * i) % 5) % 13 - 6) / 3;
  }
  return all;
}
template <typename T>
Batch<T> symmetric(size_t count, size_t order, int seed, T more = 0) {
  Batch<T> all = counted<T>(count, order, order, seed);
  for (size_t i = 0; i < count; ++i) {
    for (size_t row = 0; row < order; ++row) {
      for (size_t column = 0; column < row; ++column) all.at(i, row, column) = all.at(i, column, row);
      all.at(i, row, row) += more;
    }
  }
  return all;
}
template <typename T, typename A, typename B>
Batch<T> product(size_t count, size_t rows, size_t columns, size_t steps, const A& a, const B& b) {
  Batch<T> all{count, rows, columns};
  for (size_t i = 0; i < count; ++i) {
    for (size_t row = 0; row < rows; ++row) {
      for (size_t column = 0; column < columns; ++column) {
        for (size_t k = 0; k < steps; ++k) all.at(i, row, column) += a(i, row, k) * b(i, k, column);
      }
    }
  }
  return all;
}
template <typename T>
void expect_near(const Batch<T>& found, const Batch<T>& wanted, const char* what) {
  ASSERT_EQ(found.values.size(), wanted.values.size());
  const double tolerance = sizeof(T) == sizeof(float) ? 1e-4 : 1e-11;
  for (size_t i = 0; i < found.values.size(); ++i) {
    ASSERT_NEAR(found.values[i], wanted.values[i], tolerance * (1 + std::fabs(wanted.values[i]))) << what << " " << i;
  }
}

constexpr size_t kCount = 2;
constexpr int kTables = 3;  // The first one comes again.

template <typename T>
const char* letter() {
  return sizeof(T) == sizeof(float) ? "s" : "d";
}
std::vector<int32_t> stained(size_t count) { return std::vector<int32_t>(count, -77); }

#define EACH_TYPE(Name, check)                    \
  TEST_P(CusolverTest, Name) {                    \
    check<float>(*this);                          \
    if (!HasFatalFailure()) check<double>(*this); \
  }

template <typename T>
void cholesky_by_both_triangles(CusolverTest& on) {
  constexpr size_t n = 5;
  for (const char uplo : {'L', 'U'}) {
    const size_t bytes = kCount * n * n * sizeof(T);
    const auto recording =
        on.record({letter<T>() + std::string("potrf"), {bytes}, {bytes, 4 * kCount}, {kCount, n, uplo}});
    ASSERT_OK(recording);
    for (int turn = 0; turn < kTables; ++turn) {
      Batch<T> a = symmetric<T>(kCount, n, turn % 2, 20);
      const std::vector<Ref<hal::Buffer>> buffers = {
          on.buffer_of(a.values), on.buffer_of(std::vector<T>(a.values.size())), on.buffer_of(stained(kCount))};
      ASSERT_OK(on.execute(**recording, buffers));
      const Batch<T> factor{kCount, n, n, on.values_of<T>(*buffers[1])};
      const auto lower = [&](size_t i, size_t row, size_t column) {
        return row < column ? T(0) : uplo == 'L' ? factor.at(i, row, column) : factor.at(i, column, row);
      };
      const auto turned = [&](size_t i, size_t row, size_t column) { return lower(i, column, row); };
      expect_near(product<T>(kCount, n, n, n, lower, turned), a, "L L'");
      EXPECT_EQ(on.values_of<int32_t>(*buffers[2]), std::vector<int32_t>(kCount));
      EXPECT_EQ(on.values_of<T>(*buffers[0]), a.values) << "what is given stays";
    }
  }
}
EACH_TYPE(CholeskyByBothTriangles, cholesky_by_both_triangles)

TEST_P(CusolverTest, WhatHasNoCholeskyIsToldByItsRow) {
  Batch<float> a = symmetric<float>(1, 4, 0, 20);
  a.at(0, 2, 2) = -50;
  const auto recording = record({"spotrf", {a.bytes()}, {a.bytes(), 4}, {1, 4, 'L'}});
  ASSERT_OK(recording);
  const auto info = buffer_of(stained(1));
  ASSERT_OK(execute(**recording, {buffer_of(a.values), buffer_of(std::vector<float>(16)), info}));
  EXPECT_EQ(values_of<int32_t>(*info), std::vector<int32_t>{3});
}

template <typename T>
void lu_of_tall_and_wide(CusolverTest& on) {
  for (const auto& [m, n] : {std::pair<size_t, size_t>(6, 4), {4, 6}, {5, 5}}) {
    const size_t least = std::min(m, n), bytes = kCount * m * n * sizeof(T);
    const auto recording = on.record({letter<T>() + std::string("getrf"),
                                      {bytes},
                                      {bytes, 4 * kCount * least, 4 * kCount},
                                      {kCount, static_cast<int64_t>(m), static_cast<int64_t>(n)}});
    ASSERT_OK(recording);
    for (int turn = 0; turn < kTables; ++turn) {
      Batch<T> a = counted<T>(kCount, m, n, turn % 2);
      const std::vector<Ref<hal::Buffer>> buffers = {
          on.buffer_of(a.values), on.buffer_of(std::vector<T>(a.values.size())), on.buffer_of(stained(kCount * least)),
          on.buffer_of(stained(kCount))};
      ASSERT_OK(on.execute(**recording, buffers));
      const Batch<T> packed{kCount, m, n, on.values_of<T>(*buffers[1])};
      const auto lower = [&](size_t i, size_t row, size_t k) {
        return row == k ? T(1) : row < k ? T(0) : packed.at(i, row, k);
      };
      const auto upper = [&](size_t i, size_t k, size_t column) { return k > column ? T(0) : packed.at(i, k, column); };
      const std::vector<int32_t> pivots = on.values_of<int32_t>(*buffers[2]);
      for (size_t i = 0; i < kCount; ++i) {
        for (size_t k = 0; k < least; ++k) {
          const auto other = static_cast<size_t>(pivots[i * least + k] - 1);
          for (size_t column = 0; column < n; ++column) std::swap(a.at(i, k, column), a.at(i, other, column));
        }
      }
      expect_near(product<T>(kCount, m, n, least, lower, upper), a, "L U");
    }
  }
}
EACH_TYPE(LuOfTallAndWide, lu_of_tall_and_wide)

template <typename T>
void qr_and_its_matrix(CusolverTest& on) {
  constexpr size_t m = 6, n = 4;
  const size_t bytes = kCount * m * n * sizeof(T), taus = kCount * n * sizeof(T);
  const auto factored = on.record({letter<T>() + std::string("geqrf"), {bytes}, {bytes, taus}, {kCount, m, n}});
  ASSERT_OK(factored);
  const auto multiplied = on.record({letter<T>() + std::string("orgqr"), {bytes, taus}, {bytes}, {kCount, m, n, n}});
  ASSERT_OK(multiplied);
  for (int turn = 0; turn < kTables; ++turn) {
    const Batch<T> a = counted<T>(kCount, m, n, turn % 2);
    const auto packed = on.buffer_of(std::vector<T>(a.values.size())), tau = on.buffer_of(std::vector<T>(kCount * n)),
               matrix = on.buffer_of(std::vector<T>(a.values.size()));
    ASSERT_OK(on.execute(**factored, {on.buffer_of(a.values), packed, tau}));
    ASSERT_OK(on.execute(**multiplied, {packed, tau, matrix}));
    const Batch<T> q{kCount, m, n, on.values_of<T>(*matrix)}, r{kCount, m, n, on.values_of<T>(*packed)};
    const auto at_q = [&](size_t i, size_t row, size_t k) { return q.at(i, row, k); };
    const auto turned = [&](size_t i, size_t row, size_t k) { return q.at(i, k, row); };
    const auto at_r = [&](size_t i, size_t k, size_t column) { return k > column ? T(0) : r.at(i, k, column); };
    expect_near(product<T>(kCount, m, n, n, at_q, at_r), a, "Q R");
    Batch<T> one{kCount, n, n};
    for (size_t i = 0; i < kCount * n; ++i) one.at(i / n, i % n, i % n) = 1;
    expect_near(product<T>(kCount, n, n, m, turned, at_q), one, "Q' Q");
  }
}
EACH_TYPE(QrAndItsMatrix, qr_and_its_matrix)

template <typename T>
void triangles_of_every_kind(CusolverTest& on) {
  constexpr size_t m = 4, n = 3;
  for (const char side : {'L', 'R'}) {
    const size_t order = side == 'L' ? m : n;
    for (const char uplo : {'L', 'U'}) {
      for (const char trans : {'N', 'T', 'C'}) {
        for (const char diag : {'N', 'U'}) {
          const size_t triangle = kCount * order * order * sizeof(T), bytes = kCount * m * n * sizeof(T);
          const auto recording = on.record(
              {letter<T>() + std::string("trsm"), {triangle, bytes}, {bytes}, {kCount, m, n, diag, side, trans, uplo}});
          ASSERT_OK(recording);
          const Batch<T> a = symmetric<T>(kCount, order, 1, 9), b = counted<T>(kCount, m, n, 2);
          const auto out = on.buffer_of(std::vector<T>(b.values.size()));
          ASSERT_OK(on.execute(**recording, {on.buffer_of(a.values), on.buffer_of(b.values), out}));
          const Batch<T> x{kCount, m, n, on.values_of<T>(*out)};
          const auto at_a = [&](size_t i, size_t row, size_t column) {
            if (trans != 'N') std::swap(row, column);
            if (row == column && diag == 'U') return T(1);
            return (uplo == 'L' ? row < column : row > column) ? T(0) : a.at(i, row, column);
          };
          const auto at_x = [&](size_t i, size_t row, size_t column) { return x.at(i, row, column); };
          expect_near(side == 'L' ? product<T>(kCount, m, n, m, at_a, at_x) : product<T>(kCount, m, n, n, at_x, at_a),
                      b, "A X");
        }
      }
    }
  }
}
EACH_TYPE(TrianglesOfEveryKind, triangles_of_every_kind)

template <typename T>
void eigenvectors_of_a_batch(CusolverTest& on) {
  constexpr size_t n = 6;
  for (const char mode : {'N', 'V'}) {
    const size_t bytes = kCount * n * n * sizeof(T);
    const auto recording = on.record({letter<T>() + std::string("syevd"),
                                      {bytes},
                                      {bytes, kCount * n * sizeof(T), 4 * kCount},
                                      {kCount, n, mode, 'U'}});
    ASSERT_OK(recording);
    for (int turn = 0; turn < kTables; ++turn) {
      const Batch<T> a = symmetric<T>(kCount, n, turn % 2);
      const auto vectors = on.buffer_of(std::vector<T>(a.values.size())),
                 values = on.buffer_of(std::vector<T>(kCount * n));
      ASSERT_OK(on.execute(**recording, {on.buffer_of(a.values), vectors, values, on.buffer_of(stained(kCount))}));
      const std::vector<T> w = on.values_of<T>(*values);
      for (size_t i = 0; i < kCount; ++i) {
        T sum = 0, trace = 0;
        for (size_t k = 0; k < n; ++k) sum += w[i * n + k], trace += a.at(i, k, k);
        EXPECT_NEAR(sum, trace, 1e-4);
        EXPECT_TRUE(
            std::is_sorted(w.begin() + static_cast<ptrdiff_t>(i * n), w.begin() + static_cast<ptrdiff_t>(i * n + n)));
      }
      if (mode == 'N') continue;
      const Batch<T> v{kCount, n, n, on.values_of<T>(*vectors)};
      const auto scaled = [&](size_t i, size_t row, size_t k) { return v.at(i, row, k) * w[i * n + k]; };
      const auto turned = [&](size_t i, size_t row, size_t k) { return v.at(i, k, row); };
      expect_near(product<T>(kCount, n, n, n, scaled, turned), a, "V W V'");
    }
  }
}
EACH_TYPE(EigenvectorsOfABatch, eigenvectors_of_a_batch)

// The library waits for its stream, which no capture allows.
template <typename T>
void singular_values_are_not_captured(CusolverTest& on) {
  for (const auto& [m, n] : {std::pair<size_t, size_t>(6, 4), {4, 6}}) {
    for (const char mode : {'A', 'S', 'N'}) {
      const size_t least = std::min(m, n), bytes = kCount * m * n * sizeof(T);
      const size_t u_columns = mode == 'S' ? least : m, v_columns = mode == 'S' ? least : n;
      const size_t u_size = mode == 'N' ? 1 : kCount * m * u_columns, v_size = mode == 'N' ? 1 : kCount * n * v_columns;
      const auto recording =
          on.record({letter<T>() + std::string("gesvdj"),
                     {bytes},
                     {bytes, kCount * least * sizeof(T), u_size * sizeof(T), v_size * sizeof(T), 4 * kCount},
                     {kCount, static_cast<int64_t>(m), static_cast<int64_t>(n), mode}});
      ASSERT_OK(recording);
      for (int turn = 0; turn < kTables; ++turn) {
        const Batch<T> a = counted<T>(kCount, m, n, turn % 2);
        const auto values = on.buffer_of(std::vector<T>(kCount * least)), left = on.buffer_of(std::vector<T>(u_size)),
                   right = on.buffer_of(std::vector<T>(v_size)), info = on.buffer_of(stained(kCount));
        ASSERT_OK(on.execute(**recording, {on.buffer_of(a.values), on.buffer_of(std::vector<T>(a.values.size())),
                                           values, left, right, info}));
        EXPECT_EQ(on.values_of<int32_t>(*info), std::vector<int32_t>(kCount));
        const std::vector<T> s = on.values_of<T>(*values);
        EXPECT_GT(s[0], 0);
        if (mode == 'N') continue;
        const Batch<T> u{kCount, m, u_columns, on.values_of<T>(*left)},
            v{kCount, n, v_columns, on.values_of<T>(*right)};
        const auto scaled = [&](size_t i, size_t row, size_t k) { return u.at(i, row, k) * s[i * least + k]; };
        const auto turned = [&](size_t i, size_t k, size_t column) { return v.at(i, column, k); };
        expect_near(product<T>(kCount, m, n, least, scaled, turned), a, "U S V'");
      }
    }
  }
}
EACH_TYPE(SingularValuesAreNotCaptured, singular_values_are_not_captured)

TEST_P(CusolverTest, WhatIsToldWronglyIsRefused) {
  const auto refused = [&](Call call, StatusCode code, const char* message) {
    EXPECT_FAILS(record(call), code, message);
  };
  refused({"spotrf", {64}, {64, 4}, {1, 4, 'X'}}, StatusCode::kInvalidArgument,
          "uplo is 88; it is one of the letters LU.");
  refused({"spotrf", {64}, {64, 4}, {-1, 4, 'L'}}, StatusCode::kOutOfRange, "A batch of matrices has a size of -1");
  refused({"strsm", {64, 64}, {64}, {1, 4, 4, 'N', 'Q', 'N', 'L'}}, StatusCode::kInvalidArgument, "side is 81");
  refused({"sorgqr", {64, 16}, {64}, {1, 4, 4, 5}}, StatusCode::kInvalidArgument, "4 by 4 elements and 5 reflectors");
  refused({"ssyevd", {64}, {64, 16, 4}, {1, 4, 'Q', 'L'}}, StatusCode::kInvalidArgument, "mode is 81");
  // Sizes that memory does not hold are found when there is some.
  const auto recording = record({"spotrf", {64}, {64, 4}, {2, 4, 'L'}});
  ASSERT_OK(recording);
  const Status status = execute(
      **recording, {buffer_of(std::vector<float>(16)), buffer_of(std::vector<float>(16)), buffer_of(stained(1))});
  EXPECT_THAT(status.to_string(), testing::HasSubstr("A matrix has 16 elements, and 2 times 4 by 4 are asked for."));
}

TEST_P(CusolverTest, MatricesWithoutElementsAreNothingToDo) {
  const auto info = buffer_of(stained(3)), nothing = buffer_of(std::vector<float>());
  const auto recording = record({"spotrf", {4}, {4, 12}, {3, 0, 'L'}});
  ASSERT_OK(recording);
  ASSERT_OK(execute(**recording, {nothing, nothing, info}));
  EXPECT_EQ(values_of<int32_t>(*info), std::vector<int32_t>(3));
  for (const Call& call :
       {Call{"sgeqrf", {4}, {4, 4}, {1, 0, 4}}, Call{"strsm", {4, 4}, {4}, {0, 4, 4, 'N', 'L', 'N', 'L'}},
        Call{"sgetrf", {4}, {4, 4, 4}, {1, 4, 0}}, Call{"sorgqr", {4, 4}, {4}, {1, 4, 0, 0}}}) {
    const auto empty = record(call);
    ASSERT_OK(empty);
  }
}

TEST_P(CusolverTest, HandlesAreUsedAgain) {
  const auto drop = [this] {
    for (const vm::Value& result : program_->results) baton_object_release(reinterpret_cast<baton_object*>(result.ref));
  };
  ASSERT_OK(record({"spotrf", {64}, {64, 4}, {1, 4, 'L'}}));
  const int made = testing_support::fake_cusolver_made();
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(program_->call("record", {}));
    drop();
  }
  EXPECT_EQ(testing_support::fake_cusolver_made(), made) << "what no recording holds is taken";
  ASSERT_GT(testing_support::fake_cusolver_alive(), 0);
  program_.reset();
  EXPECT_TRUE(comes_to_nothing(testing_support::fake_cusolver_alive));
}

INSTANTIATE_TEST_SUITE_P(Modes, CusolverTest, testing::Values("stream", "graph"),
                         [](const auto& mode) { return mode.param; });

TEST(Cusolver, AProcessorIsRefusedByName) {
  auto plugin = load_plugin(kPlugin);
  ASSERT_OK(plugin);
  LinkedProgram program({hal_module_on({open_device("local-sync")}), *plugin},
                        program_text({"spotrf", {64}, {64, 4}, {1, 4, 'L'}}));
  EXPECT_FAILS(program.call("record", {}), StatusCode::kUnimplemented, "the plugin 'lapack' is for processors");
}

TEST(Cusolver, TheNullDeviceShowsIt) {
  auto plugin = load_plugin(kPlugin);
  ASSERT_OK(plugin);
  LinkedProgram program({hal_module_on({open_device("null")}), *plugin},
                        program_text({"dgesvdj", {64}, {64, 32, 64, 64, 4}, {1, 4, 2, 'S'}}));
  EXPECT_OK(program.call("record", {}));
}

}  // namespace
}  // namespace baton::modules
