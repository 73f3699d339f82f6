#include "hal/drivers/cuda/nccl.hpp"

#include <dirent.h>
#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace baton::hal::drivers::cuda {
namespace {

constexpr int kVersionMin = 21800;

constexpr int kNoType = -1;

std::string version_name(int version) { return text(version / 10000, ".", version / 100 % 100, ".", version % 100); }

// NVIDIA's wheel in a Python environment.
std::string wheel_path(const char* variable) {
  const char* environment = std::getenv(variable);
  if (!environment) return "";
  const std::string libraries = text(environment, "/lib");
  std::string found;
  if (DIR* listing = opendir(libraries.c_str())) {
    while (const dirent* entry = readdir(listing)) {
      const std::string_view name = entry->d_name;
      if (name.substr(0, 6) != "python") continue;
      found = text(libraries, "/", name, "/site-packages/nvidia/nccl/lib/libnccl.so.2");
    }
    closedir(listing);
  }
  return found;
}

void* open_library(std::string& path) {
  if (const char* told = std::getenv("BATON_NCCL")) {
    path = told;
    return dlopen(told, RTLD_NOW | RTLD_LOCAL);
  }
  path = "libnccl.so.2";
  if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string wheel = wheel_path(variable);
    void* library = wheel.empty() ? nullptr : dlopen(wheel.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
  }
  return nullptr;
}

int integer_type(ElementType type) {
  const bool is_unsigned = element_class(type) == ElementClass::kUnsigned;
  switch (element_bytes(type)) {
    case 1: return is_unsigned ? kNcclUint8 : kNcclInt8;
    case 4: return is_unsigned ? kNcclUint32 : kNcclInt32;
    case 8: return is_unsigned ? kNcclUint64 : kNcclInt64;
    default: return kNoType;
  }
}

int number_type(ElementType type) {
  switch (type) {
    case ElementType::kF16: return kNcclFloat16;
    case ElementType::kBF16: return kNcclBfloat16;
    case ElementType::kF32: return kNcclFloat32;
    case ElementType::kF64: return kNcclFloat64;
    default: return integer_type(type);
  }
}

int reduction_number(Reduction reduction) {
  switch (reduction) {
    case Reduction::kProduct: return kNcclProduct;
    case Reduction::kMinimum: return kNcclMinimum;
    case Reduction::kMaximum: return kNcclMaximum;
    case Reduction::kAverage: return kNcclAverage;
    default: return kNcclSum;
  }
}

}  // namespace

Status Nccl::status_of(int result, const char* call, NcclComm comm) const {
  if (result == 0) return {};
  const char* detail = ncclGetLastError ? ncclGetLastError(comm) : nullptr;
  return failure(StatusCode::kUnavailable, call, " failed: ", ncclGetErrorString(result), " (", result, ")",
                 detail && *detail ? ", " : "", detail ? detail : "", ".");
}

Result<std::shared_ptr<const Nccl>> load_nccl() {
  std::string path;
  void* library = open_library(path);  // Stays open: it has threads of its own.
  if (!library) {
    return failure(StatusCode::kUnavailable, "No NCCL: '", path, "' cannot be opened (", dlerror(),
                   "). Several CUDA devices need it; BATON_NCCL names the library.");
  }
  auto nccl = std::make_shared<Nccl>();
  std::string_view missing;
  const auto find = [&](const char* name, auto& entry) {
    entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(dlsym(library, name));
    if (!entry && missing.empty()) missing = name;
  };
#define NCCL(name, parameters) find(#name, nccl->name);
#include "hal/drivers/cuda/nccl.inc"
#undef NCCL
  find("ncclGetErrorString", nccl->ncclGetErrorString);
  if (!missing.empty()) return failure(StatusCode::kUnavailable, "'", path, "' is no NCCL: it has no '", missing, "'.");
  nccl->ncclGetLastError =
      reinterpret_cast<decltype(nccl->ncclGetLastError)>(dlsym(library, "ncclGetLastError"));  // May be missing.
  int version = 0;
  BATON_TRY(nccl->status_of(nccl->ncclGetVersion(&version), "ncclGetVersion"));
  if (version >= kVersionMin) return std::shared_ptr<const Nccl>(std::move(nccl));
  return failure(StatusCode::kUnavailable, "NCCL ", version_name(version), " ('", path, "') is older than ",
                 version_name(kVersionMin), ".");
}

Result<NcclType> nccl_type(CollectiveOperation operation, Reduction reduction, ElementType type) {
  if (!reduces(operation)) return NcclType{kNcclInt8, 0, 1};
  // Zeros and ones: "or" and "and".
  if (type == ElementType::kI1) {
    const bool any = reduction == Reduction::kSum || reduction == Reduction::kMaximum;
    return NcclType{kNcclUint8, any ? kNcclMaximum : kNcclMinimum, 1};
  }
  const bool adds = reduction == Reduction::kSum || reduction == Reduction::kAverage;
  if (element_class(type) == ElementClass::kComplex && adds) {
    const bool wide = type == ElementType::kC128;
    return NcclType{wide ? kNcclFloat64 : kNcclFloat32, reduction_number(reduction), wide ? 8u : 4u};
  }
  const int number = element_class(type) == ElementClass::kComplex ? kNoType : number_type(type);
  if (number != kNoType) return NcclType{number, reduction_number(reduction), element_bytes(type)};
  return failure(StatusCode::kUnimplemented, "NCCL has no ", commands::reduction_name(reduction), " of ",
                 element_type_name(type), ".");
}

}  // namespace baton::hal::drivers::cuda
