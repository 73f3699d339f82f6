// Factorizations by LAPACK, on the host: Cholesky, LU, QR, triangular solves, eigenvalues and singular values of real
// matrices. Programs hold matrices row by row and LAPACK column by column, so each goes through memory of its own.
#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "modules/libraries/factorization.hpp"
#include "modules/libraries/on_host.hpp"
#include "modules/libraries/report.hpp"
#include "modules/libraries/shared_library.hpp"

namespace {

using namespace baton::sdk;
using namespace baton::libraries;

// Fortran's: everything by address. Lengths of texts of one letter are left out, as C programs do.
template <typename T>
struct Functions {
  void (*potrf)(const char* uplo, const int* n, T* a, const int* lda, int* info);
  void (*getrf)(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);
  void (*trsm)(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
               const T* alpha, const T* a, const int* lda, T* b, const int* ldb);
  void (*geqrf)(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, int* info);
  void (*orgqr)(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work, const int* lwork,
                int* info);
  void (*syevd)(const char* jobz, const char* uplo, const int* n, T* a, const int* lda, T* w, T* work, const int* lwork,
                int* iwork, const int* liwork, int* info);
  void (*gesdd)(const char* jobz, const int* m, const int* n, T* a, const int* lda, T* s, T* u, const int* ldu, T* vt,
                const int* ldvt, T* work, const int* lwork, int* iwork, int* info);

  Status find(const SharedLibrary& library, const std::string& letter) {
    BATON_OR_RETURN(library.find((letter + "potrf_").c_str(), potrf));
    BATON_OR_RETURN(library.find((letter + "getrf_").c_str(), getrf));
    BATON_OR_RETURN(library.find((letter + "trsm_").c_str(), trsm));
    BATON_OR_RETURN(library.find((letter + "geqrf_").c_str(), geqrf));
    BATON_OR_RETURN(library.find((letter + "orgqr_").c_str(), orgqr));
    BATON_OR_RETURN(library.find((letter + "syevd_").c_str(), syevd));
    return library.find((letter + "gesdd_").c_str(), gesdd);
  }
};

struct Library {
  Functions<float> singles = {};
  Functions<double> doubles = {};

  static Result<Library> open(const std::string& path) {
    BATON_ASSIGN_OR_RETURN(
        const SharedLibrary library,
        path.empty() ? SharedLibrary::open({"libopenblas.so.0", "liblapack.so.3"}) : SharedLibrary::open({path}));
    Library all;
    BATON_OR_RETURN(all.singles.find(library, "s"));
    BATON_OR_RETURN(all.doubles.find(library, "d"));
    // Several commands may run at once, on the device's own threads.
    void (*set_threads)(int) = nullptr;
    if (library.find("openblas_set_num_threads", set_threads).ok()) set_threads(1);
    return all;
  }
  template <typename T>
  const Functions<T>& of() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return singles;
    } else {
      return doubles;
    }
  }
};

// Column by column.
template <typename T>
std::vector<T> turned(const T* from, int64_t rows, int64_t columns) {
  std::vector<T> to(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[static_cast<size_t>(j * rows + i)] = from[i * columns + j];
  }
  return to;
}
template <typename T>
void turn_back(const std::vector<T>& from, int64_t leading, int64_t rows, int64_t columns, T* to) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[i * columns + j] = from[static_cast<size_t>(j * leading + i)];
  }
}

// LAPACK tells that it was called wrongly by a negative number: our mistake.
Status done(const char* what, int info) {
  if (info >= 0) return {};
  return failure(StatusCode::kInternal, what, " refused its argument ", -info, ".");
}

int at_least_one(int64_t size) { return size < 1 ? 1 : static_cast<int>(size); }

// Asks how much memory a routine works in, and calls it with as much.
template <typename T, typename Call>
void with_work(const Call& call) {
  T wanted = 0;
  call(&wanted, -1);
  std::vector<T> work(static_cast<size_t>(wanted) + 1);
  call(work.data(), static_cast<int>(work.size()));
}

template <typename T>
Status run_potrf(const Functions<T>& use, Matrices shape, char uplo, std::span<const T> a, std::span<T> out,
                 std::span<int32_t> info) {
  const int n = static_cast<int>(shape.rows), leading = at_least_one(n);
  for (int64_t i = 0; i < shape.batch; ++i) {
    const int64_t at = i * n * n;
    std::vector<T> matrix = turned(a.data() + at, n, n);
    use.potrf(&uplo, &n, matrix.data(), &leading, &info[static_cast<size_t>(i)]);
    BATON_OR_RETURN(done("potrf", info[static_cast<size_t>(i)]));
    turn_back(matrix, n, n, n, out.data() + at);
  }
  return {};
}

template <typename T>
Status run_getrf(const Functions<T>& use, Matrices shape, std::span<const T> a, std::span<T> out,
                 std::span<int32_t> pivots, std::span<int32_t> info) {
  const int m = static_cast<int>(shape.rows), n = static_cast<int>(shape.columns), leading = at_least_one(m);
  for (int64_t i = 0; i < shape.batch; ++i) {
    const int64_t at = i * m * n;
    std::vector<T> matrix = turned(a.data() + at, m, n);
    use.getrf(&m, &n, matrix.data(), &leading, pivots.data() + i * shape.least(), &info[static_cast<size_t>(i)]);
    BATON_OR_RETURN(done("getrf", info[static_cast<size_t>(i)]));
    turn_back(matrix, m, m, n, out.data() + at);
  }
  return {};
}

struct Triangle {
  char diag, side, trans, uplo;
};
template <typename T>
Status run_trsm(const Functions<T>& use, Matrices shape, Triangle triangle, std::span<const T> a, std::span<const T> b,
                std::span<T> out) {
  const int m = static_cast<int>(shape.rows), n = static_cast<int>(shape.columns), leading = at_least_one(m);
  const int side = triangle.side == 'L' ? m : n, a_leading = at_least_one(side);
  const T one = 1;
  for (int64_t i = 0; i < shape.batch; ++i) {
    const std::vector<T> factors = turned(a.data() + i * side * side, side, side);
    std::vector<T> matrix = turned(b.data() + i * m * n, m, n);
    use.trsm(&triangle.side, &triangle.uplo, &triangle.trans, &triangle.diag, &m, &n, &one, factors.data(), &a_leading,
             matrix.data(), &leading);
    turn_back(matrix, m, m, n, out.data() + i * m * n);
  }
  return {};
}

template <typename T>
Status run_geqrf(const Functions<T>& use, Matrices shape, std::span<const T> a, std::span<T> out, std::span<T> tau) {
  const int m = static_cast<int>(shape.rows), n = static_cast<int>(shape.columns), leading = at_least_one(m);
  int info = 0;
  for (int64_t i = 0; i < shape.batch; ++i) {
    std::vector<T> matrix = turned(a.data() + i * m * n, m, n);
    with_work<T>([&](T* work, int size) {
      use.geqrf(&m, &n, matrix.data(), &leading, tau.data() + i * shape.least(), work, &size, &info);
    });
    BATON_OR_RETURN(done("geqrf", info));
    turn_back(matrix, m, m, n, out.data() + i * m * n);
  }
  return {};
}

template <typename T>
Status run_orgqr(const Functions<T>& use, Matrices shape, int64_t reflectors, std::span<const T> a,
                 std::span<const T> tau, std::span<T> out) {
  const int m = static_cast<int>(shape.rows), n = static_cast<int>(shape.columns), leading = at_least_one(m);
  const int k = static_cast<int>(reflectors);
  int info = 0;
  for (int64_t i = 0; i < shape.batch; ++i) {
    std::vector<T> matrix = turned(a.data() + i * m * n, m, n);
    with_work<T>([&](T* work, int size) {
      use.orgqr(&m, &n, &k, matrix.data(), &leading, tau.data() + i * k, work, &size, &info);
    });
    BATON_OR_RETURN(done("orgqr", info));
    turn_back(matrix, m, m, n, out.data() + i * m * n);
  }
  return {};
}

template <typename T>
Status run_syevd(const Functions<T>& use, Matrices shape, char mode, char uplo, std::span<const T> a,
                 std::span<T> vectors, std::span<T> values, std::span<int32_t> infos) {
  const int n = static_cast<int>(shape.rows), leading = at_least_one(n);
  // At most so many integers are asked for by the routine.
  std::vector<int> integers(static_cast<size_t>(3 + 5 * shape.rows));
  const int integer_count = static_cast<int>(integers.size());
  for (int64_t i = 0; i < shape.batch; ++i) {
    std::vector<T> matrix = turned(a.data() + i * n * n, n, n);
    int& info = infos[static_cast<size_t>(i)];
    with_work<T>([&](T* work, int size) {
      const int integer_size = size < 0 ? -1 : integer_count;
      use.syevd(&mode, &uplo, &n, matrix.data(), &leading, values.data() + i * n, work, &size, integers.data(),
                &integer_size, &info);
    });
    BATON_OR_RETURN(done("syevd", info));
    turn_back(matrix, n, n, n, vectors.data() + i * n * n);
  }
  return {};
}

template <typename T>
struct Singular {
  std::span<T> a, s, u, vt;
  std::span<int32_t> info;
};
template <typename T>
Status run_gesdd(const Functions<T>& use, Matrices shape, char mode, std::span<const T> a, const Singular<T>& out) {
  const int m = static_cast<int>(shape.rows), n = static_cast<int>(shape.columns),
            least = static_cast<int>(shape.least());
  const int leading = at_least_one(m), u_columns = mode == 'A' ? m : least, vt_rows = mode == 'A' ? n : least;
  const int vt_leading = at_least_one(vt_rows);
  std::vector<int> integers(static_cast<size_t>(8 * at_least_one(least)));
  std::vector<T> u(static_cast<size_t>(int64_t{leading} * at_least_one(u_columns)));
  std::vector<T> vt(static_cast<size_t>(int64_t{vt_leading} * at_least_one(n)));
  for (int64_t i = 0; i < shape.batch; ++i) {
    std::vector<T> matrix = turned(a.data() + i * m * n, m, n);
    int& info = out.info[static_cast<size_t>(i)];
    with_work<T>([&](T* work, int size) {
      use.gesdd(&mode, &m, &n, matrix.data(), &leading, out.s.data() + i * least, u.data(), &leading, vt.data(),
                &vt_leading, work, &size, integers.data(), &info);
    });
    BATON_OR_RETURN(done("gesdd", info));
    turn_back(matrix, m, m, n, out.a.data() + i * m * n);
    if (mode == 'N') continue;
    turn_back(u, leading, m, u_columns, out.u.data() + int64_t{i} * m * u_columns);
    turn_back(vt, vt_leading, vt_rows, n, out.vt.data() + int64_t{i} * vt_rows * n);
  }
  return {};
}

// Arguments of a command: tensors, the sizes of its results (which the program states and this plugin ignores), then
// batch, rows and columns, then the routine's other arguments, letters as their codes; results last.
class Lapack final : public Module<Lapack> {
 public:
  explicit Lapack(const Parameters& parameters)
      : path_(parameters.find("library").value_or("")), report_("lapack", parameters) {}

  int32_t available(const Device& device) {
    if (device.driver() != "local") return 0;
    const Result<Library>& library = opened();
    if (!library.has_value()) report_.absent(library.error());
    return library.has_value() ? 1 : 0;
  }

  template <typename T>
  Status potrf(CommandBuffer& rec, Binding<const T> a, int64_t, int64_t, int64_t batch, int64_t m, int64_t n, int64_t,
               int64_t uplo_code, Binding<T> out, Binding<int32_t> info) {
    const Matrices shape{batch, m, n};
    BATON_ASSIGN_OR_RETURN(const Library* const library, begin("potrf", shape));
    BATON_ASSIGN_OR_RETURN(const char uplo, letter_of("uplo", uplo_code, "LU"));
    BATON_OR_RETURN(check_square("potrf", shape));
    const auto run = [library, shape, uplo](std::span<const T> a_, std::span<T> out_,
                                            std::span<int32_t> info_) -> Status {
      BATON_OR_RETURN(
          check_elements("A matrix", shape.batch, shape.rows, shape.columns, std::min(a_.size(), out_.size())));
      BATON_OR_RETURN(check_elements("info", shape.batch, 1, 1, info_.size()));
      return run_potrf(library->of<T>(), shape, uplo, a_, out_, info_);
    };
    return record_on_host(rec, "lapack.potrf", run, a, out, info);
  }

  template <typename T>
  Status getrf(CommandBuffer& rec, Binding<const T> a, int64_t, int64_t, int64_t, int64_t batch, int64_t m, int64_t n,
               int64_t, Binding<T> out, Binding<int32_t> pivots, Binding<int32_t> info) {
    const Matrices shape{batch, m, n};
    BATON_ASSIGN_OR_RETURN(const Library* const library, begin("getrf", shape));
    const auto run = [library, shape](std::span<const T> a_, std::span<T> out_, std::span<int32_t> pivots_,
                                      std::span<int32_t> info_) -> Status {
      BATON_OR_RETURN(
          check_elements("A matrix", shape.batch, shape.rows, shape.columns, std::min(a_.size(), out_.size())));
      BATON_OR_RETURN(check_elements("pivots", shape.batch, shape.least(), 1, pivots_.size()));
      BATON_OR_RETURN(check_elements("info", shape.batch, 1, 1, info_.size()));
      return run_getrf(library->of<T>(), shape, a_, out_, pivots_, info_);
    };
    return record_on_host(rec, "lapack.getrf", run, a, out, pivots, info);
  }

  template <typename T>
  Status trsm(CommandBuffer& rec, Binding<const T> a, Binding<const T> b, int64_t, int64_t batch, int64_t m, int64_t n,
              int64_t, int64_t diag, int64_t side, int64_t trans, int64_t uplo, Binding<T> out) {
    const Matrices shape{batch, m, n};
    BATON_ASSIGN_OR_RETURN(const Library* const library, begin("trsm", shape));
    Triangle triangle = {};
    BATON_ASSIGN_OR_RETURN(triangle.diag, letter_of("diag", diag, "NU"));
    BATON_ASSIGN_OR_RETURN(triangle.side, letter_of("side", side, "LR"));
    BATON_ASSIGN_OR_RETURN(triangle.trans, letter_of("trans_x", trans, "NTC"));
    BATON_ASSIGN_OR_RETURN(triangle.uplo, letter_of("uplo", uplo, "LU"));
    const auto run = [library, shape, triangle](std::span<const T> a_, std::span<const T> b_,
                                                std::span<T> out_) -> Status {
      const int64_t order = triangle.side == 'L' ? shape.rows : shape.columns;
      BATON_OR_RETURN(check_elements("A triangle", shape.batch, order, order, a_.size()));
      BATON_OR_RETURN(
          check_elements("A matrix", shape.batch, shape.rows, shape.columns, std::min(b_.size(), out_.size())));
      return run_trsm(library->of<T>(), shape, triangle, a_, b_, out_);
    };
    return record_on_host(rec, "lapack.trsm", run, a, b, out);
  }

  template <typename T>
  Status geqrf(CommandBuffer& rec, Binding<const T> a, int64_t, int64_t, int64_t batch, int64_t m, int64_t n, int64_t,
               Binding<T> out, Binding<T> tau) {
    const Matrices shape{batch, m, n};
    BATON_ASSIGN_OR_RETURN(const Library* const library, begin("geqrf", shape));
    const auto run = [library, shape](std::span<const T> a_, std::span<T> out_, std::span<T> tau_) -> Status {
      BATON_OR_RETURN(
          check_elements("A matrix", shape.batch, shape.rows, shape.columns, std::min(a_.size(), out_.size())));
      BATON_OR_RETURN(check_elements("tau", shape.batch, shape.least(), 1, tau_.size()));
      return run_geqrf(library->of<T>(), shape, a_, out_, tau_);
    };
    return record_on_host(rec, "lapack.geqrf", run, a, out, tau);
  }

  template <typename T>
  Status orgqr(CommandBuffer& rec, Binding<const T> a, Binding<const T> tau, int64_t, int64_t batch, int64_t m,
               int64_t n, int64_t k, Binding<T> out) {
    const Matrices shape{batch, m, n};
    BATON_ASSIGN_OR_RETURN(const Library* const library, begin("orgqr", shape));
    BATON_OR_RETURN(check_reflections("orgqr", shape, k));
    const auto run = [library, shape, k](std::span<const T> a_, std::span<const T> tau_, std::span<T> out_) -> Status {
      BATON_OR_RETURN(
          check_elements("A matrix", shape.batch, shape.rows, shape.columns, std::min(a_.size(), out_.size())));
      BATON_OR_RETURN(check_elements("tau", shape.batch, k, 1, tau_.size()));
      return run_orgqr(library->of<T>(), shape, k, a_, tau_, out_);
    };
    return record_on_host(rec, "lapack.orgqr", run, a, tau, out);
  }

  template <typename T>
  Status syevd(CommandBuffer& rec, Binding<const T> a, int64_t, int64_t, int64_t, int64_t batch, int64_t m, int64_t n,
               int64_t, int64_t mode_code, int64_t uplo_code, Binding<T> vectors, Binding<T> values,
               Binding<int32_t> info) {
    const Matrices shape{batch, m, n};
    BATON_ASSIGN_OR_RETURN(const Library* const library, begin("syevd", shape));
    BATON_ASSIGN_OR_RETURN(const char mode, letter_of("mode", mode_code, "NV"));
    BATON_ASSIGN_OR_RETURN(const char uplo, letter_of("uplo", uplo_code, "LU"));
    BATON_OR_RETURN(check_square("syevd", shape));
    const auto run = [library, shape, mode, uplo](std::span<const T> a_, std::span<T> vectors_, std::span<T> values_,
                                                  std::span<int32_t> info_) -> Status {
      BATON_OR_RETURN(
          check_elements("A matrix", shape.batch, shape.rows, shape.columns, std::min(a_.size(), vectors_.size())));
      BATON_OR_RETURN(check_elements("values", shape.batch, shape.rows, 1, values_.size()));
      BATON_OR_RETURN(check_elements("info", shape.batch, 1, 1, info_.size()));
      return run_syevd(library->of<T>(), shape, mode, uplo, a_, vectors_, values_, info_);
    };
    return record_on_host(rec, "lapack.syevd", run, a, vectors, values, info);
  }

  template <typename T>
  Status gesdd(CommandBuffer& rec, Binding<const T> a, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t batch,
               int64_t m, int64_t n, int64_t, int64_t mode_code, Binding<T> out, Binding<T> s, Binding<T> u,
               Binding<T> vt, Binding<int32_t> info) {
    const Matrices shape{batch, m, n};
    BATON_ASSIGN_OR_RETURN(const Library* const library, begin("gesdd", shape));
    BATON_ASSIGN_OR_RETURN(const char mode, letter_of("mode", mode_code, "ASN"));
    const auto run = [library, shape, mode](std::span<const T> a_, std::span<T> out_, std::span<T> s_, std::span<T> u_,
                                            std::span<T> vt_, std::span<int32_t> info_) -> Status {
      const int64_t least = shape.least();
      BATON_OR_RETURN(
          check_elements("A matrix", shape.batch, shape.rows, shape.columns, std::min(a_.size(), out_.size())));
      BATON_OR_RETURN(check_elements("values", shape.batch, least, 1, s_.size()));
      BATON_OR_RETURN(check_elements("info", shape.batch, 1, 1, info_.size()));
      if (mode != 'N') {
        BATON_OR_RETURN(check_elements("U", shape.batch, shape.rows, mode == 'A' ? shape.rows : least, u_.size()));
        BATON_OR_RETURN(
            check_elements("V", shape.batch, mode == 'A' ? shape.columns : least, shape.columns, vt_.size()));
      }
      return run_gesdd(library->of<T>(), shape, mode, a_, Singular<T>{out_, s_, u_, vt_, info_});
    };
    return record_on_host(rec, "lapack.gesdd", run, a, out, s, u, vt, info);
  }

 private:
  const Result<Library>& opened() {
    std::lock_guard lock(opening_);
    if (!library_) library_.emplace(Library::open(path_));
    return *library_;
  }
  Result<const Library*> begin(const char* routine, Matrices shape) {
    BATON_OR_RETURN(shape.check());
    const Result<Library>& library = opened();
    if (!library.has_value()) {
      return failure(StatusCode::kUnavailable, "LAPACK is needed for ", routine,
                     ", and is not here: ", library.error().message());
    }
    report_.recorded(std::string("lapack.") + routine);
    return &library.value();  // Stays where it is.
  }

  std::string path_;
  Report report_;
  std::mutex opening_;
  std::optional<Result<Library>> library_;
};

}  // namespace

// Of each routine one for floats and one for doubles.
#define ROUTINE(name)                                             \
  BATON_COMMAND("s" #name, (&Lapack::name<float>), kCaptureSafe), \
      BATON_COMMAND("d" #name, (&Lapack::name<double>), kCaptureSafe)
BATON_EXPORT_MODULE(Lapack, "lapack", BATON_FUNCTION("available", &Lapack::available), ROUTINE(potrf), ROUTINE(getrf),
                    ROUTINE(trsm), ROUTINE(geqrf), ROUTINE(orgqr), ROUTINE(syevd), ROUTINE(gesdd));
