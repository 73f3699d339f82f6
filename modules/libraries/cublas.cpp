// Products of matrices by cuBLASLt, with bias and activation. A command looks for the best algorithm when it is recorded, once
// for each shape, and works in memory that it asked for then; what it enqueues neither allocates nor waits, so it may
// be captured.
//
// cuBLAS knows matrices column by column: C = A * B row by row is C' = B' * A' there, so the operands change places.
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "modules/libraries/cublaslt.hpp"
#include "modules/libraries/cuda_library.hpp"
#include "modules/libraries/product.hpp"
#include "modules/libraries/report.hpp"

namespace {

using namespace baton::sdk;
using namespace baton::libraries;

constexpr uint64_t kWorkspaceMax = uint64_t{32} << 20;
// Where operands begin: as allocations do, or anywhere that elements may.
constexpr uint32_t kWellAligned = 256;

struct ElementType {
  CublasLt::Type type;
  uint32_t bytes;
};
Result<ElementType> element_of(uint32_t told) {
  switch (told) {
    case BATON_ELEMENT_F32: return ElementType{CublasLt::kF32, 4};
    case BATON_ELEMENT_F64: return ElementType{CublasLt::kF64, 8};
    case BATON_ELEMENT_F16: return ElementType{CublasLt::kF16, 2};
    case BATON_ELEMENT_BF16: return ElementType{CublasLt::kBf16, 2};
    default: break;
  }
  return failure(StatusCode::kInvalidArgument, "cuBLAS multiplies f16, bf16, f32 and f64, no elements of type ", told,
                 ".");
}

// Threads: as the handle, from any.
class OnDevice : public LibraryOnDevice<CublasLt> {
 public:
  using LibraryOnDevice::LibraryOnDevice;

  // By what tells one product from another.
  std::mutex cache_mutex;
  std::map<std::string, CublasLt::Heuristic> cache;
};

// A description of the library's, as long as it is needed.
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  ~Owned() {
    if (made_) destroy_(made_);
  }
  Status take(const char* call, int code, CublasLt::Description made, int (*destroy)(CublasLt::Description)) {
    BATON_OR_RETURN(status_of_call(call, code));
    made_ = made;
    destroy_ = destroy;
    return {};
  }
  CublasLt::Description get() const { return made_; }

 private:
  CublasLt::Description made_ = nullptr;
  int (*destroy_)(CublasLt::Description) = nullptr;
};

struct Elements {
  ElementType a, b, c;
  bool tf32;

  int compute() const {
    if (c.type == CublasLt::kF64) return CublasLt::kCompute64;
    return tf32 && a.type == CublasLt::kF32 ? CublasLt::kComputeTf32 : CublasLt::kCompute32;
  }
  int scale() const { return c.type == CublasLt::kF64 ? CublasLt::kF64 : CublasLt::kF32; }
};

// One product of a batch with one stride, ready to be enqueued. Threads: internally synchronized.
class Prepared {
 public:
  static Result<std::shared_ptr<Prepared>> make(std::shared_ptr<OnDevice> on, const Product& product, Elements elements,
                                                Epilogue epilogue) {
    auto made = std::make_shared<Prepared>(std::move(on), product, elements, epilogue);
    BATON_OR_RETURN(made->describe());
    for (const bool well_aligned : {true, false}) {
      BATON_ASSIGN_OR_RETURN(made->algorithms_[well_aligned], made->algorithm(well_aligned));
    }
    return made;
  }
  Prepared(std::shared_ptr<OnDevice> on, const Product& product, Elements elements, Epilogue epilogue)
      : on_(std::move(on)), product_(product), elements_(elements), epilogue_(epilogue) {}

  uint64_t workspace_bytes() const { return std::max(algorithms_[0].workspace_bytes, algorithms_[1].workspace_bytes); }
  const Product& product() const { return product_; }

  Status enqueue(void* stream, uint64_t a, uint64_t b, uint64_t bias, uint64_t c, uint64_t workspace) {
    // The bias stands in the description.
    std::lock_guard lock(mutex_);
    const CublasLt& use = on_->use();
    if (epilogue_.bias) {
      BATON_OR_RETURN(status_of_call("cublasLtMatmulDescSetAttribute",
                                     use.product_set(is_.get(), CublasLt::kBiasPointer, &bias, sizeof(bias))));
    }
    const double one = 1, zero = 0;
    const float one_single = 1, zero_single = 0;
    const bool is_double = elements_.scale() == CublasLt::kF64;
    const void *alpha = is_double ? static_cast<const void*>(&one) : &one_single,
               *beta = is_double ? static_cast<const void*>(&zero) : &zero_single;
    for (int64_t i = 0; i < product_.outer; ++i) {
      const uint64_t at_a = a + bytes(i * product_.a.outer, elements_.a),
                     at_b = b + bytes(i * product_.b.outer, elements_.b),
                     at_c = c + bytes(i * product_.c.outer, elements_.c);
      const bool well_aligned = (at_a | at_b | at_c | bias) % kWellAligned == 0;
      const CublasLt::Heuristic& found = algorithms_[well_aligned];
      void* const to = reinterpret_cast<void*>(at_c);
      BATON_OR_RETURN(status_of_call(
          "cublasLtMatmul",
          use.multiply(on_->handle(), is_.get(), alpha, reinterpret_cast<void*>(at_b), b_is_.get(),
                       reinterpret_cast<void*>(at_a), a_is_.get(), beta, to, c_is_.get(), to, c_is_.get(),
                       &found.algorithm, reinterpret_cast<void*>(workspace), found.workspace_bytes, stream)));
    }
    return {};
  }

  Status check(uint64_t a_bytes, uint64_t b_bytes, uint64_t bias_bytes, uint64_t c_bytes) const {
    BATON_OR_RETURN(
        product_.check(a_bytes / elements_.a.bytes, b_bytes / elements_.b.bytes, c_bytes / elements_.c.bytes));
    if (!epilogue_.bias || bias_bytes / elements_.c.bytes >= static_cast<uint64_t>(product_.columns)) return {};
    return failure(StatusCode::kOutOfRange, "The bias of a product has ", bias_bytes / elements_.c.bytes,
                   " elements, and the product ", product_.columns, " columns.");
  }

 private:
  static uint64_t bytes(int64_t elements, ElementType type) { return static_cast<uint64_t>(elements) * type.bytes; }

  Status describe() {
    const CublasLt& use = on_->use();
    BATON_ASSIGN_OR_RETURN(const BlasMatrix a, blas_matrix(product_.a, product_.rows, product_.steps));
    BATON_ASSIGN_OR_RETURN(const BlasMatrix b, blas_matrix(product_.b, product_.steps, product_.columns));
    BATON_ASSIGN_OR_RETURN(const BlasMatrix c, blas_matrix(product_.c, product_.rows, product_.columns));
    if (c.transposed) {
      return failure(StatusCode::kInvalidArgument, "The result of a product has its columns ", product_.c.column,
                     " elements apart; it takes 1.");
    }
    CublasLt::Description made = nullptr;
    const int code = use.product_create(&made, elements_.compute(), elements_.scale());
    BATON_OR_RETURN(is_.take("cublasLtMatmulDescCreate", code, made, use.product_destroy));
    const int32_t first = b.transposed, second = a.transposed;
    uint32_t epilogue = 0;
    if (epilogue_.bias) epilogue |= CublasLt::kBias;
    if (epilogue_.activation == Activation::kRelu) epilogue |= CublasLt::kRelu;
    if (epilogue_.activation == Activation::kGelu) epilogue |= CublasLt::kGelu;
    if (epilogue == 0) epilogue = CublasLt::kNothing;
    const auto set = [&](int attribute, const auto& value) {
      return status_of_call("cublasLtMatmulDescSetAttribute",
                            use.product_set(is_.get(), attribute, &value, sizeof(value)));
    };
    BATON_OR_RETURN(set(CublasLt::kTransposeA, first));
    BATON_OR_RETURN(set(CublasLt::kTransposeB, second));
    BATON_OR_RETURN(set(CublasLt::kEpilogue, epilogue));
    BATON_OR_RETURN(matrix(a_is_, elements_.a, a, product_.rows, product_.steps, product_.a.inner));
    BATON_OR_RETURN(matrix(b_is_, elements_.b, b, product_.steps, product_.columns, product_.b.inner));
    return matrix(c_is_, elements_.c, c, product_.rows, product_.columns, product_.c.inner);
  }

  // As it lies there: what is a row here is a column for the library.
  Status matrix(Owned& out, ElementType type, BlasMatrix is, int64_t rows, int64_t columns, int64_t stride) const {
    const CublasLt& use = on_->use();
    const int64_t down = is.transposed ? rows : columns, across = is.transposed ? columns : rows;
    CublasLt::Description made = nullptr;
    const int code =
        use.matrix_create(&made, type.type, static_cast<uint64_t>(down), static_cast<uint64_t>(across), is.leading);
    BATON_OR_RETURN(out.take("cublasLtMatrixLayoutCreate", code, made, use.matrix_destroy));
    const auto count = static_cast<int32_t>(product_.inner);
    const auto set = [&](int attribute, const auto& value) {
      return status_of_call("cublasLtMatrixLayoutSetAttribute", use.matrix_set(made, attribute, &value, sizeof(value)));
    };
    BATON_OR_RETURN(set(CublasLt::kBatchCount, count));
    return set(CublasLt::kBatchStride, stride);
  }

  std::string key(bool well_aligned) const {
    const Product& p = product_;
    std::string text = well_aligned ? "+" : "-";
    for (const int64_t each :
         {p.inner, p.rows, p.columns, p.steps, p.a.inner, p.a.row, p.a.column, p.b.inner, p.b.row, p.b.column,
          p.c.inner, p.c.row, int64_t{elements_.a.type}, int64_t{elements_.b.type}, int64_t{elements_.c.type},
          int64_t{elements_.compute()}, int64_t{epilogue_.bias}, static_cast<int64_t>(epilogue_.activation)}) {
      text += " " + std::to_string(each);
    }
    return text;
  }

  Result<CublasLt::Heuristic> algorithm(bool well_aligned) {
    const std::string text = key(well_aligned);
    std::lock_guard lock(on_->cache_mutex);
    if (const auto known = on_->cache.find(text); known != on_->cache.end()) return known->second;
    BATON_ASSIGN_OR_RETURN(const CublasLt::Heuristic found, ask(well_aligned));
    on_->cache.emplace(text, found);
    return found;
  }
  Result<CublasLt::Heuristic> ask(bool well_aligned) const {
    const CublasLt& use = on_->use();
    Owned preference;
    CublasLt::Description made = nullptr;
    const int code = use.preference_create(&made);
    BATON_OR_RETURN(preference.take("cublasLtMatmulPreferenceCreate", code, made, use.preference_destroy));
    const auto set = [&](int attribute, const auto& value) {
      return status_of_call("cublasLtMatmulPreferenceSetAttribute",
                            use.preference_set(made, attribute, &value, sizeof(value)));
    };
    BATON_OR_RETURN(set(CublasLt::kWorkspaceMax, kWorkspaceMax));
    const ElementType by_operand[] = {elements_.b, elements_.a, elements_.c, elements_.c};
    for (int i = 0; i < 4; ++i) {
      BATON_OR_RETURN(set(CublasLt::kAlignmentA + i, well_aligned ? kWellAligned : by_operand[i].bytes));
    }
    CublasLt::Heuristic found = {};
    int count = 0;
    BATON_OR_RETURN(status_of_call("cublasLtMatmulAlgoGetHeuristic",
                                   use.find_algorithm(on_->handle(), is_.get(), b_is_.get(), a_is_.get(), c_is_.get(),
                                                      c_is_.get(), made, 1, &found, &count)));
    if (count > 0) return found;
    return failure(StatusCode::kUnimplemented, "cuBLAS has no algorithm for a product of ", product_.describe(), ".");
  }

  std::shared_ptr<OnDevice> on_;
  const Product product_;
  const Elements elements_;
  const Epilogue epilogue_;
  Owned is_, a_is_, b_is_, c_is_;
  CublasLt::Heuristic algorithms_[2] = {};  // For operands that begin anywhere; well aligned.
  std::mutex mutex_;
};

class Cublas final : public Module<Cublas> {
 public:
  explicit Cublas(const Parameters& parameters)
      : tf32_(parameters.find("tf32").value_or("0") == "1"),
        report_("cublas", parameters),
        library_("cuBLASLt", {std::string(parameters.find("library").value_or(""))}) {}

  int32_t available(const Device& device) { return library_.available(device, report_); }

  Status prepare(Device& device) {
    std::shared_ptr<OnDevice> on;
    if (device.driver() == Cuda::kDriver) {
      BATON_ASSIGN_OR_RETURN(const CublasLt library, library_.needed());
      BATON_ASSIGN_OR_RETURN(on, create_on_device<OnDevice>(device, library, "cublasLtCreate"));
    }
    devices_.add(device, std::move(on));
    return {};
  }

  Status gemm(CommandBuffer& rec, Binding<const std::byte> a, Binding<const std::byte> b, Binding<std::byte> c,
              Variadic<int64_t> numbers) {
    return record(rec, a, b, a, c, numbers, {});
  }
  Status gemm_relu(CommandBuffer& rec, Binding<const std::byte> a, Binding<const std::byte> b, Binding<std::byte> c,
                   Variadic<int64_t> numbers) {
    return record(rec, a, b, a, c, numbers, {.activation = Activation::kRelu});
  }
  Status gemm_gelu(CommandBuffer& rec, Binding<const std::byte> a, Binding<const std::byte> b, Binding<std::byte> c,
                   Variadic<int64_t> numbers) {
    return record(rec, a, b, a, c, numbers, {.activation = Activation::kGelu});
  }
  Status gemm_bias(CommandBuffer& rec, Binding<const std::byte> a, Binding<const std::byte> b,
                   Binding<const std::byte> bias, Binding<std::byte> c, Variadic<int64_t> numbers) {
    return record(rec, a, b, bias, c, numbers, {.bias = true});
  }
  Status gemm_bias_relu(CommandBuffer& rec, Binding<const std::byte> a, Binding<const std::byte> b,
                        Binding<const std::byte> bias, Binding<std::byte> c, Variadic<int64_t> numbers) {
    return record(rec, a, b, bias, c, numbers, {.bias = true, .activation = Activation::kRelu});
  }
  Status gemm_bias_gelu(CommandBuffer& rec, Binding<const std::byte> a, Binding<const std::byte> b,
                        Binding<const std::byte> bias, Binding<std::byte> c, Variadic<int64_t> numbers) {
    return record(rec, a, b, bias, c, numbers, {.bias = true, .activation = Activation::kGelu});
  }

 private:
  using Bytes = Binding<const std::byte>;

  Status record(CommandBuffer& rec, Bytes a, Bytes b, Bytes bias, Binding<std::byte> c,
                const Variadic<int64_t>& numbers, Epilogue epilogue) {
    BATON_ASSIGN_OR_RETURN(Product product, Product::make(numbers));
    Elements elements = {};
    BATON_ASSIGN_OR_RETURN(elements.a, element_of(a.element_type()));
    BATON_ASSIGN_OR_RETURN(elements.b, element_of(b.element_type()));
    BATON_ASSIGN_OR_RETURN(elements.c, element_of(c.element_type()));
    elements.tf32 = tf32_;
    if (epilogue.bias && bias.element_type() != c.element_type()) {
      return failure(StatusCode::kInvalidArgument, "The bias of a product has other elements than its result.");
    }
    const std::string name = "cublas.gemm " + product.describe();
    const std::shared_ptr<OnDevice>& on = devices_[rec.device()];
    if (!on)
      return rec.foreign(
          name, [](Foreign&, auto...) { return Status(); }, a, b, bias, c);  // Runs nothing.
    if (product.empty()) return {};
    std::optional<Ref<Buffer>> zeros;
    if (product.steps == 0) {
      BATON_ASSIGN_OR_RETURN(zeros, record_zeros(rec, product));
      product = product.of_zeros();
      a = b = Bytes(**zeros);
    }
    const CurrentContext current(on->context());
    BATON_ASSIGN_OR_RETURN(const std::shared_ptr<Prepared> prepared, Prepared::make(on, product, elements, epilogue));
    report_.recorded(name);
    BATON_ASSIGN_OR_RETURN(const Ref<Buffer> workspace, allocate_workspace(rec.device(), prepared->workspace_bytes()));
    const auto enqueue = [prepared](Foreign& here, DeviceSpan<const std::byte> a_, DeviceSpan<const std::byte> b_,
                                    DeviceSpan<const std::byte> bias_, DeviceSpan<std::byte> c_,
                                    DeviceSpan<std::byte> work) -> Status {
      BATON_OR_RETURN(prepared->check(a_.size(), b_.size(), bias_.size(), c_.size()));
      BATON_ASSIGN_OR_RETURN(const baton_cuda_stream at, here.cuda().stream());
      return prepared->enqueue(at.stream, a_.address(), b_.address(), bias_.address(), c_.address(), work.address());
    };
    return rec.foreign(name, enqueue, a, b, bias, c, Binding<std::byte>(*workspace));
  }

  // Elements of any type for the one step that a product of none has for cuBLAS, which refuses those.
  Result<Ref<Buffer>> record_zeros(CommandBuffer& rec, const Product& product) {
    const auto most = static_cast<uint64_t>(std::max(product.rows, product.columns));
    BATON_ASSIGN_OR_RETURN(Ref<Buffer> zeros,
                           rec.device().allocate({.length = most * sizeof(uint64_t),
                                                  .memory = BATON_MEMORY_DEVICE_LOCAL,
                                                  .usage = BATON_USAGE_TRANSFER_TARGET | BATON_USAGE_DISPATCH_READ}));
    BATON_OR_RETURN(rec.fill_buffer(Binding<uint64_t>(*zeros), 0));
    BATON_OR_RETURN(rec.barrier());
    return zeros;
  }

  bool tf32_;
  Report report_;
  CudaLibrary<CublasLt> library_;
  PerDevice<std::shared_ptr<OnDevice>> devices_;  // Null where nothing runs.
};

}  // namespace

BATON_EXPORT_MODULE(Cublas, "cublas",                                              //
                    BATON_FUNCTION("available", &Cublas::available),               //
                    BATON_COMMAND("gemm", &Cublas::gemm, kCaptureSafe),            //
                    BATON_COMMAND("gemm_relu", &Cublas::gemm_relu, kCaptureSafe),  //
                    BATON_COMMAND("gemm_gelu", &Cublas::gemm_gelu, kCaptureSafe),  //
                    BATON_COMMAND("gemm_bias", &Cublas::gemm_bias, kCaptureSafe),  //
                    BATON_COMMAND("gemm_bias_relu", &Cublas::gemm_bias_relu, kCaptureSafe),
                    BATON_COMMAND("gemm_bias_gelu", &Cublas::gemm_bias_gelu, kCaptureSafe));
