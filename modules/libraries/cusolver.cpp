// Factorizations by cuSOLVER, on the device: Cholesky, LU, QR, triangular solves, eigenvalues and singular values of real
// matrices. Matrices are held column by column, as the library holds them: a program turns its own where that matters.
// A command asks how much memory it works in when it is recorded; what it enqueues neither allocates nor waits, but for
// singular values, which are looked at on the host while they converge, and eigenvalues of large matrices (kNotCaptured).
#include "modules/libraries/cusolver.hpp"

#include <memory>
#include <mutex>
#include <vector>

#include "modules/libraries/cuda_library.hpp"
#include "modules/libraries/factorization.hpp"
#include "modules/libraries/report.hpp"

namespace {

using namespace baton::sdk;
using namespace baton::libraries;

// Numbers of the libraries for letters of LAPACK.
int upper(char uplo) { return uplo == 'U' ? 1 : 0; }
int right(char side) { return side == 'R' ? 1 : 0; }
int transposed(char trans) { return trans == 'N' ? 0 : 1; }
int unit(char diag) { return diag == 'U' ? 1 : 0; }

// Handles of both libraries, which work on one stream at a time. Threads: internally synchronized.
class Solver {
 public:
  static Result<std::unique_ptr<Solver>> make(const Cusolver& use, void* context) {
    auto made = std::make_unique<Solver>(use, context);
    const CurrentContext current(context);
    BATON_OR_RETURN(status_of_call("cusolverDnCreate", use.create(&made->handle_)));
    BATON_OR_RETURN(status_of_call("cusolverDnCreateGesvdjInfo", use.create_svd(&made->svd_)));
    BATON_OR_RETURN(status_of_call("cublasCreate", use.create_blas(&made->blas_)));
    return made;
  }
  Solver(const Cusolver& use, void* context) : use_(use), context_(context) {}
  Solver(const Solver&) = delete;
  ~Solver() {
    const CurrentContext current(context_);
    if (blas_) use_.destroy_blas(blas_);
    if (svd_) use_.destroy_svd(svd_);
    if (handle_) use_.destroy(handle_);
  }

  const Cusolver& use() const { return use_; }
  void* context() const { return context_; }
  void* svd() const { return svd_; }
  // For questions, which need no stream.
  void* handle() const { return handle_; }

  // `enqueue` gets the handle of cuSOLVER, on the stream of `here`.
  template <typename Enqueue>
  Status on_stream(const Foreign& here, const Enqueue& enqueue) {
    BATON_ASSIGN_OR_RETURN(const baton_cuda_stream at, here.cuda().stream());
    std::lock_guard lock(mutex_);
    BATON_OR_RETURN(status_of_call("cusolverDnSetStream", use_.set_stream(handle_, at.stream)));
    return enqueue(handle_);
  }
  // That of cuBLAS, which works in `work`.
  template <typename Enqueue>
  Status on_blas_stream(const Foreign& here, DeviceSpan<std::byte> work, const Enqueue& enqueue) {
    BATON_ASSIGN_OR_RETURN(const baton_cuda_stream at, here.cuda().stream());
    std::lock_guard lock(mutex_);
    BATON_OR_RETURN(status_of_call("cublasSetStream", use_.set_blas_stream(blas_, at.stream)));
    BATON_OR_RETURN(status_of_call("cublasSetWorkspace", use_.set_blas_work(blas_, work.data(), work.size())));
    return enqueue(blas_);
  }

 private:
  const Cusolver use_;
  void* const context_;
  Cusolver::Handle handle_ = nullptr, blas_ = nullptr;
  void* svd_ = nullptr;
  std::mutex mutex_;
};

// Solvers of one device that no recording holds. What a solver works in besides what it is given is its own, so that each command
// that is recorded has one. Threads: internally synchronized.
class Solvers : public std::enable_shared_from_this<Solvers> {
 public:
  Solvers(const Cusolver& use, void* context) : use_(use), context_(context) {}

  Result<std::shared_ptr<Solver>> take() {
    std::unique_ptr<Solver> taken;
    {
      std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        taken = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (!taken) {
      BATON_ASSIGN_OR_RETURN(taken, Solver::make(use_, context_));
    }
    return std::shared_ptr<Solver>(taken.release(), [all = shared_from_this()](Solver* given) {
      std::lock_guard lock(all->mutex_);
      all->free_.emplace_back(given);
    });
  }

 private:
  const Cusolver use_;
  void* const context_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Solver>> free_;
};

// What a command needs to be recorded: none on a device that runs nothing.
struct Recorder {
  CommandBuffer& rec;
  std::string name;
  std::shared_ptr<Solver> solver;

  // Memory to work in.
  template <typename T>
  Result<Ref<Buffer>> work(uint64_t elements) const {
    return allocate_workspace(rec.device(), elements * sizeof(T));
  }
  // The library works in place.
  template <typename T>
  Status copy(Binding<const T> from, Binding<T> to) const {
    BATON_OR_RETURN(rec.copy_buffer(from, to));
    return rec.barrier();
  }
  template <typename Enqueue, typename... T>
  Status foreign(const Enqueue& enqueue, const Binding<T>&... bindings) const {
    if (!solver)
      return rec.foreign(
          name, [](Foreign&, auto...) { return Status(); }, bindings...);  // Shows it.
    return rec.foreign(name, enqueue, bindings...);
  }
};

// Enqueues one call for each matrix.
template <typename Call>
Status for_each(const char* name, int64_t batch, const Call& call) {
  for (int64_t i = 0; i < batch; ++i) BATON_OR_RETURN(status_of_call(name, call(i)));
  return {};
}

class CusolverModule final : public Module<CusolverModule> {
 public:
  explicit CusolverModule(const Parameters& parameters)
      : report_("cusolver", parameters),
        library_("cuSOLVER", {std::string(parameters.find("library").value_or("")),
                              std::string(parameters.find("blas").value_or(""))}) {}

  int32_t available(const Device& device) { return library_.available(device, report_); }

  Status prepare(Device& device) {
    std::shared_ptr<Solvers> solvers;
    if (device.driver() == Cuda::kDriver) {
      BATON_ASSIGN_OR_RETURN(const Cusolver library, library_.needed());
      BATON_ASSIGN_OR_RETURN(const int64_t context, device.query("cuda", "context"));
      solvers = std::make_shared<Solvers>(library, reinterpret_cast<void*>(context));
    } else if (device.driver() != "null") {
      return failure(StatusCode::kUnimplemented, "cuSOLVER works on CUDA devices, and '", device.name(),
                     "' is none; the plugin 'lapack' is for processors.");
    }
    devices_.add(device, std::move(solvers));
    return {};
  }

  // Commands: tensors, the sizes of the results (which the program states and this plugin ignores), numbers, results.

  template <typename T>
  Status potrf(CommandBuffer& rec, Binding<const T> a, int64_t, int64_t, int64_t batch, int64_t n, int64_t uplo_code,
               Binding<T> out, Binding<int32_t> info) {
    const Matrices all{batch, n, n};
    BATON_ASSIGN_OR_RETURN(const Recorder at, begin(rec, "potrf", all));
    BATON_ASSIGN_OR_RETURN(const char uplo, letter_of("uplo", uplo_code, "LU"));
    if (all.empty()) return rec.fill_buffer(info, 0);
    BATON_OR_RETURN(at.copy(a, out));
    const int order = static_cast<int>(n);
    BATON_ASSIGN_OR_RETURN(const int size, asked<T>(at, "potrf_bufferSize", [&](const auto& use, auto handle, int* to) {
                             return use.potrf_size(handle, upper(uplo), order, nullptr, order, to);
                           }));
    BATON_ASSIGN_OR_RETURN(const Ref<Buffer> work, at.work<T>(static_cast<uint64_t>(size)));
    const auto enqueue = [solver = at.solver, all, order, uplo, size](Foreign& here, DeviceSpan<T> out_,
                                                                      DeviceSpan<int32_t> info_,
                                                                      DeviceSpan<T> work_) -> Status {
      BATON_OR_RETURN(check_elements("A matrix", all.batch, all.rows, all.columns, out_.size()));
      BATON_OR_RETURN(check_elements("info", all.batch, 1, 1, info_.size()));
      return solver->on_stream(here, [&](auto handle) {
        return for_each("cusolverDnpotrf", all.batch, [&](int64_t i) {
          return solver->use().of<T>().potrf(handle, upper(uplo), order, out_.data() + i * all.rows * all.rows, order,
                                             work_.data(), size, info_.data() + i);
        });
      });
    };
    return at.foreign(enqueue, out, info, Binding<T>(*work));
  }

  template <typename T>
  Status getrf(CommandBuffer& rec, Binding<const T> a, int64_t, int64_t, int64_t, int64_t batch, int64_t m, int64_t n,
               Binding<T> out, Binding<int32_t> pivots, Binding<int32_t> info) {
    const Matrices all{batch, m, n};
    BATON_ASSIGN_OR_RETURN(const Recorder at, begin(rec, "getrf", all));
    if (all.empty()) return rec.fill_buffer(info, 0);
    BATON_OR_RETURN(at.copy(a, out));
    const int rows = static_cast<int>(m), columns = static_cast<int>(n);
    BATON_ASSIGN_OR_RETURN(const int size, asked<T>(at, "getrf_bufferSize", [&](const auto& use, auto handle, int* to) {
                             return use.getrf_size(handle, rows, columns, nullptr, rows, to);
                           }));
    BATON_ASSIGN_OR_RETURN(const Ref<Buffer> work, at.work<T>(static_cast<uint64_t>(size)));
    const auto enqueue = [solver = at.solver, all, rows, columns](
                             Foreign& here, DeviceSpan<T> out_, DeviceSpan<int32_t> pivots_, DeviceSpan<int32_t> info_,
                             DeviceSpan<T> work_) -> Status {
      BATON_OR_RETURN(check_elements("A matrix", all.batch, all.rows, all.columns, out_.size()));
      BATON_OR_RETURN(check_elements("pivots", all.batch, all.least(), 1, pivots_.size()));
      BATON_OR_RETURN(check_elements("info", all.batch, 1, 1, info_.size()));
      return solver->on_stream(here, [&](auto handle) {
        return for_each("cusolverDngetrf", all.batch, [&](int64_t i) {
          return solver->use().of<T>().getrf(handle, rows, columns, out_.data() + i * all.rows * all.columns, rows,
                                             work_.data(), pivots_.data() + i * all.least(), info_.data() + i);
        });
      });
    };
    return at.foreign(enqueue, out, pivots, info, Binding<T>(*work));
  }

  template <typename T>
  Status trsm(CommandBuffer& rec, Binding<const T> a, Binding<const T> b, int64_t, int64_t batch, int64_t m, int64_t n,
              int64_t diag_code, int64_t side_code, int64_t trans_code, int64_t uplo_code, Binding<T> out) {
    const Matrices all{batch, m, n};
    BATON_ASSIGN_OR_RETURN(const Recorder at, begin(rec, "trsm", all));
    BATON_ASSIGN_OR_RETURN(const char diag, letter_of("diag", diag_code, "NU"));
    BATON_ASSIGN_OR_RETURN(const char side, letter_of("side", side_code, "LR"));
    BATON_ASSIGN_OR_RETURN(const char trans, letter_of("trans", trans_code, "NTC"));
    BATON_ASSIGN_OR_RETURN(const char uplo, letter_of("uplo", uplo_code, "LU"));
    if (all.empty()) return {};
    BATON_OR_RETURN(at.copy(b, out));
    constexpr uint64_t kWorkBytes = uint64_t{4} << 20;  // What cuBLAS wants for itself.
    BATON_ASSIGN_OR_RETURN(const Ref<Buffer> work, at.work<std::byte>(kWorkBytes));
    const auto enqueue = [solver = at.solver, all, diag, side, trans, uplo](Foreign& here, DeviceSpan<const T> a_,
                                                                            DeviceSpan<T> out_,
                                                                            DeviceSpan<std::byte> work_) -> Status {
      const int64_t order = side == 'L' ? all.rows : all.columns;
      BATON_OR_RETURN(check_elements("A triangle", all.batch, order, order, a_.size()));
      BATON_OR_RETURN(check_elements("A matrix", all.batch, all.rows, all.columns, out_.size()));
      const int rows = static_cast<int>(all.rows), columns = static_cast<int>(all.columns);
      const T one = 1;
      return solver->on_blas_stream(here, work_, [&](auto handle) {
        return for_each("cublastrsm", all.batch, [&](int64_t i) {
          return solver->use().of<T>().trsm(handle, right(side), upper(uplo), transposed(trans), unit(diag), rows,
                                            columns, &one, a_.data() + i * order * order, static_cast<int>(order),
                                            out_.data() + i * all.rows * all.columns, rows);
        });
      });
    };
    return at.foreign(enqueue, a, out, Binding<std::byte>(*work));
  }

  template <typename T>
  Status geqrf(CommandBuffer& rec, Binding<const T> a, int64_t, int64_t, int64_t batch, int64_t m, int64_t n,
               Binding<T> out, Binding<T> tau) {
    const Matrices all{batch, m, n};
    BATON_ASSIGN_OR_RETURN(const Recorder at, begin(rec, "geqrf", all));
    if (all.empty()) return {};
    BATON_OR_RETURN(at.copy(a, out));
    const int rows = static_cast<int>(m), columns = static_cast<int>(n);
    BATON_ASSIGN_OR_RETURN(const int size, asked<T>(at, "geqrf_bufferSize", [&](const auto& use, auto handle, int* to) {
                             return use.geqrf_size(handle, rows, columns, nullptr, rows, to);
                           }));
    BATON_ASSIGN_OR_RETURN(const Ref<Buffer> work, at.work<T>(static_cast<uint64_t>(size)));
    BATON_ASSIGN_OR_RETURN(const Ref<Buffer> info, at.work<int32_t>(1));
    const auto enqueue = [solver = at.solver, all, rows, columns, size](Foreign& here, DeviceSpan<T> out_,
                                                                        DeviceSpan<T> tau_, DeviceSpan<T> work_,
                                                                        DeviceSpan<int32_t> info_) -> Status {
      BATON_OR_RETURN(check_elements("A matrix", all.batch, all.rows, all.columns, out_.size()));
      BATON_OR_RETURN(check_elements("tau", all.batch, all.least(), 1, tau_.size()));
      return solver->on_stream(here, [&](auto handle) {
        return for_each("cusolverDngeqrf", all.batch, [&](int64_t i) {
          return solver->use().of<T>().geqrf(handle, rows, columns, out_.data() + i * all.rows * all.columns, rows,
                                             tau_.data() + i * all.least(), work_.data(), size, info_.data());
        });
      });
    };
    return at.foreign(enqueue, out, tau, Binding<T>(*work), Binding<int32_t>(*info));
  }

  template <typename T>
  Status orgqr(CommandBuffer& rec, Binding<const T> a, Binding<const T> tau, int64_t, int64_t batch, int64_t m,
               int64_t n, int64_t count, Binding<T> out) {
    const Matrices all{batch, m, n};
    BATON_ASSIGN_OR_RETURN(const Recorder at, begin(rec, "orgqr", all));
    BATON_OR_RETURN(check_reflections("orgqr", all, count));
    if (all.empty()) return {};
    BATON_OR_RETURN(at.copy(a, out));
    const int rows = static_cast<int>(m), columns = static_cast<int>(n), reflections = static_cast<int>(count);
    BATON_ASSIGN_OR_RETURN(const int size, asked<T>(at, "orgqr_bufferSize", [&](const auto& use, auto handle, int* to) {
                             return use.orgqr_size(handle, rows, columns, reflections, nullptr, rows, nullptr, to);
                           }));
    BATON_ASSIGN_OR_RETURN(const Ref<Buffer> work, at.work<T>(static_cast<uint64_t>(size)));
    BATON_ASSIGN_OR_RETURN(const Ref<Buffer> info, at.work<int32_t>(1));
    const auto enqueue = [solver = at.solver, all, rows, columns, reflections, size](
                             Foreign& here, DeviceSpan<const T> tau_, DeviceSpan<T> out_, DeviceSpan<T> work_,
                             DeviceSpan<int32_t> info_) -> Status {
      BATON_OR_RETURN(check_elements("A matrix", all.batch, all.rows, all.columns, out_.size()));
      BATON_OR_RETURN(check_elements("tau", all.batch, reflections, 1, tau_.size()));
      return solver->on_stream(here, [&](auto handle) {
        return for_each("cusolverDnorgqr", all.batch, [&](int64_t i) {
          return solver->use().of<T>().orgqr(handle, rows, columns, reflections,
                                             out_.data() + i * all.rows * all.columns, rows,
                                             tau_.data() + i * reflections, work_.data(), size, info_.data());
        });
      });
    };
    return at.foreign(enqueue, tau, out, Binding<T>(*work), Binding<int32_t>(*info));
  }

  template <typename T>
  Status syevd(CommandBuffer& rec, Binding<const T> a, int64_t, int64_t, int64_t, int64_t batch, int64_t n,
               int64_t mode_code, int64_t uplo_code, Binding<T> vectors, Binding<T> values, Binding<int32_t> info) {
    const Matrices all{batch, n, n};
    BATON_ASSIGN_OR_RETURN(const Recorder at, begin(rec, "syevd", all));
    BATON_ASSIGN_OR_RETURN(const char mode, letter_of("mode", mode_code, "NV"));
    BATON_ASSIGN_OR_RETURN(const char uplo, letter_of("uplo", uplo_code, "LU"));
    if (all.empty()) return rec.fill_buffer(info, 0);
    BATON_OR_RETURN(at.copy(a, vectors));
    constexpr int kType = sizeof(T) == sizeof(float) ? 0 : 1;  // CUDA_R_32F, CUDA_R_64F.
    const int with_vectors = mode == 'V' ? 1 : 0;
    size_t size = 0, host_size = 0;
    if (at.solver) {
      const CurrentContext current(at.solver->context());
      BATON_OR_RETURN(
          status_of_call("cusolverDnXsyevBatched_bufferSize",
                         at.solver->use().syev_size(at.solver->handle(), nullptr, with_vectors, upper(uplo), n, kType,
                                                    nullptr, n, kType, nullptr, kType, &size, &host_size, batch)));
    }
    BATON_ASSIGN_OR_RETURN(const Ref<Buffer> work, at.work<std::byte>(size));
    const auto host_work = std::make_shared<std::vector<std::byte>>(host_size);
    const auto enqueue = [solver = at.solver, all, with_vectors, uplo, host_work](
                             Foreign& here, DeviceSpan<T> vectors_, DeviceSpan<T> values_, DeviceSpan<int32_t> info_,
                             DeviceSpan<std::byte> work_) -> Status {
      BATON_OR_RETURN(check_elements("A matrix", all.batch, all.rows, all.columns, vectors_.size()));
      BATON_OR_RETURN(check_elements("values", all.batch, all.rows, 1, values_.size()));
      BATON_OR_RETURN(check_elements("info", all.batch, 1, 1, info_.size()));
      return solver->on_stream(here, [&](auto handle) {
        return status_of_call(
            "cusolverDnXsyevBatched",
            solver->use().syev(handle, nullptr, with_vectors, upper(uplo), all.rows, kType, vectors_.data(), all.rows,
                               kType, values_.data(), kType, work_.data(), work_.size(), host_work->data(),
                               host_work->size(), info_.data(), all.batch));
      });
    };
    return at.foreign(enqueue, vectors, values, info, Binding<std::byte>(*work));
  }

  // V is not transposed.
  template <typename T>
  Status gesvdj(CommandBuffer& rec, Binding<const T> a, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t batch,
                int64_t m, int64_t n, int64_t mode_code, Binding<T> out, Binding<T> s, Binding<T> u, Binding<T> v,
                Binding<int32_t> info) {
    const Matrices all{batch, m, n};
    BATON_ASSIGN_OR_RETURN(const Recorder at, begin(rec, "gesvdj", all));
    BATON_ASSIGN_OR_RETURN(const char mode, letter_of("mode", mode_code, "ASN"));
    if (all.empty()) return rec.fill_buffer(info, 0);
    BATON_OR_RETURN(at.copy(a, out));
    const int rows = static_cast<int>(m), columns = static_cast<int>(n);
    const int with_vectors = mode == 'N' ? 0 : 1, thin = mode == 'S' ? 1 : 0;
    BATON_ASSIGN_OR_RETURN(const int size,
                           asked<T>(at, "gesvdj_bufferSize", [&](const auto& use, auto handle, int* to) {
                             return use.gesvdj_size(handle, with_vectors, thin, rows, columns, nullptr, rows, nullptr,
                                                    nullptr, rows, nullptr, columns, to, at.solver->svd());
                           }));
    BATON_ASSIGN_OR_RETURN(const Ref<Buffer> work, at.work<T>(static_cast<uint64_t>(size)));
    const auto enqueue = [solver = at.solver, all, rows, columns, with_vectors, thin, size](
                             Foreign& here, DeviceSpan<T> a_, DeviceSpan<T> s_, DeviceSpan<T> u_, DeviceSpan<T> v_,
                             DeviceSpan<int32_t> info_, DeviceSpan<T> work_) -> Status {
      const int64_t least = all.least(), u_columns = thin ? least : all.rows, v_columns = thin ? least : all.columns;
      BATON_OR_RETURN(check_elements("A matrix", all.batch, all.rows, all.columns, a_.size()));
      BATON_OR_RETURN(check_elements("values", all.batch, least, 1, s_.size()));
      BATON_OR_RETURN(check_elements("info", all.batch, 1, 1, info_.size()));
      if (with_vectors) {
        BATON_OR_RETURN(check_elements("U", all.batch, all.rows, u_columns, u_.size()));
        BATON_OR_RETURN(check_elements("V", all.batch, all.columns, v_columns, v_.size()));
      }
      return solver->on_stream(here, [&](auto handle) {
        return for_each("cusolverDngesvdj", all.batch, [&](int64_t i) {
          const int64_t at_u = with_vectors ? i * all.rows * u_columns : 0,
                        at_v = with_vectors ? i * all.columns * v_columns : 0;
          return solver->use().of<T>().gesvdj(handle, with_vectors, thin, rows, columns,
                                              a_.data() + i * all.rows * all.columns, rows, s_.data() + i * least,
                                              u_.data() + at_u, rows, v_.data() + at_v, columns, work_.data(), size,
                                              info_.data() + i, solver->svd());
        });
      });
    };
    return at.foreign(enqueue, out, s, u, v, info, Binding<T>(*work));
  }

 private:
  Result<Recorder> begin(CommandBuffer& rec, const char* routine, const Matrices& all) {
    BATON_OR_RETURN(all.check());
    Recorder at{rec, std::string("cusolver.") + routine, nullptr};
    if (const std::shared_ptr<Solvers>& solvers = devices_[rec.device()]) {
      BATON_ASSIGN_OR_RETURN(at.solver, solvers->take());
      report_.recorded(at.name);
    }
    return at;
  }

  // How much memory a routine works in.
  template <typename T, typename Ask>
  static Result<int> asked(const Recorder& at, const char* call, const Ask& ask) {
    int size = 0;
    if (!at.solver) return size;
    const CurrentContext current(at.solver->context());
    BATON_OR_RETURN(status_of_call(call, ask(at.solver->use().template of<T>(), at.solver->handle(), &size)));
    return size;
  }

  Report report_;
  CudaLibrary<Cusolver, 2> library_;
  PerDevice<std::shared_ptr<Solvers>> devices_;  // Null where nothing runs.
};

}  // namespace

// Of each routine one for floats and one for doubles.
#define COMMANDS(name, routine, traits)                               \
  BATON_COMMAND("s" name, (&CusolverModule::routine<float>), traits), \
      BATON_COMMAND("d" name, (&CusolverModule::routine<double>), traits)
BATON_EXPORT_MODULE(CusolverModule, "cusolver", BATON_FUNCTION("available", &CusolverModule::available),
                    COMMANDS("potrf", potrf, kCaptureSafe), COMMANDS("getrf", getrf, kCaptureSafe),
                    COMMANDS("trsm", trsm, kCaptureSafe), COMMANDS("geqrf", geqrf, kCaptureSafe),
                    COMMANDS("orgqr", orgqr, kCaptureSafe), COMMANDS("syevd", syevd, kCaptureSafe),
                    COMMANDS("syevd_large", syevd, kNotCaptured), COMMANDS("gesvdj", gesvdj, kNotCaptured));
