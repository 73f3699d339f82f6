// Fourier transforms by FFTW, on the host: of complex numbers whose parts are two tensors, and of real ones.
#include <algorithm>

#include "modules/libraries/fourier.hpp"
#include "modules/libraries/on_host.hpp"
#include "modules/libraries/report.hpp"

namespace {

using namespace baton::sdk;
using namespace baton::libraries;

Status check_elements(const char* what, size_t has, int64_t wants) {
  if (wants >= 0 && has >= static_cast<uint64_t>(wants)) return {};
  return failure(StatusCode::kOutOfRange, what, " of a transform has ", has, " elements; ", wants, " are asked for.");
}

// Transforms of a batch are cut into commands that may run at once.
struct Part {
  int64_t first, count;
};
std::vector<Part> cut(const FourierShape& shape) {
  constexpr int64_t kLeastElements = 8 * 1024, kMostParts = 64;
  const int64_t wanted = std::min(kMostParts, shape.batch * shape.elements() / kLeastElements);
  const int64_t parts = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(shape.batch, 1));
  std::vector<Part> all;
  for (int64_t i = 0, first = 0; i < parts; ++i) {
    const int64_t count = shape.batch / parts + (i < shape.batch % parts ? 1 : 0);
    all.push_back({first, count});
    first += count;
  }
  return all;
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
  Status complex_parts(CommandBuffer& rec, Binding<const T> real, Binding<const T> imaginary, int64_t, int64_t,
                       int64_t batch, int64_t a, int64_t b, int64_t c, int64_t inverse, Binding<T> out_real,
                       Binding<T> out_imaginary) {
    BATON_ASSIGN_OR_RETURN(const FourierShape shape, FourierShape::make(batch, a, b, c));
    BATON_ASSIGN_OR_RETURN(const Fftw<T> use, begin<T>("c2c"));
    BATON_ASSIGN_OR_RETURN(const auto transform, shared(ComplexTransform<T>::make(use, shape, inverse != 0)));
    const int64_t size = shape.elements();
    for (const Part part : cut(shape)) {
      const auto run = [transform, part, wants = part.count * size](std::span<const T> ri, std::span<const T> ii,
                                                                    std::span<T> ro, std::span<T> io) -> Status {
        BATON_OR_RETURN(check_elements("A part", std::min({ri.size(), ii.size(), ro.size(), io.size()}), wants));
        transform->run(parts(ri.data(), ii.data()), parts(ro.data(), io.data()), part.count);
        return {};
      };
      BATON_OR_RETURN(record_on_host(rec, "fft.c2c", run, of(real, part, size), of(imaginary, part, size),
                                     of(out_real, part, size), of(out_imaginary, part, size)));
    }
    return {};
  }

  template <typename T>
  Status real_to_parts(CommandBuffer& rec, Binding<const T> real, int64_t, int64_t, int64_t batch, int64_t a, int64_t b,
                       int64_t c, Binding<T> out_real, Binding<T> out_imaginary) {
    BATON_ASSIGN_OR_RETURN(const FourierShape shape, FourierShape::make(batch, a, b, c));
    BATON_ASSIGN_OR_RETURN(const Fftw<T> use, begin<T>("r2c"));
    BATON_ASSIGN_OR_RETURN(const auto transform, shared(RealTransform<T>::make(use, shape, /*is_inverse=*/false)));
    const int64_t size = shape.elements(), half = shape.half_elements();
    for (const Part part : cut(shape)) {
      const auto run = [transform, part, size, half](std::span<const T> in, std::span<T> ro,
                                                     std::span<T> io) -> Status {
        BATON_OR_RETURN(check_elements("The input", in.size(), part.count * size));
        BATON_OR_RETURN(check_elements("A part", std::min(ro.size(), io.size()), part.count * half));
        transform->forward(in.data(), parts(ro.data(), io.data()), part.count);
        return {};
      };
      BATON_OR_RETURN(record_on_host(rec, "fft.r2c", run, of(real, part, size), of(out_real, part, half),
                                     of(out_imaginary, part, half)));
    }
    return {};
  }

  template <typename T>
  Status parts_to_real(CommandBuffer& rec, Binding<const T> real, Binding<const T> imaginary, int64_t, int64_t batch,
                       int64_t a, int64_t b, int64_t c, Binding<T> out) {
    BATON_ASSIGN_OR_RETURN(const FourierShape shape, FourierShape::make(batch, a, b, c));
    BATON_ASSIGN_OR_RETURN(const Fftw<T> use, begin<T>("c2r"));
    BATON_ASSIGN_OR_RETURN(const auto transform, shared(RealTransform<T>::make(use, shape, /*is_inverse=*/true)));
    const int64_t size = shape.elements(), half = shape.half_elements();
    for (const Part part : cut(shape)) {
      const auto run = [transform, part, size, half](std::span<const T> ri, std::span<const T> ii,
                                                     std::span<T> to) -> Status {
        BATON_OR_RETURN(check_elements("A part", std::min(ri.size(), ii.size()), part.count * half));
        BATON_OR_RETURN(check_elements("The result", to.size(), part.count * size));
        transform->backward(parts(ri.data(), ii.data()), to.data(), part.count);
        return {};
      };
      BATON_OR_RETURN(
          record_on_host(rec, "fft.c2r", run, of(real, part, half), of(imaginary, part, half), of(out, part, size)));
    }
    return {};
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
  template <typename Transform>
  static Result<std::shared_ptr<const Transform>> shared(Result<Transform> made) {
    if (!made.has_value()) return std::move(made).error();
    return std::make_shared<const Transform>(*std::move(made));
  }
  // What a part of a batch reads or writes.
  template <typename T>
  static Binding<T> of(const Binding<T>& whole, Part part, int64_t size) {
    return whole.subspan(static_cast<uint64_t>(part.first * size), static_cast<uint64_t>(part.count * size));
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
