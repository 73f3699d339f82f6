#include "tests/libraries/fake_cublaslt.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace baton::testing_support {
namespace {

#define FAKE extern "C" __attribute__((visibility("default")))

std::atomic<int> alive{0}, searches{0};
FakeEnqueue enqueue = nullptr;
constexpr int kRefused = 7, kF64 = 1, kF32 = 0;

// Attributes by number, as bytes.
struct Description {
  std::map<int, std::vector<char>> attributes;
  int type = 0;
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0;

  template <typename T>
  T get(int attribute, T otherwise) const {
    const auto found = attributes.find(attribute);
    if (found == attributes.end() || found->second.size() != sizeof(T)) return otherwise;
    std::memcpy(&otherwise, found->second.data(), sizeof(T));
    return otherwise;
  }
};

int make(void** out) {
  *out = new Description;
  ++alive;
  return 0;
}
int destroy(void* of) {
  delete static_cast<Description*>(of);
  --alive;
  return 0;
}
int set(void* of, int attribute, const void* value, size_t bytes) {
  const auto* begin = static_cast<const char*>(value);
  static_cast<Description*>(of)->attributes[attribute].assign(begin, begin + bytes);
  return 0;
}

// What is computed later, with what the descriptions said when it was enqueued.
struct Work {
  Description product, a_is, b_is, d_is;
  const void *a, *b;
  void* d;
};

template <typename T>
void compute(const Work& work) {
  const bool turn_a = work.product.get<int32_t>(3, 0), turn_b = work.product.get<int32_t>(4, 0);
  const auto epilogue = work.product.get<uint32_t>(7, 1);
  const T* const bias = epilogue & 4 ? reinterpret_cast<const T*>(work.product.get<uint64_t>(8, 0)) : nullptr;
  const auto steps = static_cast<int64_t>(turn_a ? work.a_is.rows : work.a_is.columns);
  for (int32_t batch = 0; batch < work.d_is.get<int32_t>(5, 1); ++batch) {
    const T* const a = static_cast<const T*>(work.a) + batch * work.a_is.get<int64_t>(6, 0);
    const T* const b = static_cast<const T*>(work.b) + batch * work.b_is.get<int64_t>(6, 0);
    T* const d = static_cast<T*>(work.d) + batch * work.d_is.get<int64_t>(6, 0);
    for (int64_t row = 0; row < static_cast<int64_t>(work.d_is.rows); ++row) {
      for (int64_t column = 0; column < static_cast<int64_t>(work.d_is.columns); ++column) {
        T sum = bias ? bias[row] : T(0);
        for (int64_t k = 0; k < steps; ++k) {
          sum += a[turn_a ? row * work.a_is.leading + k : k * work.a_is.leading + row] *
                 b[turn_b ? k * work.b_is.leading + column : column * work.b_is.leading + k];
        }
        T& result = d[column * work.d_is.leading + row] = epilogue & 2 ? std::max(sum, T(0)) : sum;
        // Something that nobody takes for another end: the plugin only has to ask for it.
        if (epilogue & 32) result = sum + T(1000);
      }
    }
  }
}

// A graph may run it again and again: it stays.
void run(void* data) {
  const auto& work = *static_cast<const Work*>(data);
  work.d_is.type == kF64 ? compute<double>(work) : compute<float>(work);
}

std::vector<std::unique_ptr<Work>>& all_work() {
  static std::vector<std::unique_ptr<Work>> all;
  return all;
}
std::mutex work_mutex;

}  // namespace

FAKE void fake_cublaslt_set_enqueue(FakeEnqueue function) { enqueue = function; }
FAKE int fake_cublaslt_searches() { return searches; }
FAKE int fake_cublaslt_alive() { return alive; }

FAKE int cublasLtCreate(void** handle) { return make(handle); }
FAKE int cublasLtDestroy(void* handle) { return destroy(handle); }
FAKE int cublasLtMatmulDescCreate(void** out, int, int scale_type) {
  make(out);
  static_cast<Description*>(*out)->type = scale_type;
  return 0;
}
FAKE int cublasLtMatmulDescDestroy(void* of) { return destroy(of); }
FAKE int cublasLtMatmulDescSetAttribute(void* of, int attribute, const void* value, size_t bytes) {
  return set(of, attribute, value, bytes);
}
FAKE int cublasLtMatrixLayoutCreate(void** out, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  if (leading < static_cast<int64_t>(rows)) return kRefused;
  make(out);
  auto* made = static_cast<Description*>(*out);
  made->type = type;
  made->rows = rows;
  made->columns = columns;
  made->leading = leading;
  return 0;
}
FAKE int cublasLtMatrixLayoutDestroy(void* of) { return destroy(of); }
FAKE int cublasLtMatrixLayoutSetAttribute(void* of, int attribute, const void* value, size_t bytes) {
  return set(of, attribute, value, bytes);
}
FAKE int cublasLtMatmulPreferenceCreate(void** out) { return make(out); }
FAKE int cublasLtMatmulPreferenceDestroy(void* of) { return destroy(of); }
FAKE int cublasLtMatmulPreferenceSetAttribute(void* of, int attribute, const void* value, size_t bytes) {
  return set(of, attribute, value, bytes);
}

// Sizes must agree, and types be those that the host computes with.
FAKE int cublasLtMatmulAlgoGetHeuristic(void*, void* product, void* a, void* b, void*, void* d, void*, int, void* found,
                                        int* count) {
  ++searches;
  const auto &is = *static_cast<Description*>(product), &a_is = *static_cast<Description*>(a),
             &b_is = *static_cast<Description*>(b), &d_is = *static_cast<Description*>(d);
  const bool turn_a = is.get<int32_t>(3, 0), turn_b = is.get<int32_t>(4, 0);
  const bool agrees = (turn_a ? a_is.columns : a_is.rows) == d_is.rows &&
                      (turn_b ? b_is.rows : b_is.columns) == d_is.columns &&
                      (turn_a ? a_is.rows : a_is.columns) == (turn_b ? b_is.columns : b_is.rows);
  const bool knows = d_is.type == is.type && (d_is.type == kF32 || d_is.type == kF64);
  *count = agrees && knows ? 1 : 0;
  std::memset(found, 0, 96);
  const size_t workspace = 1024;
  std::memcpy(static_cast<char*>(found) + 64, &workspace, sizeof(workspace));
  return 0;
}

FAKE int cublasLtMatmul(void*, void* product, const void*, const void* a, void* a_is, const void* b, void* b_is,
                        const void*, const void*, void*, void* d, void* d_is, const void*, void* workspace,
                        size_t workspace_bytes, void* stream) {
  if (!enqueue || !workspace || workspace_bytes != 1024) return kRefused;
  std::lock_guard lock(work_mutex);
  all_work().push_back(
      std::make_unique<Work>(Work{*static_cast<Description*>(product), *static_cast<Description*>(a_is),
                                  *static_cast<Description*>(b_is), *static_cast<Description*>(d_is), a, b, d}));
  return enqueue(stream, run, all_work().back().get());
}

}  // namespace baton::testing_support
