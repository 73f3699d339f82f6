// A function of TVM-FFI as a command of a recording: called with the memory of a table, on the stream that runs or
// captures there, which the function finds as its environment's stream.
#include <atomic>

#include "hal/allocator.hpp"
#include "hal/commands/foreign.hpp"
#include "modules/sdk/cuda.h"
#include "modules/tvm_ffi/guarded_call.hpp"
#include "modules/tvm_ffi/values.hpp"

namespace baton::modules::tvm_ffi {
namespace {

using CommandBufferHandle = Handle<hal::CommandBuffer>;

struct Range {
  hal::ElementType element;
  std::vector<int64_t> shape;  // -1: as many as there are.
  bool keeps;
};

// What a recording keeps of the call.
struct RecordedCall {
  std::shared_ptr<const Runtime> runtime;
  SafeCall call;
  int32_t cuda;
  std::vector<Any> values;     // In their places; ranges are empty there.
  std::vector<size_t> places;  // Of the ranges.
  std::vector<Range> ranges;
  std::vector<bool> owned;

  RecordedCall(const Function& of, int32_t ordinal) : runtime(of.runtime), call(of.call), cuda(ordinal) {}
  ~RecordedCall() {
    for (size_t i = 0; i < values.size(); ++i) {
      if (owned[i]) runtime->drop(values[i]);
    }
  }
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;

  void add(Any value, bool is_owned = false) {
    values.push_back(value);
    owned.push_back(is_owned);
  }
};

// ---- When it is executed --------------------------------------------------------------------------------------------

Result<std::vector<int64_t>> shape_of(const Range& range, uint64_t bytes) {
  std::vector<int64_t> shape = range.shape;
  uint64_t known = hal::element_bytes(range.element);
  bool fits = true;
  int64_t* open = nullptr;
  for (int64_t& extent : shape) {
    if (extent < 0) {
      open = &extent;
    } else {
      fits = fits && !__builtin_mul_overflow(known, static_cast<uint64_t>(extent), &known);
    }
  }
  if (fits && open && known > 0 && bytes % known == 0) {
    *open = static_cast<int64_t>(bytes / known);
    return shape;
  }
  if (fits && open && known == 0) {
    *open = 0;
    return shape;
  }
  if (fits && !open && known <= bytes) return shape;
  return failure(StatusCode::kInvalidArgument, "A range of ", bytes, " bytes does not hold the tensor of ",
                 hal::element_type_name(range.element), " that the function takes.");
}

// The stream of a capture or a queue, for as long as this lives.
class StreamScope {
 public:
  StreamScope(const Runtime& runtime, int32_t ordinal) : runtime_(runtime), ordinal_(ordinal) {}
  Status enter(hal::ForeignScope& scope) {
    if (ordinal_ < 0) return {};
    baton_cuda_stream stream = {};
    stream.struct_size = sizeof(stream);
    BATON_TRY(scope.extension(BATON_CUDA_STREAM_V1, &stream));
    if (const int code = runtime_.set_stream(BATON_DL_CUDA, ordinal_, stream.stream, &previous_); code != 0) {
      return runtime_.take_error(code);
    }
    entered_ = true;
    return {};
  }
  ~StreamScope() {
    if (entered_) runtime_.set_stream(BATON_DL_CUDA, ordinal_, previous_, nullptr);
  }
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;

 private:
  const Runtime& runtime_;
  int32_t ordinal_;
  void* previous_ = nullptr;
  bool entered_ = false;
};

Status set_range(const RecordedCall& recorded, const Range& range, const hal::ForeignBinding& memory,
                 std::span<const int64_t> shape, TensorView& view, Any& any) {
  void* data = recorded.cuda < 0 ? memory.host : reinterpret_cast<void*>(static_cast<uintptr_t>(memory.address));
  const baton_dl_device place =
      recorded.cuda < 0 ? baton_dl_device{BATON_DL_CPU, 0} : baton_dl_device{BATON_DL_CUDA, recorded.cuda};
  BATON_TRY(view.set(data, place, range.element, shape));
  any.type_index = kTensorView;
  any.pointer = &view.tensor();
  if (!range.keeps) return {};
  any.object = TensorObject::copy(view.tensor());
  any.type_index = kTensor;
  return {};
}

Status invoke(const RecordedCall& recorded, std::vector<Any>& values, hal::ForeignScope& scope) {
  StreamScope stream(*recorded.runtime, recorded.cuda);
  BATON_TRY(stream.enter(scope));
  Any result;
  const int code =
      guarded_call(*recorded.runtime, recorded.call, values.data(), static_cast<int32_t>(values.size()), &result);
  if (code != 0) return recorded.runtime->take_error(code);
  recorded.runtime->drop(result);
  return {};
}

Status execute(const RecordedCall& recorded, const hal::ForeignArguments& given) {
  std::vector<Any> values = recorded.values;
  const size_t count = recorded.ranges.size();
  std::vector<std::vector<int64_t>> shapes(count);
  const std::unique_ptr<TensorView[]> views(new TensorView[count]);
  Status status;
  size_t set = 0;
  for (; status.ok() && set < count; ++set) {
    const Range& range = recorded.ranges[set];
    auto shape = shape_of(range, given.bindings[set].length);
    if (!shape) {
      status = std::move(shape).error();
      break;
    }
    shapes[set] = *std::move(shape);
    status = set_range(recorded, range, given.bindings[set], shapes[set], views[set], values[recorded.places[set]]);
  }
  if (status.ok()) status = invoke(recorded, values, given.scope);
  for (size_t i = 0; i < set; ++i) {
    Any& any = values[recorded.places[i]];
    if (any.type_index == kTensor) recorded.runtime->drop(any);
  }
  return status;
}

// ---- When it is recorded --------------------------------------------------------------------------------------------

class Recorder {
 public:
  Recorder(const Function& function, baton_call& call) : function_(function), call_(call) {}

  Status record() {
    const auto& handle = *sdk::cast<CommandBufferHandle>(call_.refs[0]);  // run_command() has looked.
    BATON_TRY(check_device(handle.device()));
    recorded_ = std::make_shared<RecordedCall>(function_, cuda_ordinal(handle.device()));
    BATON_TRY(take_arguments());
    const Ref<hal::ForeignFunction> foreign = hal::make_foreign_function(
        text(function_.module, ".", function_.name),
        [recorded = recorded_](const hal::ForeignArguments& given) { return execute(*recorded, given); });
    return (*handle).foreign({.function = foreign.get(), .bindings = bindings_});
  }

 private:
  Status check_device(hal::Device& device) const {
    if (cuda_ordinal(device) >= 0 || device.name() == "null" || device.allocator().uses_host_memory()) return {};
    return failure(StatusCode::kUnimplemented,
                   "Functions of TVM-FFI work on CUDA devices and on the host, and not on '", device.name(), "'.");
  }

  Status take_arguments() {
    const baton_value* value = call_.values;
    baton_object** ref = call_.refs + 1;
    size_t index = 0;
    for (const Parameter& parameter : function_.signature.arguments) {
      Status status;
      if (parameter.kind == Kind::kRange) {
        status = take_range(parameter, value, *ref++);
        value += 3;
      } else if (parameter.kind <= Kind::kBool) {
        recorded_->add(any_of_number(parameter.kind, *value++));
      } else {
        status = take_reference(parameter.kind, *ref++);
      }
      if (!status.ok()) return std::move(status).with_context(text("in argument ", index));
      ++index;
    }
    return {};
  }

  Status take_range(const Parameter& parameter, const baton_value* values, baton_object* object) {
    const int64_t slot = values[0].i64, offset = values[1].i64, length = values[2].i64;
    hal::Buffer* buffer = unwrap<hal::Buffer>(object);
    if ((object && !buffer) || slot >> 56 != 0 || offset < 0 || length < -1) {
      return failure(StatusCode::kInvalidArgument, "It takes the range of a slot or a buffer, not slot ", slot,
                     ", offset ", offset, ", length ", length, object ? text(" of a '", object->type->name, "'") : "",
                     ".");
    }
    BATON_TRY_ASSIGN(Range range, range_of(parameter, slot));
    recorded_->ranges.push_back(std::move(range));
    recorded_->places.push_back(recorded_->values.size());
    recorded_->add(Any());
    bindings_.push_back(binding_of(buffer, slot, offset, length));
    return {};
  }

  static hal::Binding binding_of(hal::Buffer* buffer, int64_t slot, int64_t offset, int64_t length) {
    const uint32_t access = BATON_SLOT_ACCESS(slot);
    const auto use = access ? static_cast<hal::Access>(access) : hal::Access::kReadWrite;
    const uint64_t bytes = length < 0 ? hal::kWholeLength : static_cast<uint64_t>(length);
    if (buffer) return {hal::BufferRange(buffer, static_cast<uint64_t>(offset), bytes), use};
    return {hal::Slot{BATON_SLOT_INDEX(slot)}, static_cast<uint64_t>(offset), bytes, use};
  }

  static Result<Range> range_of(const Parameter& parameter, int64_t slot) {
    const auto told = static_cast<hal::ElementType>(BATON_SLOT_ELEMENT_TYPE(slot));
    const uint32_t rank = BATON_SLOT_RANK(slot);
    if (parameter.has_shape) {
      if (told == hal::ElementType::kNone || hal::element_bytes(told) == hal::element_bytes(parameter.element)) {
        return Range{parameter.element, parameter.shape, parameter.keeps};
      }
      return failure(StatusCode::kInvalidArgument, "It takes elements of ", hal::element_type_name(parameter.element),
                     ", and the program has ", hal::element_type_name(told), ".");
    }
    if (told != hal::ElementType::kNone && rank <= 1) return Range{told, {-1}, parameter.keeps};
    return failure(StatusCode::kInvalidArgument, "Its ", told == hal::ElementType::kNone ? "element type" : "shape",
                   " is not told by the program; say it as command(", rank > 1 ? "f32[?x4]" : "f32[?]", ").");
  }

  Status take_reference(Kind kind, baton_object* object) {
    if (!object) {
      recorded_->add(Any());
      return {};
    }
    if (const auto* blob = sdk::cast<sdk::Blob>(object)) {
      BATON_TRY_ASSIGN(const Any any, any_of_bytes(*function_.runtime, kind, blob->text()));
      recorded_->add(any, true);
      return {};
    }
    if (const hal::Device* device = unwrap<hal::Device>(object)) {
      recorded_->add(any_of_device(*device));
      return {};
    }
    if (const auto* held = kind == Kind::kObject ? sdk::cast<HeldObject>(object) : nullptr) {
      recorded_->add(share(*function_.runtime, held->value()), true);
      return {};
    }
    return failure(StatusCode::kInvalidArgument, "A command does not take a '", object->type->name, "'.");
  }

  const Function& function_;
  baton_call& call_;
  std::shared_ptr<RecordedCall> recorded_;
  std::vector<hal::Binding> bindings_;
};

}  // namespace

baton_status* record_function(baton_call* call) {
  const auto& function = *static_cast<const Function*>(call->data);
  Status status = Recorder(function, *call).record();
  if (status.ok()) return nullptr;
  return to_door(
      std::move(status).with_context(text("in TVM-FFI function '", function.module, ".", function.name, "'")));
}

}  // namespace baton::modules::tvm_ffi
