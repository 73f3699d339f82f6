// Convolutions, their gradients and attention by cuDNN. A command looks for an engine when it is recorded, and works in memory that it asked for
// then; what it enqueues neither allocates nor waits, so it may be captured.
//
// Engines know tensors without gaps, channels outside or innermost, and all three alike. Filters that lie in another order (JAX's have
// their outputs innermost) are copied into that, or from it.
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

#include "modules/libraries/cudnn_attention.hpp"
#include "modules/libraries/cudnn_plan.hpp"
#include "modules/libraries/report.hpp"

namespace {

using namespace baton::sdk;
using namespace baton::libraries;

// Where tensors of the fastest engines begin.
constexpr int64_t kWellAligned = 16;
constexpr int64_t kArchitectureMin = 80;

Result<CudnnElement> element_of(uint32_t told) {
  switch (told) {
    case BATON_ELEMENT_F32: return CudnnElement{Cudnn::kF32, 4};
    case BATON_ELEMENT_F64: return CudnnElement{Cudnn::kF64, 8};
    case BATON_ELEMENT_F16: return CudnnElement{Cudnn::kF16, 2};
    case BATON_ELEMENT_BF16: return CudnnElement{Cudnn::kBf16, 2};
    default: break;
  }
  return failure(StatusCode::kInvalidArgument, "cuDNN takes f16, bf16, f32 and f64 here, no elements of type ", told,
                 ".");
}

// A filter in the program's order and in the engines'.
class FilterOrder {
 public:
  static Result<std::shared_ptr<FilterOrder>> make(const Cudnn& use, const CudnnPlan::Request& request,
                                                   const Convolution::Strides& wanted) {
    auto made = std::make_shared<FilterOrder>(use);
    const Convolution& of = request.convolution;
    BATON_OR_RETURN(made->describe(made->given_, of.w_sizes(), of.w, request.element));
    BATON_OR_RETURN(made->describe(made->wanted_, of.w_sizes(), wanted, request.element));
    made->bytes_ = Convolution::extent(of.w_sizes(), wanted) * static_cast<uint64_t>(request.element.bytes);
    return made;
  }
  explicit FilterOrder(const Cudnn& use) : use_(use) {}
  FilterOrder(const FilterOrder&) = delete;
  ~FilterOrder() {
    for (const Cudnn::Descriptor each : {given_, wanted_}) {
      if (each) use_.destroy_tensor(each);
    }
  }

  uint64_t bytes() const { return bytes_; }
  Status to_wanted(Cudnn::Handle handle, uint64_t from, uint64_t to) const {
    return copy(handle, given_, from, wanted_, to);
  }
  Status to_given(Cudnn::Handle handle, uint64_t from, uint64_t to) const {
    return copy(handle, wanted_, from, given_, to);
  }

 private:
  Status describe(Cudnn::Descriptor& made, const Convolution::Sizes& sizes, const Convolution::Strides& strides,
                  CudnnElement element) {
    BATON_OR_RETURN(status_of_call("cudnnCreateTensorDescriptor", use_.create_tensor(&made)));
    int as_sizes[5], as_strides[5];
    for (size_t i = 0; i < 5; ++i) {
      as_sizes[i] = static_cast<int>(sizes[i]);
      as_strides[i] = static_cast<int>(sizes[i] == 1 ? 1 : strides[i]);
    }
    return status_of_call("cudnnSetTensorNdDescriptor", use_.set_tensor(made, element.type, 5, as_sizes, as_strides));
  }
  Status copy(Cudnn::Handle handle, Cudnn::Descriptor from_is, uint64_t from, Cudnn::Descriptor to_is,
              uint64_t to) const {
    const float one = 1, zero = 0;
    return status_of_call("cudnnTransformTensor", use_.transform(handle, &one, from_is, reinterpret_cast<void*>(from),
                                                                 &zero, to_is, reinterpret_cast<void*>(to)));
  }

  const Cudnn use_;
  Cudnn::Descriptor given_ = nullptr, wanted_ = nullptr;
  uint64_t bytes_ = 0;
};

struct Memory {
  uint64_t address, bytes;
};
using Tensors = std::array<Memory, 3>;

// One convolution of a program, ready to be enqueued. Threads: internally synchronized.
class Prepared {
 public:
  static Result<std::shared_ptr<Prepared>> make(std::shared_ptr<CudnnOnDevice> on, CudnnPlan::Request request) {
    auto made = std::make_shared<Prepared>(std::move(on), request);
    const Convolution& of = request.convolution;
    BATON_ASSIGN_OR_RETURN(const Convolution::Order order, of.order());
    const Convolution::Strides filter = Convolution::packed(of.w_sizes(), order);
    std::lock_guard lock(made->on_->mutex);
    if (!Convolution::lies(of.w_sizes(), of.w, filter)) {
      BATON_ASSIGN_OR_RETURN(made->order_, FilterOrder::make(made->on_->use(), request, filter));
    }
    request.convolution.x = Convolution::packed(of.x_sizes(), order);
    request.convolution.w = filter;
    request.convolution.y = Convolution::packed(of.y_sizes(), order);
    for (const bool well_aligned : {true, false}) {
      request.alignment = well_aligned ? kWellAligned : request.element.bytes;
      request.measures = request.measures && well_aligned;
      Result<std::shared_ptr<CudnnPlan>> plan = CudnnPlan::make(*made->on_, request);
      if (plan.has_value()) {
        made->plans_[well_aligned] = std::move(plan).value();
      } else if (well_aligned) {
        return std::move(plan).error();
      }
    }
    return made;
  }
  Prepared(std::shared_ptr<CudnnOnDevice> on, const CudnnPlan::Request& request)
      : on_(std::move(on)), request_(request) {}

  uint64_t workspace_bytes() const { return filter_at() + (order_ ? order_->bytes() : 0); }

  // The operands and the result in the order of the command.
  Status enqueue(void* stream, const Tensors& given, uint64_t workspace) {
    const Tensors tensors = by_name(given);
    BATON_OR_RETURN(check(tensors));
    Places places = {tensors[0].address, tensors[1].address, tensors[2].address, workspace};
    const uint64_t filter = places.w;
    if (order_) places.w = workspace + filter_at();
    const bool well_aligned = (places.x | places.w | places.y) % kWellAligned == 0;
    const std::shared_ptr<CudnnPlan>& plan = plans_[well_aligned];
    if (!plan) {
      return failure(StatusCode::kUnimplemented, "cuDNN has no engine for tensors that begin at no multiple of ",
                     kWellAligned, " bytes.");
    }
    std::lock_guard lock(on_->mutex);
    BATON_OR_RETURN(on_->use_stream(stream));
    const bool writes_filter = request_.kind == ConvolutionKind::kFilterGradient;
    if (order_ && !writes_filter) BATON_OR_RETURN(order_->to_wanted(on_->handle(), filter, places.w));
    BATON_OR_RETURN(plan->enqueue(*on_, places));
    return order_ && writes_filter ? order_->to_given(on_->handle(), places.w, filter) : Status();
  }

 private:
  // Where in the workspace a filter stands in the engines' order.
  uint64_t filter_at() const {
    const uint64_t bytes = std::max(plans_[1]->workspace_bytes(), plans_[0] ? plans_[0]->workspace_bytes() : 0);
    return (bytes + 255) / 256 * 256;
  }

  // x, w and y.
  Tensors by_name(const Tensors& given) const {
    switch (request_.kind) {
      case ConvolutionKind::kForward: return given;
      case ConvolutionKind::kFilterGradient: return {given[0], given[2], given[1]};
      case ConvolutionKind::kInputGradient: return {given[2], given[1], given[0]};
    }
    return given;
  }

  Status check(const Tensors& tensors) const {
    const Convolution& of = request_.convolution;
    const uint64_t needs[] = {Convolution::extent(of.x_sizes(), of.x), Convolution::extent(of.w_sizes(), of.w),
                              Convolution::extent(of.y_sizes(), of.y)};
    for (size_t i = 0; i < 3; ++i) {
      const uint64_t has = tensors[i].bytes / static_cast<uint64_t>(request_.element.bytes);
      if (needs[i] <= has) continue;
      return failure(StatusCode::kOutOfRange, "Tensor ", std::string_view("xwy").substr(i, 1), " of a convolution has ",
                     has, " elements; its sizes and strides reach ", needs[i], ".");
    }
    return {};
  }

  std::shared_ptr<CudnnOnDevice> on_;
  const CudnnPlan::Request request_;
  std::shared_ptr<FilterOrder> order_;   // Null: the filter lies as engines want it.
  std::shared_ptr<CudnnPlan> plans_[2];  // For tensors that begin anywhere, null where none can; well aligned.
};

// One attention of a program, ready to be enqueued. Threads: internally synchronized.
class PreparedAttention {
 public:
  static Result<std::shared_ptr<PreparedAttention>> make(std::shared_ptr<CudnnOnDevice> on, const Attention& of,
                                                         CudnnElement element) {
    auto made = std::make_shared<PreparedAttention>(std::move(on), of, element);
    std::lock_guard lock(made->on_->mutex);
    BATON_ASSIGN_OR_RETURN(made->plan_, CudnnAttention::make(*made->on_, of, element));
    return made;
  }
  PreparedAttention(std::shared_ptr<CudnnOnDevice> on, const Attention& of, CudnnElement element)
      : on_(std::move(on)), of_(of), element_(element) {}

  uint64_t workspace_bytes() const { return plan_->workspace_bytes(); }

  Status enqueue(void* stream, const std::array<Memory, 4>& given, uint64_t workspace) {
    std::array<uint64_t, 4> tensors = {};
    for (size_t i = 0; i < given.size(); ++i) {
      const auto tensor = static_cast<Attention::Tensor>(i);
      BATON_OR_RETURN(of_.check(tensor, given[i].bytes / static_cast<uint64_t>(element_.bytes)));
      tensors[i] = given[i].address;
      if (tensors[i] % CudnnAttention::kAlignment == 0) continue;
      return failure(StatusCode::kUnimplemented,
                     "cuDNN has no engine for an attention whose tensors begin at no multiple of ",
                     CudnnAttention::kAlignment, " bytes, as ", Attention::kNames[i], " does.");
    }
    std::lock_guard lock(on_->mutex);
    BATON_OR_RETURN(on_->use_stream(stream));
    return plan_->enqueue(*on_, tensors, workspace);
  }

 private:
  std::shared_ptr<CudnnOnDevice> on_;
  const Attention of_;
  const CudnnElement element_;
  std::shared_ptr<CudnnAttention> plan_;
};

class CudnnModule final : public Module<CudnnModule> {
 public:
  explicit CudnnModule(const Parameters& parameters)
      : tf32_(parameters.find("tf32").value_or("0") == "1"),
        measures_(parameters.find("benchmark").value_or("0") == "1"),
        report_("cudnn", parameters),
        library_("cuDNN", {std::string(parameters.find("library").value_or(""))}) {}

  // Its engines of attention are for newer devices than cuDNN's own limit, and a program asks once for all commands.
  int32_t available(const Device& device) {
    const Result<int64_t> architecture = device.query("hal.device", "architecture");
    if (device.driver() == Cuda::kDriver && architecture.has_value() && architecture.value() < kArchitectureMin) {
      report_.absent(failure(StatusCode::kUnavailable, "its engines of attention are for sm_", kArchitectureMin,
                             " and what came after it."));
      return 0;
    }
    return library_.available(device, report_);
  }

  Status prepare(Device& device) {
    std::shared_ptr<CudnnOnDevice> on;
    if (device.driver() == Cuda::kDriver) {
      BATON_ASSIGN_OR_RETURN(const Cudnn library, library_.needed());
      BATON_ASSIGN_OR_RETURN(on, create_on_device<CudnnOnDevice>(device, library, "cudnnCreate"));
    }
    devices_.add(device, std::move(on));
    return {};
  }

  using Bytes = Binding<const std::byte>;

  Status convolution(CommandBuffer& rec, Bytes x, Bytes w, Binding<std::byte> y, Variadic<int64_t> numbers) {
    return record(rec, {x, w}, y, numbers, ConvolutionKind::kForward);
  }
  Status filter_gradient(CommandBuffer& rec, Bytes x, Bytes y, Binding<std::byte> w, Variadic<int64_t> numbers) {
    return record(rec, {x, y}, w, numbers, ConvolutionKind::kFilterGradient);
  }
  Status input_gradient(CommandBuffer& rec, Bytes y, Bytes w, Binding<std::byte> x, Variadic<int64_t> numbers) {
    return record(rec, {y, w}, x, numbers, ConvolutionKind::kInputGradient);
  }

  Status attention(CommandBuffer& rec, Bytes q, Bytes k, Bytes v, Binding<std::byte> result,
                   Variadic<int64_t> numbers) {
    BATON_ASSIGN_OR_RETURN(const Attention of, Attention::make(numbers));
    BATON_ASSIGN_OR_RETURN(const CudnnElement element, element_of(result.element_type()));
    for (const Bytes& operand : {q, k, v}) {
      if (operand.element_type() == result.element_type()) continue;
      return failure(StatusCode::kInvalidArgument, "The tensors of an attention have elements of different types.");
    }
    const std::string name = "cudnn.attention " + of.describe();
    const std::shared_ptr<CudnnOnDevice>& on = devices_[rec.device()];
    if (!on) {  // Runs nothing.
      return rec.foreign(
          name, [](Foreign&, auto...) { return Status(); }, q, k, v, result);
    }
    const CurrentContext current(on->context());
    BATON_ASSIGN_OR_RETURN(const std::shared_ptr<PreparedAttention> prepared, PreparedAttention::make(on, of, element));
    report_.recorded(name);
    BATON_ASSIGN_OR_RETURN(const Ref<Buffer> workspace, allocate_workspace(rec.device(), prepared->workspace_bytes()));
    const auto enqueue = [prepared](Foreign& here, DeviceSpan<const std::byte> from_q,
                                    DeviceSpan<const std::byte> from_k, DeviceSpan<const std::byte> from_v,
                                    DeviceSpan<std::byte> to, DeviceSpan<std::byte> work) -> Status {
      BATON_ASSIGN_OR_RETURN(const baton_cuda_stream at, here.cuda().stream());
      const std::array<Memory, 4> tensors = {Memory{from_q.address(), from_q.size()},
                                             Memory{from_k.address(), from_k.size()},
                                             Memory{from_v.address(), from_v.size()}, Memory{to.address(), to.size()}};
      return prepared->enqueue(at.stream, tensors, work.address());
    };
    return rec.foreign(name, enqueue, q, k, v, result, Binding<std::byte>(*workspace));
  }

 private:
  Status record(CommandBuffer& rec, const std::array<Bytes, 2>& operands, Binding<std::byte> result,
                const Variadic<int64_t>& numbers, ConvolutionKind kind) {
    BATON_ASSIGN_OR_RETURN(const Convolution convolution, Convolution::make(numbers));
    BATON_ASSIGN_OR_RETURN(const CudnnElement element, element_of(result.element_type()));
    for (const Bytes& operand : operands) {
      if (operand.element_type() == result.element_type()) continue;
      return failure(StatusCode::kInvalidArgument, "The tensors of a convolution have elements of different types.");
    }
    static constexpr const char* kNames[] = {"cudnn.convolution ", "cudnn.convolution_filter_gradient ",
                                             "cudnn.convolution_input_gradient "};
    const std::string name = kNames[static_cast<int>(kind)] + convolution.describe();
    const std::shared_ptr<CudnnOnDevice>& on = devices_[rec.device()];
    if (!on) {  // Runs nothing.
      return rec.foreign(
          name, [](Foreign&, auto...) { return Status(); }, operands[0], operands[1], result);
    }
    const CurrentContext current(on->context());
    BATON_ASSIGN_OR_RETURN(const std::shared_ptr<Prepared> prepared,
                           Prepared::make(on, {convolution, kind, element, tf32_, measures_, kWellAligned}));
    report_.recorded(name);
    BATON_ASSIGN_OR_RETURN(const Ref<Buffer> workspace, allocate_workspace(rec.device(), prepared->workspace_bytes()));
    const auto enqueue = [prepared](Foreign& here, DeviceSpan<const std::byte> first,
                                    DeviceSpan<const std::byte> second, DeviceSpan<std::byte> to,
                                    DeviceSpan<std::byte> work) -> Status {
      BATON_ASSIGN_OR_RETURN(const baton_cuda_stream at, here.cuda().stream());
      const Tensors tensors = {Memory{first.address(), first.size()}, Memory{second.address(), second.size()},
                               Memory{to.address(), to.size()}};
      return prepared->enqueue(at.stream, tensors, work.address());
    };
    return rec.foreign(name, enqueue, operands[0], operands[1], result, Binding<std::byte>(*workspace));
  }

  bool tf32_, measures_;
  Report report_;
  CudaLibrary<Cudnn> library_;
  PerDevice<std::shared_ptr<CudnnOnDevice>> devices_;  // Null where nothing runs.
};

}  // namespace

BATON_EXPORT_MODULE(CudnnModule, "cudnn",                                                   //
                    BATON_FUNCTION("available", &CudnnModule::available),                   //
                    BATON_COMMAND("convolution", &CudnnModule::convolution, kCaptureSafe),  //
                    BATON_COMMAND("convolution_filter_gradient", &CudnnModule::filter_gradient, kCaptureSafe),
                    BATON_COMMAND("convolution_input_gradient", &CudnnModule::input_gradient, kCaptureSafe),
                    BATON_COMMAND("attention", &CudnnModule::attention, kCaptureSafe));
