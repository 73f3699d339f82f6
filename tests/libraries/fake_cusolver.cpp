#include "tests/libraries/fake_cusolver.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace baton::testing_support {
namespace {

#define FAKE extern "C" __attribute__((visibility("default")))

std::atomic<int> alive{0}, made{0};
FakeSolverEnqueue enqueue_on = nullptr;
FakeSolverWait wait_for = nullptr;
constexpr int kRefused = 7;

struct Handle {
  void* stream = nullptr;
  bool has_work = false;
};
int make(void** out) {
  *out = new Handle;
  ++alive;
  ++made;
  return 0;
}
int destroy(void* of) {
  delete static_cast<Handle*>(of);
  --alive;
  return 0;
}
int set_stream(void* of, void* stream) {
  static_cast<Handle*>(of)->stream = stream;
  return 0;
}

// A graph may run a job again and again: it stays.
std::mutex jobs_mutex;
std::deque<std::function<void()>> jobs;
int later(void* handle, std::function<void()> job) {
  std::lock_guard lock(jobs_mutex);
  jobs.push_back(std::move(job));
  const auto run = [](void* data) { (*static_cast<std::function<void()>*>(data))(); };
  return enqueue_on(static_cast<Handle*>(handle)->stream, run, &jobs.back());
}

// Fortran's functions take everything by address.
template <typename T, typename... Arguments>
void lapack(const char* name, Arguments*... arguments) {
  static void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  const std::string whole = std::string(sizeof(T) == sizeof(float) ? "s" : "d") + name + "_";
  reinterpret_cast<void (*)(Arguments * ...)>(dlsym(library, whole.c_str()))(arguments...);
}

constexpr char kTriangles[] = "LU", kSides[] = "LR", kForms[] = "NTC", kDiagonals[] = "NU";

template <typename T>
int potrf(void* handle, int uplo, int n, T* a, int lda, T* work, int size, int* info) {
  if (lda < n || !work || size < n) return kRefused;
  return later(handle, [=] {
    const char letter = kTriangles[uplo];
    lapack<T>("potrf", &letter, &n, a, &lda, info);
  });
}

template <typename T>
int getrf(void* handle, int m, int n, T* a, int lda, T* work, int* pivots, int* info) {
  if (lda < m || !work) return kRefused;
  return later(handle, [=] { lapack<T>("getrf", &m, &n, a, &lda, pivots, info); });
}

template <typename T>
int geqrf(void* handle, int m, int n, T* a, int lda, T* tau, T* work, int size, int* info) {
  if (lda < m || size < n) return kRefused;
  return later(handle, [=] { lapack<T>("geqrf", &m, &n, a, &lda, tau, work, &size, info); });
}

template <typename T>
int orgqr(void* handle, int m, int n, int k, T* a, int lda, const T* tau, T* work, int size, int* info) {
  if (lda < m || size < n) return kRefused;
  return later(handle, [=] { lapack<T>("orgqr", &m, &n, &k, a, &lda, tau, work, &size, info); });
}

template <typename T>
int trsm(void* handle, int side, int uplo, int trans, int diag, int m, int n, const T* factor, const T* a, int lda,
         T* b, int ldb) {
  if (ldb < m || lda < (side ? n : m) || !static_cast<Handle*>(handle)->has_work) return kRefused;
  return later(handle, [=, by = *factor] {
    const char letters[] = {kSides[side], kTriangles[uplo], kForms[trans], kDiagonals[diag]};
    lapack<T>("trsm", &letters[0], &letters[1], &letters[2], &letters[3], &m, &n, &by, a, &lda, b, &ldb);
  });
}

template <typename T>
void eigen(int mode, int uplo, int n, T* a, int lda, T* values, int* info) {
  const char letters[] = {"NV"[mode], kTriangles[uplo]};
  std::vector<T> work(static_cast<size_t>(1 + 6 * n + 2 * n * n));
  std::vector<int> integers(static_cast<size_t>(3 + 5 * n));
  const int size = static_cast<int>(work.size()), integer_size = static_cast<int>(integers.size());
  lapack<T>("syevd", &letters[0], &letters[1], &n, a, &lda, values, work.data(), &size, integers.data(), &integer_size,
            info);
}

// It looks at what it does on the host, and is done when it returns.
template <typename T>
int gesvdj(void* handle, int mode, int thin, int m, int n, T* a, int lda, T* s, T* u, int ldu, T* v, int ldv, T* work,
           int size, int* info) {
  if (lda < m || (mode && (ldu < m || ldv < n)) || !work || size < 1) return kRefused;
  if (wait_for(static_cast<Handle*>(handle)->stream) != 0) return kRefused;
  const int code = later(handle, [=] {
    const char letter = !mode ? 'N' : thin ? 'S' : 'A';
    const int least = std::min(m, n), rows = thin ? least : n;
    std::vector<T> vt(static_cast<size_t>(std::max(rows, 1) * n)),
        room(static_cast<size_t>(8 * (m + n) * (m + n) + 64));
    std::vector<int> integers(static_cast<size_t>(8 * least));
    const int room_size = static_cast<int>(room.size());
    lapack<T>("gesdd", &letter, &m, &n, a, &lda, s, u, &ldu, vt.data(), &rows, room.data(), &room_size, integers.data(),
              info);
    for (int i = 0; mode && i < rows; ++i) {
      for (int j = 0; j < n; ++j) v[i * ldv + j] = *(vt.data() + j * rows + i);
    }
  });
  return code != 0 ? code : wait_for(static_cast<Handle*>(handle)->stream);
}

}  // namespace

FAKE void fake_cusolver_set_driver(FakeSolverEnqueue enqueue, FakeSolverWait wait) {
  enqueue_on = enqueue;
  wait_for = wait;
}
FAKE int fake_cusolver_alive() { return alive; }
FAKE int fake_cusolver_made() { return made; }

FAKE int cusolverDnCreate(void** handle) { return make(handle); }
FAKE int cusolverDnDestroy(void* handle) { return destroy(handle); }
FAKE int cusolverDnSetStream(void* handle, void* stream) { return set_stream(handle, stream); }
FAKE int cusolverDnCreateGesvdjInfo(void** how) { return make(how); }
FAKE int cusolverDnDestroyGesvdjInfo(void* how) { return destroy(how); }
FAKE int cublasCreate_v2(void** handle) { return make(handle); }
FAKE int cublasDestroy_v2(void* handle) { return destroy(handle); }
FAKE int cublasSetStream_v2(void* handle, void* stream) {
  static_cast<Handle*>(handle)->has_work = false;  // As the real one, which forgets it.
  return set_stream(handle, stream);
}
FAKE int cublasSetWorkspace_v2(void* handle, void* work, size_t size) {
  static_cast<Handle*>(handle)->has_work = work && size;
  return 0;
}

FAKE int cusolverDnXsyevBatched_bufferSize(void*, void*, int, int, int64_t n, int type, const void*, int64_t lda,
                                           int value_type, const void*, int compute, size_t* size, size_t* host_size,
                                           int64_t) {
  *size = 64;
  *host_size = 16;
  return lda >= n && type == value_type && type == compute ? 0 : kRefused;
}
FAKE int cusolverDnXsyevBatched(void* handle, void*, int mode, int uplo, int64_t n, int type, void* a, int64_t lda, int,
                                void* values, int, void* work, size_t size, void* host_work, size_t host_size,
                                int* info, int64_t batch) {
  if (!work || size < 64 || !host_work || host_size < 16) return kRefused;
  return later(handle, [=] {
    const auto all = [&]<typename T>(T* matrices, T* found) {
      for (int64_t i = 0; i < batch; ++i) {
        eigen(mode, uplo, static_cast<int>(n), matrices + i * n * n, static_cast<int>(lda), found + i * n, info + i);
      }
    };
    type == 0 ? all(static_cast<float*>(a), static_cast<float*>(values))
              : all(static_cast<double*>(a), static_cast<double*>(values));
  });
}

#define ROUTINES(letter, T)                                                                                          \
  FAKE int cusolverDn##letter##potrf_bufferSize(void*, int, int n, T*, int, int* size) { return *size = n, 0; }      \
  FAKE int cusolverDn##letter##potrf(void* h, int uplo, int n, T* a, int lda, T* work, int size, int* info) {        \
    return potrf(h, uplo, n, a, lda, work, size, info);                                                              \
  }                                                                                                                  \
  FAKE int cusolverDn##letter##getrf_bufferSize(void*, int m, int, T*, int, int* size) { return *size = m, 0; }      \
  FAKE int cusolverDn##letter##getrf(void* h, int m, int n, T* a, int lda, T* work, int* pivots, int* info) {        \
    return getrf(h, m, n, a, lda, work, pivots, info);                                                               \
  }                                                                                                                  \
  FAKE int cusolverDn##letter##geqrf_bufferSize(void*, int, int n, T*, int, int* size) { return *size = 32 * n, 0; } \
  FAKE int cusolverDn##letter##geqrf(void* h, int m, int n, T* a, int lda, T* tau, T* work, int size, int* info) {   \
    return geqrf(h, m, n, a, lda, tau, work, size, info);                                                            \
  }                                                                                                                  \
  FAKE int cusolverDn##letter##orgqr_bufferSize(void*, int, int n, int, const T*, int, const T*, int* size) {        \
    return *size = 32 * n, 0;                                                                                        \
  }                                                                                                                  \
  FAKE int cusolverDn##letter##orgqr(void* h, int m, int n, int k, T* a, int lda, const T* tau, T* work, int size,   \
                                     int* info) {                                                                    \
    return orgqr(h, m, n, k, a, lda, tau, work, size, info);                                                         \
  }                                                                                                                  \
  FAKE int cusolverDn##letter##gesvdj_bufferSize(void*, int, int, int m, int n, const T*, int, const T*, const T*,   \
                                                 int, const T*, int, int* size, void*) {                             \
    return *size = m + n, 0;                                                                                         \
  }                                                                                                                  \
  FAKE int cusolverDn##letter##gesvdj(void* h, int mode, int thin, int m, int n, T* a, int lda, T* s, T* u, int ldu, \
                                      T* v, int ldv, T* work, int size, int* info, void*) {                          \
    return gesvdj(h, mode, thin, m, n, a, lda, s, u, ldu, v, ldv, work, size, info);                                 \
  }                                                                                                                  \
  FAKE int cublas##letter##trsm_v2(void* h, int side, int uplo, int trans, int diag, int m, int n, const T* factor,  \
                                   const T* a, int lda, T* b, int ldb) {                                             \
    return trsm(h, side, uplo, trans, diag, m, n, factor, a, lda, b, ldb);                                           \
  }
ROUTINES(S, float)
ROUTINES(D, double)

}  // namespace baton::testing_support
