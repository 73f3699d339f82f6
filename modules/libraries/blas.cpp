// Products of matrices by OpenBLAS, on the host. Each band of rows is a call of its own, so that the device's workers share
// the work; the library's own threads stay out of it.
#include <algorithm>
#include <memory>
#include <mutex>

#include "modules/libraries/product.hpp"
#include "modules/libraries/report.hpp"
#include "modules/libraries/shared_library.hpp"

namespace {

using namespace baton::sdk;
using namespace baton::libraries;

// The declarations are those of cblas.h.
struct OpenBlas {
  static constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
  using Sgemm = void(int order, int op_a, int op_b, int m, int n, int k, float alpha, const float* a, int lda,
                     const float* b, int ldb, float beta, float* c, int ldc);
  using Dgemm = void(int order, int op_a, int op_b, int m, int n, int k, double alpha, const double* a, int lda,
                     const double* b, int ldb, double beta, double* c, int ldc);
  Sgemm* sgemm = nullptr;
  Dgemm* dgemm = nullptr;

  static Result<OpenBlas> open(const std::string& path) {
    BATON_ASSIGN_OR_RETURN(
        const SharedLibrary library,
        path.empty() ? SharedLibrary::open({"libopenblas.so.0", "libopenblas.so"}) : SharedLibrary::open({path}));
    OpenBlas all;
    void (*set_threads)(int) = nullptr;
    BATON_OR_RETURN(library.find("cblas_sgemm", all.sgemm));
    BATON_OR_RETURN(library.find("cblas_dgemm", all.dgemm));
    BATON_OR_RETURN(library.find("openblas_set_num_threads", set_threads));
    set_threads(1);
    return all;
  }

  void gemm(BlasMatrix a_is, BlasMatrix b_is, int m, int n, int k, const float* a, const float* b, float beta, float* c,
            int ldc) const {
    sgemm(kRowMajor, op(a_is), op(b_is), m, n, k, 1.0f, a, static_cast<int>(a_is.leading), b,
          static_cast<int>(b_is.leading), beta, c, ldc);
  }
  void gemm(BlasMatrix a_is, BlasMatrix b_is, int m, int n, int k, const double* a, const double* b, double beta,
            double* c, int ldc) const {
    dgemm(kRowMajor, op(a_is), op(b_is), m, n, k, 1.0, a, static_cast<int>(a_is.leading), b,
          static_cast<int>(b_is.leading), beta, c, ldc);
  }

 private:
  static int op(BlasMatrix matrix) { return matrix.transposed ? kTransposed : kPlain; }
};

// A product that was looked at, as the library takes it.
struct Prepared {
  OpenBlas blas;
  Product product;
  BlasMatrix a, b, c;
  Epilogue epilogue;
  int64_t bands = 1;  // Of each matrix.

  static Result<std::shared_ptr<const Prepared>> make(const OpenBlas& blas, const Product& product, Epilogue epilogue,
                                                      int64_t workers) {
    BATON_ASSIGN_OR_RETURN(const BlasMatrix a, blas_matrix(product.a, product.rows, product.steps));
    BATON_ASSIGN_OR_RETURN(const BlasMatrix b, blas_matrix(product.b, product.steps, product.columns));
    BATON_ASSIGN_OR_RETURN(const BlasMatrix c, blas_matrix(product.c, product.rows, product.columns));
    if (c.transposed) {
      return failure(StatusCode::kInvalidArgument, "The result of a product has its columns ", product.c.column,
                     " elements apart; it takes 1.");
    }
    auto made = std::make_shared<Prepared>(Prepared{blas, product, a, b, c, epilogue});
    made->bands = std::clamp<int64_t>(workers / std::max<int64_t>(product.batches(), 1), 1,
                                      std::max<int64_t>(product.rows / kRowsOfBandMin, 1));
    return std::shared_ptr<const Prepared>(std::move(made));
  }

  int64_t parts() const { return product.batches() * bands; }

  // Rows of one matrix; `bias` may be null.
  template <typename T>
  void run_part(int64_t part, const T* a_data, const T* b_data, const T* bias, T* c_data) const {
    const int64_t batch = part / bands, band = part % bands;
    const int64_t first = product.rows * band / bands, count = product.rows * (band + 1) / bands - first;
    const T* from = a_data + product.begin(product.a, batch) + first * product.a.row;
    T* to = c_data + product.begin(product.c, batch) + first * product.c.row;
    if (bias || product.steps == 0) {
      for (int64_t row = 0; row < count; ++row) {
        for (int64_t column = 0; column < product.columns; ++column) {
          to[row * c.leading + column] = bias ? bias[column] : T(0);
        }
      }
    }
    if (product.steps > 0 && count > 0) {
      blas.gemm(a, b, static_cast<int>(count), static_cast<int>(product.columns), static_cast<int>(product.steps), from,
                b_data + product.begin(product.b, batch), bias ? T(1) : T(0), to, static_cast<int>(c.leading));
    }
    if (epilogue.activation != Activation::kRelu) return;
    for (int64_t row = 0; row < count; ++row) {
      T* line = to + row * c.leading;
      // What is no number stays none.
      for (int64_t column = 0; column < product.columns; ++column)
        line[column] = line[column] < T(0) ? T(0) : line[column];
    }
  }

  template <typename T>
  Status run(int64_t share, int64_t shares, DeviceSpan<const std::byte> a_span, DeviceSpan<const std::byte> b_span,
             DeviceSpan<const std::byte> bias_span, DeviceSpan<std::byte> c_span) const {
    BATON_OR_RETURN(product.check(a_span.size() / sizeof(T), b_span.size() / sizeof(T), c_span.size() / sizeof(T)));
    if (epilogue.bias && bias_span.size() / sizeof(T) < static_cast<uint64_t>(product.columns)) {
      return failure(StatusCode::kOutOfRange, "The bias of a product has ", bias_span.size() / sizeof(T),
                     " elements, and the product ", product.columns, " columns.");
    }
    if (product.empty()) return {};
    const auto as = [](auto span) { return reinterpret_cast<const T*>(span.host().data()); };
    const T* const bias = epilogue.bias ? as(bias_span) : nullptr;
    for (int64_t part = parts() * share / shares; part < parts() * (share + 1) / shares; ++part) {
      run_part(part, as(a_span), as(b_span), bias, reinterpret_cast<T*>(c_span.host().data()));
    }
    return {};
  }

 private:
  static constexpr int64_t kRowsOfBandMin = 32;
};

class Blas final : public Module<Blas> {
 public:
  explicit Blas(const Parameters& parameters)
      : path_(parameters.find("library").value_or("")), report_("blas", parameters) {}

  // Whether commands work on this device: 1, or 0 where programs must go without. A device that runs nothing shows them.
  int32_t available(const Device& device) {
    const bool runs = device.driver() == "local" || device.driver() == "null";
    const Result<OpenBlas>& blas = opened();
    if (runs && !blas.has_value()) report_.absent(blas.error());
    return runs && blas.has_value() ? 1 : 0;
  }

  Status gemm(CommandBuffer& rec, Binding<const std::byte> a, Binding<const std::byte> b, Binding<std::byte> c,
              Variadic<int64_t> numbers) {
    return record(rec, a, b, a, c, numbers, {});
  }
  Status gemm_relu(CommandBuffer& rec, Binding<const std::byte> a, Binding<const std::byte> b, Binding<std::byte> c,
                   Variadic<int64_t> numbers) {
    return record(rec, a, b, a, c, numbers, {.activation = Activation::kRelu});
  }
  Status gemm_bias(CommandBuffer& rec, Binding<const std::byte> a, Binding<const std::byte> b,
                   Binding<const std::byte> bias, Binding<std::byte> c, Variadic<int64_t> numbers) {
    return record(rec, a, b, bias, c, numbers, {.bias = true});
  }
  Status gemm_bias_relu(CommandBuffer& rec, Binding<const std::byte> a, Binding<const std::byte> b,
                        Binding<const std::byte> bias, Binding<std::byte> c, Variadic<int64_t> numbers) {
    return record(rec, a, b, bias, c, numbers, {.bias = true, .activation = Activation::kRelu});
  }

 private:
  // Opened once; what was missing then stays missing.
  const Result<OpenBlas>& opened() {
    std::lock_guard lock(opening_);
    if (!blas_) blas_.emplace(OpenBlas::open(path_));
    return *blas_;
  }

  Status record(CommandBuffer& rec, Binding<const std::byte> a, Binding<const std::byte> b,
                Binding<const std::byte> bias, Binding<std::byte> c, const Variadic<int64_t>& numbers,
                Epilogue epilogue) {
    const Result<OpenBlas>& blas = opened();
    if (!blas.has_value()) {
      return failure(StatusCode::kUnavailable,
                     "OpenBLAS is not there, or lacks a function; programs ask 'available' "
                     "before they record its commands.");
    }
    BATON_ASSIGN_OR_RETURN(const Product product, Product::make(numbers));
    const auto told = rec.device().query("hal.dispatch", "concurrency");
    const int64_t workers = told.has_value() ? told.value() : 1;
    BATON_ASSIGN_OR_RETURN(const std::shared_ptr<const Prepared> prepared,
                           Prepared::make(blas.value(), product, epilogue, workers));
    const uint32_t element = c.element_type();
    for (const uint32_t each : {a.element_type(), b.element_type(), bias.element_type()}) {
      if (each == element) continue;
      return failure(StatusCode::kInvalidArgument, "The operands of a product have elements of different types.");
    }
    if (element == BATON_ELEMENT_F32) return record_as<float>(rec, a, b, bias, c, prepared, workers);
    if (element == BATON_ELEMENT_F64) return record_as<double>(rec, a, b, bias, c, prepared, workers);
    return failure(StatusCode::kInvalidArgument, "OpenBLAS multiplies f32 and f64, no elements of type ", element, ".");
  }

  template <typename T>
  Status record_as(CommandBuffer& rec, Binding<const std::byte> a, Binding<const std::byte> b,
                   Binding<const std::byte> bias, Binding<std::byte> c, const std::shared_ptr<const Prepared>& prepared,
                   int64_t workers) {
    const int64_t shares = std::clamp<int64_t>(prepared->parts(), 1, std::max<int64_t>(workers, 1));
    const std::string name = "blas.gemm " + prepared->product.describe();
    report_.recorded(name);
    for (int64_t share = 0; share < shares; ++share) {
      const auto run = [prepared, share, shares](Foreign&, DeviceSpan<const std::byte> a_span,
                                                 DeviceSpan<const std::byte> b_span,
                                                 DeviceSpan<const std::byte> bias_span, DeviceSpan<std::byte> c_span) {
        return prepared->template run<T>(share, shares, a_span, b_span, bias_span, c_span);
      };
      BATON_OR_RETURN(rec.foreign(name, run, a, b, bias, c));
    }
    return {};
  }

  std::string path_;
  Report report_;
  std::mutex opening_;
  std::optional<Result<OpenBlas>> blas_;
};

}  // namespace

BATON_EXPORT_MODULE(Blas, "blas",                                                //
                    BATON_FUNCTION("available", &Blas::available),               //
                    BATON_COMMAND("gemm", &Blas::gemm, kCaptureSafe),            //
                    BATON_COMMAND("gemm_relu", &Blas::gemm_relu, kCaptureSafe),  //
                    BATON_COMMAND("gemm_bias", &Blas::gemm_bias, kCaptureSafe),  //
                    BATON_COMMAND("gemm_bias_relu", &Blas::gemm_bias_relu, kCaptureSafe));
