// cuBLASLt, opened at run time. The declarations and numbers are those of cublasLt.h and library_types.h; handles are void*.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "modules/libraries/shared_library.hpp"

namespace baton::libraries {

struct CublasLt {
  using Handle = void*;
  using Description = void*;  // Of a product, a matrix or a preference.

  enum Type : int { kF32 = 0, kF64 = 1, kF16 = 2, kBf16 = 14 };
  enum Compute : int { kCompute32 = 68, kCompute64 = 70, kComputeTf32 = 77 };
  enum ProductAttribute : int { kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBiasPointer = 8 };
  enum MatrixAttribute : int { kBatchCount = 5, kBatchStride = 6 };
  enum PreferenceAttribute : int { kWorkspaceMax = 1, kAlignmentA = 5, kAlignmentB, kAlignmentC, kAlignmentD };
  enum Epilogue : uint32_t { kNothing = 1, kRelu = 2, kBias = 4, kGelu = 32 };  // A bias goes with both others.

  struct Algorithm {
    uint64_t data[8];
  };
  struct Heuristic {
    Algorithm algorithm;
    size_t workspace_bytes;
    int state;
    float waves;
    int reserved[4];
  };

  int (*create)(Handle* handle);
  int (*destroy)(Handle handle);
  int (*product_create)(Description* made, int compute, int scale_type);
  int (*product_destroy)(Description made);
  int (*product_set)(Description of, int attribute, const void* value, size_t bytes);
  int (*matrix_create)(Description* made, int type, uint64_t rows, uint64_t columns, int64_t leading);
  int (*matrix_destroy)(Description made);
  int (*matrix_set)(Description of, int attribute, const void* value, size_t bytes);
  int (*preference_create)(Description* made);
  int (*preference_destroy)(Description made);
  int (*preference_set)(Description of, int attribute, const void* value, size_t bytes);
  int (*find_algorithm)(Handle handle, Description product, Description a, Description b, Description c, Description d,
                        Description preference, int wanted, Heuristic* found, int* count);
  int (*multiply)(Handle handle, Description product, const void* alpha, const void* a, Description a_is, const void* b,
                  Description b_is, const void* beta, const void* c, Description c_is, void* d, Description d_is,
                  const Algorithm* algorithm, void* workspace, size_t workspace_bytes, void* stream);

  static sdk::Result<CublasLt> open(const std::string& path) {
    BATON_ASSIGN_OR_RETURN(const SharedLibrary library,
                           path.empty()
                               ? SharedLibrary::open({"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so",
                                                      "/usr/local/cuda/lib64/libcublasLt.so"})
                               : SharedLibrary::open({path}));
    CublasLt all = {};
    BATON_OR_RETURN(library.find("cublasLtCreate", all.create));
    BATON_OR_RETURN(library.find("cublasLtDestroy", all.destroy));
    BATON_OR_RETURN(library.find("cublasLtMatmulDescCreate", all.product_create));
    BATON_OR_RETURN(library.find("cublasLtMatmulDescDestroy", all.product_destroy));
    BATON_OR_RETURN(library.find("cublasLtMatmulDescSetAttribute", all.product_set));
    BATON_OR_RETURN(library.find("cublasLtMatrixLayoutCreate", all.matrix_create));
    BATON_OR_RETURN(library.find("cublasLtMatrixLayoutDestroy", all.matrix_destroy));
    BATON_OR_RETURN(library.find("cublasLtMatrixLayoutSetAttribute", all.matrix_set));
    BATON_OR_RETURN(library.find("cublasLtMatmulPreferenceCreate", all.preference_create));
    BATON_OR_RETURN(library.find("cublasLtMatmulPreferenceDestroy", all.preference_destroy));
    BATON_OR_RETURN(library.find("cublasLtMatmulPreferenceSetAttribute", all.preference_set));
    BATON_OR_RETURN(library.find("cublasLtMatmulAlgoGetHeuristic", all.find_algorithm));
    BATON_OR_RETURN(library.find("cublasLtMatmul", all.multiply));
    return all;
  }
};

}  // namespace baton::libraries
