// Fourier transforms by FFTW, on the host: of complex numbers whose parts are two tensors, and of real ones.
#include <algorithm>
#include <array>
#include <climits>
#include <memory>
#include <mutex>
#include <vector>

#include "modules/libraries/on_host.hpp"
#include "modules/libraries/report.hpp"
#include "modules/libraries/shared_library.hpp"

namespace {

using namespace baton::sdk;
using namespace baton::libraries;

// fftw_iodim64: a dimension, and how far its elements are apart.
struct Dimension {
  ptrdiff_t size, in_stride, out_stride;
};

constexpr unsigned kEstimate = 1u << 6, kUnaligned = 1u << 1, kDestroyInput = 1u << 0;

// Of one of FFTW's libraries. Its complex numbers stand in pairs; of parts that lie apart it would ask that they always
// lie equally far apart.
template <typename T>
struct Fftw {
  void* (*plan_complex)(int rank, const Dimension* dims, int batch_rank, const Dimension* batch, T* in, T* out,
                        int sign, unsigned flags);
  void* (*plan_forward)(int rank, const Dimension* dims, int batch_rank, const Dimension* batch, T* in, T* out,
                        unsigned flags);
  void* (*plan_backward)(int rank, const Dimension* dims, int batch_rank, const Dimension* batch, T* in, T* out,
                         unsigned flags);
  void (*run_complex)(const void* plan, T* in, T* out);
  void (*run_forward)(const void* plan, T* in, T* out);
  void (*run_backward)(const void* plan, T* in, T* out);
  void (*destroy)(void* plan);

  static Result<Fftw> open(const std::string& path) {
    const bool is_single = sizeof(T) == sizeof(float);
    BATON_ASSIGN_OR_RETURN(const SharedLibrary library,
                           path.empty() ? SharedLibrary::open({is_single ? "libfftw3f.so.3" : "libfftw3.so.3"})
                                        : SharedLibrary::open({path}));
    const std::string prefix = is_single ? "fftwf_" : "fftw_";
    Fftw all = {};
    BATON_OR_RETURN(library.find((prefix + "plan_guru64_dft").c_str(), all.plan_complex));
    BATON_OR_RETURN(library.find((prefix + "plan_guru64_dft_r2c").c_str(), all.plan_forward));
    BATON_OR_RETURN(library.find((prefix + "plan_guru64_dft_c2r").c_str(), all.plan_backward));
    BATON_OR_RETURN(library.find((prefix + "execute_dft").c_str(), all.run_complex));
    BATON_OR_RETURN(library.find((prefix + "execute_dft_r2c").c_str(), all.run_forward));
    BATON_OR_RETURN(library.find((prefix + "execute_dft_c2r").c_str(), all.run_backward));
    BATON_OR_RETURN(library.find((prefix + "destroy_plan").c_str(), all.destroy));
    return all;
  }
};

// FFTW plans one transform at a time, whoever asks; running plans is for many threads.
std::mutex& planning() {
  static std::mutex mutex;
  return mutex;
}

template <typename T>
class Plan {
 public:
  Plan(const Fftw<T>& use, void* plan) : use_(use), plan_(plan) {}
  Plan(const Plan&) = delete;
  ~Plan() {
    std::lock_guard lock(planning());
    use_.destroy(plan_);
  }
  const Fftw<T>& use() const { return use_; }
  const void* get() const { return plan_; }

 private:
  Fftw<T> use_;
  void* plan_;
};

// A batch of transforms along the last one to three dimensions, as a program tells it: the sizes of real numbers.
struct Shape {
  int64_t batch;
  std::vector<int64_t> sizes;

  static Result<Shape> make(int64_t batch, int64_t a, int64_t b, int64_t c) {
    Shape shape{batch, {}};
    int64_t all = batch;
    bool fits = batch >= 0;
    for (const int64_t size : {a, b, c}) {
      fits = fits && size >= 0 && !__builtin_mul_overflow(all, std::max<int64_t>(size, 1), &all);
      if (size > 0) shape.sizes.push_back(size);
    }
    if (fits && !shape.sizes.empty() && all <= INT64_MAX / 16) return shape;
    return failure(StatusCode::kInvalidArgument, "A transform has a batch of ", batch, " and the sizes ", a, ", ", b,
                   " and ", c, "; it takes one to three sizes, and 0 for what is none.");
  }
  int64_t elements() const {
    int64_t product = 1;
    for (const int64_t size : sizes) product *= size;
    return product;
  }
  // Of the coefficients of real numbers, half of which say all.
  int64_t half_elements() const { return elements() / sizes.back() * (sizes.back() / 2 + 1); }

  // Row-major on both sides; `in_last` and `out_last` are the sizes of the last dimension there.
  std::vector<Dimension> dimensions(int64_t in_last, int64_t out_last) const {
    std::vector<Dimension> all(sizes.size());
    int64_t in = 1, out = 1;
    for (size_t i = sizes.size(); i-- > 0;) {
      all[i] = {sizes[i], in, out};
      in *= i + 1 == sizes.size() ? in_last : sizes[i];
      out *= i + 1 == sizes.size() ? out_last : sizes[i];
    }
    return all;
  }
};

Status check_elements(const char* what, size_t has, int64_t wants) {
  if (wants >= 0 && has >= static_cast<uint64_t>(wants)) return {};
  return failure(StatusCode::kOutOfRange, what, " of a transform has ", has, " elements; ", wants, " are asked for.");
}

template <typename T>
std::vector<T> as_pairs(std::span<const T> real, std::span<const T> imaginary, int64_t count) {
  std::vector<T> pairs(static_cast<size_t>(2 * count));
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    pairs[2 * i] = real[i];
    pairs[2 * i + 1] = imaginary[i];
  }
  return pairs;
}
template <typename T>
void as_parts(const std::vector<T>& pairs, int64_t count, T factor, std::span<T> real, std::span<T> imaginary) {
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    real[i] = pairs[2 * i] * factor;
    imaginary[i] = pairs[2 * i + 1] * factor;
  }
}

class Fft final : public Module<Fft> {
 public:
  explicit Fft(const Parameters& parameters)
      : path_(parameters.find("library").value_or("")), report_("fft", parameters) {}

  int32_t available(const Device& device) {
    if (device.driver() != "local") return 0;
    const Result<Fftw<float>>& singles = opened<float>();
    if (!singles.has_value()) report_.absent(singles.error());
    return singles.has_value() ? 1 : 0;
  }

  // Parts in, parts out; the sizes of the results, the batch, three sizes, and 1 for the inverse.
  template <typename T>
  Status complex_parts(Recording& rec, Binding<const T> real, Binding<const T> imaginary, int64_t, int64_t,
                       int64_t batch, int64_t a, int64_t b, int64_t c, int64_t inverse, Binding<T> out_real,
                       Binding<T> out_imaginary) {
    BATON_ASSIGN_OR_RETURN(const Shape shape, Shape::make(batch, a, b, c));
    BATON_ASSIGN_OR_RETURN(const Fftw<T> use, begin<T>("c2c"));
    const std::vector<Dimension> dims = shape.dimensions(shape.sizes.back(), shape.sizes.back());
    const Dimension batches = {shape.batch, shape.elements(), shape.elements()};
    std::array<T, 2> nowhere = {};
    BATON_ASSIGN_OR_RETURN(const std::shared_ptr<Plan<T>> plan, planned<T>(use, [&] {
                             return use.plan_complex(static_cast<int>(dims.size()), dims.data(), 1, &batches,
                                                     nowhere.data(), nowhere.data(), inverse == 0 ? -1 : 1,
                                                     kEstimate | kUnaligned);
                           }));
    const auto run = [shape, plan, inverse](std::span<const T> ri, std::span<const T> ii, std::span<T> ro,
                                            std::span<T> io) -> Status {
      const int64_t count = shape.batch * shape.elements();
      BATON_OR_RETURN(check_elements("A part", std::min({ri.size(), ii.size(), ro.size(), io.size()}), count));
      std::vector<T> pairs = as_pairs(ri, ii, count);
      if (count > 0) plan->use().run_complex(plan->get(), pairs.data(), pairs.data());
      as_parts(pairs, count, inverse == 0 ? T(1) : T(1) / static_cast<T>(shape.elements()), ro, io);
      return {};
    };
    return record_on_host(rec, "fft.c2c", run, real, imaginary, out_real, out_imaginary);
  }

  template <typename T>
  Status real_to_parts(Recording& rec, Binding<const T> real, int64_t, int64_t, int64_t batch, int64_t a, int64_t b,
                       int64_t c, Binding<T> out_real, Binding<T> out_imaginary) {
    BATON_ASSIGN_OR_RETURN(const Shape shape, Shape::make(batch, a, b, c));
    BATON_ASSIGN_OR_RETURN(const Fftw<T> use, begin<T>("r2c"));
    const std::vector<Dimension> dims = shape.dimensions(shape.sizes.back(), shape.sizes.back() / 2 + 1);
    const Dimension batches = {shape.batch, shape.elements(), shape.half_elements()};
    std::array<T, 2> in_place = {}, out_place = {};
    BATON_ASSIGN_OR_RETURN(const std::shared_ptr<Plan<T>> plan, planned<T>(use, [&] {
                             return use.plan_forward(static_cast<int>(dims.size()), dims.data(), 1, &batches,
                                                     in_place.data(), out_place.data(),
                                                     kEstimate | kUnaligned | kDestroyInput);
                           }));
    const auto run = [shape, plan](std::span<const T> in, std::span<T> ro, std::span<T> io) -> Status {
      const int64_t count = shape.batch * shape.elements(), half = shape.batch * shape.half_elements();
      BATON_OR_RETURN(check_elements("The input", in.size(), count));
      BATON_OR_RETURN(check_elements("A part", std::min(ro.size(), io.size()), half));
      std::vector<T> copy(in.begin(), in.begin() + count), pairs(static_cast<size_t>(2 * half));
      if (count > 0) plan->use().run_forward(plan->get(), copy.data(), pairs.data());
      as_parts(pairs, half, T(1), ro, io);
      return {};
    };
    return record_on_host(rec, "fft.r2c", run, real, out_real, out_imaginary);
  }

  template <typename T>
  Status parts_to_real(Recording& rec, Binding<const T> real, Binding<const T> imaginary, int64_t, int64_t batch,
                       int64_t a, int64_t b, int64_t c, Binding<T> out) {
    BATON_ASSIGN_OR_RETURN(const Shape shape, Shape::make(batch, a, b, c));
    BATON_ASSIGN_OR_RETURN(const Fftw<T> use, begin<T>("c2r"));
    const std::vector<Dimension> dims = shape.dimensions(shape.sizes.back() / 2 + 1, shape.sizes.back());
    const Dimension batches = {shape.batch, shape.half_elements(), shape.elements()};
    std::array<T, 2> in_place = {}, out_place = {};
    BATON_ASSIGN_OR_RETURN(const std::shared_ptr<Plan<T>> plan, planned<T>(use, [&] {
                             return use.plan_backward(static_cast<int>(dims.size()), dims.data(), 1, &batches,
                                                      in_place.data(), out_place.data(),
                                                      kEstimate | kUnaligned | kDestroyInput);
                           }));
    const auto run = [shape, plan](std::span<const T> ri, std::span<const T> ii, std::span<T> to) -> Status {
      const int64_t half = shape.batch * shape.half_elements(), count = shape.batch * shape.elements();
      BATON_OR_RETURN(check_elements("A part", std::min(ri.size(), ii.size()), half));
      BATON_OR_RETURN(check_elements("The result", to.size(), count));
      std::vector<T> pairs = as_pairs(ri, ii, half);
      if (count > 0) plan->use().run_backward(plan->get(), pairs.data(), to.data());
      const T factor = T(1) / static_cast<T>(shape.elements());
      for (T& value : to.first(static_cast<size_t>(count))) value *= factor;
      return {};
    };
    return record_on_host(rec, "fft.c2r", run, real, imaginary, out);
  }

 private:
  template <typename T>
  struct Opened {
    std::mutex opening;
    std::optional<Result<Fftw<T>>> library;
  };
  template <typename T>
  Opened<T>& place() {
    if constexpr (sizeof(T) == sizeof(float)) {
      return singles_;
    } else {
      return doubles_;
    }
  }
  template <typename T>
  const Result<Fftw<T>>& opened() {
    Opened<T>& at = place<T>();
    std::lock_guard lock(at.opening);
    if (!at.library) at.library.emplace(Fftw<T>::open(path_));
    return *at.library;
  }
  template <typename T>
  Result<Fftw<T>> begin(const char* what) {
    const Result<Fftw<T>>& library = opened<T>();
    if (!library.has_value()) {
      return failure(StatusCode::kUnavailable,
                     "FFTW is needed for a transform, and is not here: ", library.error().message());
    }
    report_.recorded(std::string("fft.") + what);
    return library.value();
  }
  template <typename T, typename Make>
  static Result<std::shared_ptr<Plan<T>>> planned(const Fftw<T>& use, const Make& make) {
    std::lock_guard lock(planning());
    void* const plan = make();
    if (!plan) return failure(StatusCode::kInternal, "FFTW makes no plan for a transform.");
    return std::make_shared<Plan<T>>(use, plan);
  }

  std::string path_;
  Report report_;
  Opened<float> singles_;
  Opened<double> doubles_;
};

}  // namespace

BATON_EXPORT_MODULE(Fft, "fft", BATON_FUNCTION("available", &Fft::available),
                    BATON_COMMAND("c2c_f32", (&Fft::complex_parts<float>), kCaptureSafe),
                    BATON_COMMAND("c2c_f64", (&Fft::complex_parts<double>), kCaptureSafe),
                    BATON_COMMAND("r2c_f32", (&Fft::real_to_parts<float>), kCaptureSafe),
                    BATON_COMMAND("r2c_f64", (&Fft::real_to_parts<double>), kCaptureSafe),
                    BATON_COMMAND("c2r_f32", (&Fft::parts_to_real<float>), kCaptureSafe),
                    BATON_COMMAND("c2r_f64", (&Fft::parts_to_real<double>), kCaptureSafe));
