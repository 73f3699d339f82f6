// The functions of cuSOLVER, and of cuBLAS for triangular solves, that the plugin calls: opened when a program runs, declared here, so
// that a build needs no toolkit. Numbers of the libraries' enumerations are the letters of LAPACK.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "modules/libraries/shared_library.hpp"

namespace baton::libraries {

// Of one element type.
template <typename T>
struct CusolverRoutines {
  using Handle = void*;
  int (*potrf_size)(Handle, int uplo, int n, T* a, int lda, int* size);
  int (*potrf)(Handle, int uplo, int n, T* a, int lda, T* work, int size, int* info);
  int (*getrf_size)(Handle, int m, int n, T* a, int lda, int* size);
  int (*getrf)(Handle, int m, int n, T* a, int lda, T* work, int* pivots, int* info);
  int (*geqrf_size)(Handle, int m, int n, T* a, int lda, int* size);
  int (*geqrf)(Handle, int m, int n, T* a, int lda, T* tau, T* work, int size, int* info);
  int (*orgqr_size)(Handle, int m, int n, int k, const T* a, int lda, const T* tau, int* size);
  int (*orgqr)(Handle, int m, int n, int k, T* a, int lda, const T* tau, T* work, int size, int* info);
  int (*gesvdj_size)(Handle, int mode, int thin, int m, int n, const T* a, int lda, const T* s, const T* u, int ldu,
                     const T* v, int ldv, int* size, void* how);
  int (*gesvdj)(Handle, int mode, int thin, int m, int n, T* a, int lda, T* s, T* u, int ldu, T* v, int ldv, T* work,
                int size, int* info, void* how);
  int (*trsm)(Handle, int side, int uplo, int trans, int diag, int m, int n, const T* factor, const T* a, int lda, T* b,
              int ldb);

  sdk::Status find(const SharedLibrary& solver, const SharedLibrary& blas, const std::string& letter) {
    const std::string begin = "cusolverDn" + letter;
    BATON_OR_RETURN(solver.find((begin + "potrf_bufferSize").c_str(), potrf_size));
    BATON_OR_RETURN(solver.find((begin + "potrf").c_str(), potrf));
    BATON_OR_RETURN(solver.find((begin + "getrf_bufferSize").c_str(), getrf_size));
    BATON_OR_RETURN(solver.find((begin + "getrf").c_str(), getrf));
    BATON_OR_RETURN(solver.find((begin + "geqrf_bufferSize").c_str(), geqrf_size));
    BATON_OR_RETURN(solver.find((begin + "geqrf").c_str(), geqrf));
    BATON_OR_RETURN(solver.find((begin + "orgqr_bufferSize").c_str(), orgqr_size));
    BATON_OR_RETURN(solver.find((begin + "orgqr").c_str(), orgqr));
    BATON_OR_RETURN(solver.find((begin + "gesvdj_bufferSize").c_str(), gesvdj_size));
    BATON_OR_RETURN(solver.find((begin + "gesvdj").c_str(), gesvdj));
    return blas.find(("cublas" + letter + "trsm_v2").c_str(), trsm);
  }
};

struct Cusolver {
  using Handle = void*;
  int (*create)(Handle*);
  int (*destroy)(Handle);
  int (*set_stream)(Handle, void* stream);
  int (*create_svd)(void** how);
  int (*destroy_svd)(void* how);
  // Of a batch, of all element types; since CUDA 12.6.
  int (*syev_size)(Handle, void* how, int mode, int uplo, int64_t n, int type, const void* a, int64_t lda,
                   int value_type, const void* values, int compute, size_t* size, size_t* host_size, int64_t batch);
  int (*syev)(Handle, void* how, int mode, int uplo, int64_t n, int type, void* a, int64_t lda, int value_type,
              void* values, int compute, void* work, size_t size, void* host_work, size_t host_size, int* info,
              int64_t batch);
  int (*create_blas)(Handle*);
  int (*destroy_blas)(Handle);
  int (*set_blas_stream)(Handle, void* stream);
  int (*set_blas_work)(Handle, void* work, size_t size);
  CusolverRoutines<float> singles;
  CusolverRoutines<double> doubles;

  template <typename T>
  const CusolverRoutines<T>& of() const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return singles;
    } else {
      return doubles;
    }
  }

  static sdk::Result<Cusolver> open(const std::string& path, const std::string& blas_path) {
    BATON_ASSIGN_OR_RETURN(const SharedLibrary blas, blas_path.empty()
                                                         ? SharedLibrary::open({"libcublas.so.13", "libcublas.so.12",
                                                                                "/usr/local/cuda/lib64/libcublas.so"})
                                                         : SharedLibrary::open({blas_path}));
    BATON_ASSIGN_OR_RETURN(const SharedLibrary solver,
                           path.empty() ? SharedLibrary::open({"libcusolver.so.12", "libcusolver.so.11",
                                                               "/usr/local/cuda/lib64/libcusolver.so"})
                                        : SharedLibrary::open({path}));
    Cusolver all = {};
    BATON_OR_RETURN(solver.find("cusolverDnCreate", all.create));
    BATON_OR_RETURN(solver.find("cusolverDnDestroy", all.destroy));
    BATON_OR_RETURN(solver.find("cusolverDnSetStream", all.set_stream));
    BATON_OR_RETURN(solver.find("cusolverDnCreateGesvdjInfo", all.create_svd));
    BATON_OR_RETURN(solver.find("cusolverDnDestroyGesvdjInfo", all.destroy_svd));
    BATON_OR_RETURN(solver.find("cusolverDnXsyevBatched_bufferSize", all.syev_size));
    BATON_OR_RETURN(solver.find("cusolverDnXsyevBatched", all.syev));
    BATON_OR_RETURN(blas.find("cublasCreate_v2", all.create_blas));
    BATON_OR_RETURN(blas.find("cublasDestroy_v2", all.destroy_blas));
    BATON_OR_RETURN(blas.find("cublasSetStream_v2", all.set_blas_stream));
    BATON_OR_RETURN(blas.find("cublasSetWorkspace_v2", all.set_blas_work));
    BATON_OR_RETURN(all.singles.find(solver, blas, "S"));
    BATON_OR_RETURN(all.doubles.find(solver, blas, "D"));
    return all;
  }
};

}  // namespace baton::libraries
