// FFTW's libraries, one for floats and one for doubles, and their plans.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "modules/libraries/shared_library.hpp"

namespace baton::libraries {

// fftw_iodim64: a dimension, and how far its elements are apart.
struct FftwDimension {
  ptrdiff_t size, in_stride, out_stride;
};

// FFTW uses vectors only where it may count on memory that is aligned so.
inline constexpr size_t kFftwAlignment = 64;

// Of one of FFTW's libraries, what transforms complex numbers, which stand in pairs.
template <typename T>
struct Fftw {
  void* (*plan)(int rank, const FftwDimension* dims, int batch_rank, const FftwDimension* batch, T* in, T* out,
                int sign, unsigned flags);
  void (*run)(const void* plan, T* in, T* out);
  void (*destroy)(void* plan);

  static sdk::Result<Fftw> open(const std::string& path) {
    const bool is_single = sizeof(T) == sizeof(float);
    BATON_ASSIGN_OR_RETURN(const SharedLibrary library,
                           path.empty() ? SharedLibrary::open({is_single ? "libfftw3f.so.3" : "libfftw3.so.3"})
                                        : SharedLibrary::open({path}));
    const std::string prefix = is_single ? "fftwf_" : "fftw_";
    Fftw all = {};
    BATON_OR_RETURN(library.find((prefix + "plan_guru64_dft").c_str(), all.plan));
    BATON_OR_RETURN(library.find((prefix + "execute_dft").c_str(), all.run));
    BATON_OR_RETURN(library.find((prefix + "destroy_plan").c_str(), all.destroy));
    return all;
  }
};

// Threads: FFTW plans one transform at a time, whoever asks; a plan runs on any threads at once.
template <typename T>
class FftwPlan {
 public:
  static sdk::Result<std::shared_ptr<const FftwPlan>> make(const Fftw<T>& use,
                                                           const std::vector<FftwDimension>& dimensions,
                                                           FftwDimension batch, bool is_inverse, bool is_in_place) {
    constexpr unsigned kEstimate = 1u << 6;
    // An estimate touches nothing.
    alignas(kFftwAlignment) T nowhere[2 * kFftwAlignment / sizeof(T)] = {};
    T* const out = is_in_place ? nowhere : nowhere + kFftwAlignment / sizeof(T);
    std::lock_guard lock(planning());
    void* const plan = use.plan(static_cast<int>(dimensions.size()), dimensions.data(), 1, &batch, nowhere, out,
                                is_inverse ? 1 : -1, kEstimate);
    if (!plan) return sdk::failure(sdk::StatusCode::kInternal, "FFTW makes no plan for a transform.");
    return std::make_shared<const FftwPlan>(use, plan, is_in_place);
  }
  FftwPlan(const Fftw<T>& use, void* plan, bool is_in_place) : use_(use), plan_(plan), is_in_place_(is_in_place) {}
  FftwPlan(const FftwPlan&) = delete;
  ~FftwPlan() {
    std::lock_guard lock(planning());
    use_.destroy(plan_);
  }
  // Where the result is: in `pairs`, or in `spare`. Both are aligned as kFftwAlignment says.
  T* run(T* pairs, T* spare) const {
    T* const out = is_in_place_ ? pairs : spare;
    use_.run(plan_, pairs, out);
    return out;
  }
  bool is_in_place() const { return is_in_place_; }

 private:
  static std::mutex& planning() {
    static std::mutex mutex;
    return mutex;
  }

  Fftw<T> use_;
  void* plan_;
  bool is_in_place_;
};

}  // namespace baton::libraries
