// A function of TVM-FFI that a program calls.
//
// On a GPU nobody waits on the host: the stream of the function's caller comes behind all that the device was given so
// far, and what the device is given next comes behind that stream.
#include <optional>
#include <type_traits>

#include "hal/allocator.hpp"
#include "hal/dlpack.hpp"
#include "hal/queue.hpp"
#include "modules/tvm_ffi/cuda_context.hpp"
#include "modules/tvm_ffi/guarded_call.hpp"
#include "modules/tvm_ffi/values.hpp"

namespace baton::modules::tvm_ffi {
namespace {

constexpr size_t kArgumentsInPlace = 12;

// A reference that is passed.
struct Argument {
  TensorView view;
  Any* owned = nullptr;
};

class Call {
 public:
  Call(const Function& function, baton_call& call)
      : function_(function),
        runtime_(*function.runtime),
        call_(call),
        anys_(function.signature.arguments.size()),
        arguments_(function.reference_count),
        lent_(*function.runtime, function.spares) {}
  ~Call() {
    for (size_t i = 0; i < references_; ++i) {
      if (arguments_[i].owned) runtime_.drop(*arguments_[i].owned);
    }
    runtime_.drop(result_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Status run() {
    BATON_TRY(take_arguments());
    std::optional<CudaContext> context;
    if (has_stream()) context.emplace(cuda_);
    Status status = begin();
    if (status.ok()) {
      status = invoke();
      Status ended = end();
      if (status.ok()) status = std::move(ended);
    }
    if (status.ok()) status = give_results();
    if (!status.ok() && signal_) signal_->fail(status);
    return status;
  }

 private:
  // ---- Arguments

  Status take_arguments() {
    const baton_value* value = call_.values;
    baton_object** ref = call_.refs;
    for (const Parameter& parameter : function_.signature.arguments) {
      Any& any = anys_[count_];
      Status status;
      if (parameter.kind <= Kind::kBool) {
        any = any_of_number(parameter.kind, *value++);
      } else if (parameter.kind == Kind::kFence) {
        status = take_fence(*ref++);
        if (status.ok()) continue;
      } else {
        status = take_reference(parameter.kind, *ref++, any, arguments_[references_++]);
      }
      if (!status.ok()) return std::move(status).with_context(text("in argument ", count_));
      ++count_;
    }
    return {};
  }

  Status take_reference(Kind kind, baton_object* object, Any& any, Argument& argument) {
    if (!object) return {};  // None.
    if (hal::BufferView* view = unwrap<hal::BufferView>(object)) {
      if (kind == Kind::kTensor || kind == Kind::kView || kind == Kind::kObject) {
        return take_tensor_argument(kind, *view, any, argument);
      }
    } else if (const hal::Device* device = unwrap<hal::Device>(object)) {
      if (!device_) device_ = const_cast<hal::Device*>(device);
      any = any_of_device(*device);
      return {};
    } else if (const auto* held = sdk::cast<HeldObject>(object)) {
      if (kind == Kind::kObject) {
        any = held->value();
        return {};
      }
    } else if (const auto* blob = sdk::cast<sdk::Blob>(object)) {
      BATON_TRY_ASSIGN(any, any_of_bytes(runtime_, kind, blob->text()));
      argument.owned = &any;
      return {};
    }
    return failure(StatusCode::kInvalidArgument, "It does not take a '", object->type->name, "'.");
  }

  Status take_tensor_argument(Kind kind, hal::BufferView& view, Any& any, Argument& argument) {
    if (!device_) device_ = view.buffer()->allocator()->device();
    if (kind == Kind::kView) {
      BATON_TRY(argument.view.set(view));
      any.type_index = kTensorView;
      any.pointer = &argument.view.tensor();
      note_place(argument.view.tensor());
      return {};
    }
    BATON_TRY_ASSIGN(TensorObject * lent, lent_.lend(view));
    any.type_index = kTensor;
    any.object = lent->object();
    note_place(lent->get());
    return {};
  }

  void note_place(const baton_dl_tensor& tensor) {
    if (tensor.device.type == BATON_DL_CUDA) cuda_ = tensor.device.id;
  }

  Status take_fence(baton_object* object) {
    const hal::Fence* fence = unwrap<hal::Fence>(object);
    if (object && !fence)
      return failure(StatusCode::kInvalidArgument, "It does not take a '", object->type->name, "'.");
    (fences_++ == 0 ? wait_ : signal_) = fence;
    return {};
  }

  // ---- Order

  bool has_stream() const { return cuda_ >= 0 && device_; }

  Status begin() {
    if (!has_stream()) return wait_ ? wait_->wait() : Status();
    stream_ = current_stream(runtime_, cuda_);
    return device_->queue().hold_stream(static_cast<uint64_t>(stream_),
                                        wait_ ? wait_->points() : std::span<const hal::SemaphorePoint>());
  }

  Status end() {
    if (has_stream()) BATON_TRY(device_->queue().wait_for_stream(static_cast<uint64_t>(stream_)));
    if (!signal_) return {};
    return has_stream() ? device_->queue().barrier({.signals = signal_->points()}) : signal_->signal();
  }

  Status invoke() {
    const int code = guarded_call(runtime_, function_.call, anys_.data(), static_cast<int32_t>(count_), &result_);
    return code == 0 ? Status() : runtime_.take_error(code);
  }

  // ---- Results

  Status give_results() {
    const std::vector<Parameter>& results = function_.signature.results;
    if (results.empty()) return {};
    if (results.size() == 1) return give_one(results[0]);
    if (result_.type_index == kArray) {
      auto& array = cell_of<ArrayCell>(result_.object);
      if (array.size == static_cast<int64_t>(results.size())) return give_elements(array);
    }
    return failure(StatusCode::kInvalidArgument, "It returned ", describe(result_), ", and the program takes ",
                   results.size(), " results: an array of that many.");
  }

  Status give_one(const Parameter& parameter) {
    baton_value number = {};
    baton_object* object = nullptr;
    BATON_TRY(take_result({function_.runtime, device_, stream_}, parameter, result_, number, object));
    if (parameter.kind <= Kind::kBool) {
      call_.values[0] = number;
    } else {
      baton_call_set_ref(&call_, 0, object);
    }
    return {};
  }

  // Elements belong to the array.
  Status give_elements(const ArrayCell& array) {
    const auto count = static_cast<size_t>(array.size);
    Places<Any, 8> copies(count);
    for (size_t i = 0; i < count; ++i) {
      copies[i] = static_cast<const Any*>(array.data)[i];
      if (copies[i].type_index >= kObjectBegin) runtime_.retain(copies[i].object);
    }
    Status status = give({copies.data(), count});
    for (size_t i = 0; i < count; ++i) runtime_.drop(copies[i]);
    return status;
  }

  // Written only when all of them were converted.
  Status give(std::span<Any> values) {
    const std::vector<Parameter>& results = function_.signature.results;
    Places<baton_value, 8> numbers(values.size());
    Places<baton_object*, 8> objects(values.size());
    const Taker taker = {function_.runtime, device_, stream_};
    Status status;
    for (size_t i = 0; status.ok() && i < values.size(); ++i) {
      status = take_result(taker, results[i], values[i], numbers[i], objects[i]);
    }
    baton_value* value = call_.values;
    uint32_t ref = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (!status.ok()) {
        baton_object_release(objects[i]);
      } else if (results[i].kind <= Kind::kBool) {
        *value++ = numbers[i];
      } else {
        baton_call_set_ref(&call_, ref++, objects[i]);
      }
    }
    return status;
  }

  const Function& function_;
  const Runtime& runtime_;
  baton_call& call_;
  Places<Any, kArgumentsInPlace> anys_;
  Places<Argument, kArgumentsInPlace> arguments_;
  LentTensors lent_;
  size_t count_ = 0;
  size_t references_ = 0;
  Any result_;
  hal::Device* device_ = nullptr;  // The first that an argument names.
  int32_t cuda_ = -1;
  int64_t stream_ = -1;
  int fences_ = 0;
  const hal::Fence* wait_ = nullptr;
  const hal::Fence* signal_ = nullptr;
};

// A result that is no such number, with the device of the tensors that were passed, or null.
[[gnu::noinline]] Status give_any(const Function& function, hal::Device* device, Any& result, baton_call& call) {
  Status status;
  if (function.plan.has_result) {
    const Parameter& parameter = function.signature.results[0];
    baton_value number;
    baton_object* object = nullptr;
    status = take_result({function.runtime, device, hal::kNoStream}, parameter, result, number, object);
    if (status.ok() && parameter.kind <= Kind::kBool) {
      call.values[0] = number;
    } else if (status.ok()) {
      baton_call_set_ref(&call, 0, object);
    }
  }
  function.runtime->drop(result);
  return status;
}

// Places for what is passed, which nobody empties first.
class Passed {
 public:
  Any& operator[](size_t index) { return first()[index]; }
  Any* first() { return reinterpret_cast<Any*>(bytes_); }

 private:
  alignas(Any) std::byte bytes_[sizeof(Any) * kPlainArgumentsMax];
};

// Tensors that a function cannot keep are passed without an object.
struct LentViews {
  LentViews(const Runtime&, SpareTensors&) {}
};

// A call with numbers and tensors of the host: it waits for nobody, and owns what it lends alone.
template <typename Lent>
class PlainCall {
 public:
  PlainCall(const Function& function, baton_call& call)
      : function_(function), call_(call), lent_(*function.runtime, function.spares) {}

  // False: it is no such call, or something is wrong, of which Call says more; nothing was called yet.
  bool take_arguments() {
    const baton_value* value = call_.values;
    baton_object** ref = call_.refs;
    for (size_t i = 0; i < function_.plan.count; ++i) {
      const Kind kind = function_.plan.arguments[i];
      if (kind <= Kind::kBool) {
        new (&passed_[i]) Any(any_of_number(kind, *value++));
      } else if (!take_tensor(kind, *ref++, i)) {
        return false;
      }
    }
    return true;
  }

  Status run() {
    Any result;
    if (const int code =
            guarded_call(*function_.runtime, function_.call, passed_.first(), function_.plan.count, &result);
        code != 0) [[unlikely]]
      return function_.runtime->take_error(code);
    if (take_number(function_.plan.result, result, call_.values[0])) [[likely]]
      return {};
    return give_any(function_, first_ ? first_->buffer()->allocator()->device() : nullptr, result, call_);
  }

 private:
  bool take_tensor(Kind kind, baton_object* object, size_t index) {
    hal::BufferView* const view = unwrap<hal::BufferView>(object);
    if (!view) return false;
    if (!first_) first_ = view;
    Any& any = *new (&passed_[index]) Any();
    if constexpr (std::is_same_v<Lent, LentTensors>) {
      if (kind != Kind::kView) return lend(*view, any);
    }
    any.type_index = kTensorView;
    any.pointer = &views_[index];
    return describe_on_host(*view, views_[index]);
  }

  bool lend(hal::BufferView& view, Any& any) {
    auto lent = lent_.lend(view);
    if (!lent || (*lent)->get().device.type != BATON_DL_CPU) return false;
    any.type_index = kTensor;
    any.object = (*lent)->object();
    return true;
  }

  const Function& function_;
  baton_call& call_;
  [[no_unique_address]] Lent lent_;
  const hal::BufferView* first_ = nullptr;
  Passed passed_;
  baton_dl_tensor views_[kPlainArgumentsMax];
};

[[gnu::noinline]] Status call_any(const Function& function, baton_call& call) { return Call(function, call).run(); }

[[gnu::cold, gnu::noinline]] baton_status* failed_in(const Function& function, Status&& status) {
  return to_door(
      std::move(status).with_context(text("in TVM-FFI function '", function.module, ".", function.name, "'")));
}

template <typename Lent>
baton_status* call_plainly(baton_call* call) {
  const auto& function = *static_cast<const Function*>(call->data);
  {
    PlainCall<Lent> plain(function, *call);
    if (plain.take_arguments()) [[likely]] {
      Status status = plain.run();
      return status.ok() ? nullptr : failed_in(function, std::move(status));
    }
  }
  return call_function(call);
}

}  // namespace

baton_status* call_function(baton_call* call) {
  const auto& function = *static_cast<const Function*>(call->data);
  Status status = call_any(function, *call);
  return status.ok() ? nullptr : failed_in(function, std::move(status));
}

baton_status* call_with_tensors(baton_call* call) { return call_plainly<LentTensors>(call); }
baton_status* call_with_views(baton_call* call) { return call_plainly<LentViews>(call); }

baton_status* call_with_numbers(baton_call* call) {
  const auto& function = *static_cast<const Function*>(call->data);
  const size_t count = function.plan.count;
  Passed passed;
  for (size_t i = 0; i < count; ++i) new (&passed[i]) Any(any_of_number(function.plan.arguments[i], call->values[i]));
  Any result;
  if (const int code =
          guarded_call(*function.runtime, function.call, passed.first(), static_cast<int32_t>(count), &result);
      code != 0) [[unlikely]]
    return failed_in(function, function.runtime->take_error(code));
  if (take_number(function.plan.result, result, call->values[0])) [[likely]]
    return nullptr;
  Status status = give_any(function, nullptr, result, *call);
  return status.ok() ? nullptr : failed_in(function, std::move(status));
}

}  // namespace baton::modules::tvm_ffi
