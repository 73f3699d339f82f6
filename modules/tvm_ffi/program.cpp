#include "modules/tvm_ffi/program.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <tuple>

#include "hal/allocator.hpp"
#include "hal/dlpack.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "hal/queue.hpp"
#include "modules/hal_module/hal_module.hpp"
#include "modules/host_table.hpp"
#include "modules/sdk/host.hpp"
#include "modules/tvm_ffi/declared_numbers.hpp"
#include "modules/tvm_ffi/loans.hpp"
#include "modules/tvm_ffi/turn.hpp"
#include "modules/tvm_ffi/values.hpp"
#include "vm/context.hpp"
#include "vm/invocation.hpp"

namespace baton::modules::tvm_ffi {
namespace {

constexpr size_t kSlotsInPlace = 12;

// ---- The program on one device --------------------------------------------------------------------------------------

// One call at a time: Entry.
struct Instance {
  Turn turn;
  int64_t key = 0;  // Of the program's map.
  int32_t cuda = -1;
  Ref<hal::Device> device;
  Ref<vm::Context> context;
  struct Export {
    vm::ExportedFunction function;
    bool runs_in_place = false;  // Of the invocation below.
  };
  std::vector<Export> exported;  // Of the last module, by export index.
  std::unique_ptr<vm::Invocation> invocation;
  std::unique_ptr<Loans> loans;
};

// A call waits for those of other threads. One of the same thread comes from a function that the program calls, and would
// wait for itself: it does not enter.
class Entry {
 public:
  explicit Entry(Instance& instance) : turn_(instance.turn), entered_(turn_.take()) {}
  ~Entry() {
    if (entered_) turn_.give_back();
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  explicit operator bool() const { return entered_; }

 private:
  Turn& turn_;
  const bool entered_;
};

Result<std::unique_ptr<Instance>> make_instance(const std::shared_ptr<const Runtime>& runtime,
                                                const ProgramOptions& options, const std::string& uri) {
  hal::DriverRegistry drivers;
  BATON_TRY(hal::drivers::register_drivers(drivers));
  auto instance = std::make_unique<Instance>();
  BATON_TRY_ASSIGN(instance->device, drivers.open(uri));
  instance->cuda = cuda_ordinal(*instance->device);
  instance->loans = std::make_unique<Loans>(runtime, instance->device);
  BATON_TRY_ASSIGN(auto hal, make_hal_module({.devices = {instance->device}}));
  std::vector<Ref<const vm::Module>> all = {std::move(hal)};
  all.insert(all.end(), options.modules.begin(), options.modules.end());
  BATON_TRY_ASSIGN(Ref<vm::Program> program, vm::Program::link(all));
  BATON_TRY_ASSIGN(instance->context, vm::Context::make(std::move(program)));
  instance->invocation = std::make_unique<vm::Invocation>(instance->context);
  const auto last = static_cast<uint32_t>(all.size() - 1);
  for (uint32_t i = 0; i < all.back()->export_count(); ++i) {
    const vm::ExportedFunction function = instance->context->program().exported_function(last, i);
    instance->exported.push_back({function, instance->invocation->runs_in_place(function)});
  }
  return instance;
}

const baton_dl_tensor* tensor_in(const Any& any) {
  if (any.type_index == kTensor) return &cell_of<baton_dl_tensor>(any.object);
  return any.type_index == kTensorView ? static_cast<const baton_dl_tensor*>(any.pointer) : nullptr;
}

// The object of its tensor, or null where it has none.
AnyObject* owner_in(const Any& any) { return any.type_index == kTensor ? any.object : nullptr; }

class LoadedProgram final : public Program {
 public:
  LoadedProgram(std::shared_ptr<const Runtime> runtime, ProgramOptions options)
      : runtime_(std::move(runtime)), options_(std::move(options)) {}

  std::string_view name() const override { return last().name(); }
  std::vector<std::string> names() const override {
    std::vector<std::string> all;
    for (uint32_t i = 0; i < last().export_count(); ++i) all.emplace_back(last().export_at(i).name);
    return all;
  }
  Result<AnyObject*> function(std::string_view name) override;

  const vm::Module& last() const { return *options_.modules.back(); }
  const std::shared_ptr<const Runtime>& runtime() const { return runtime_; }

  // The state on the device that these arguments lie on.
  Result<Instance*> instance_for(std::span<const Any> arguments) {
    int64_t key = kHostKey;
    for (const Any& any : arguments) {
      const baton_dl_tensor* tensor = options_.device.empty() ? tensor_in(any) : nullptr;
      if (!tensor) continue;
      if (tensor->device.type == BATON_DL_CUDA) key = tensor->device.id;
      break;
    }
    Instance* const latest = latest_.load(std::memory_order_acquire);
    if (latest && latest->key == key) return latest;
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Instance>& instance = instances_[key];
    if (!instance) {
      BATON_TRY_ASSIGN(instance, make_instance(runtime_, options_, uri_of(key)));
      instance->key = key;
      if (key == kHostKey && instance->cuda < 0) on_host_.store(instance.get(), std::memory_order_release);
    }
    latest_.store(instance.get(), std::memory_order_release);
    return instance.get();
  }

  // The state of calls with numbers and tensors of the host, where there was one; on a GPU calls have an order.
  Instance* instance_on_host() const { return on_host_.load(std::memory_order_acquire); }

 private:
  static constexpr int64_t kHostKey = -1;

  std::string uri_of(int64_t key) const {
    if (!options_.device.empty()) return options_.device;
    return key == kHostKey ? "local-task" : text("cuda://", key);
  }

  std::shared_ptr<const Runtime> runtime_;
  ProgramOptions options_;
  std::mutex mutex_;
  std::map<int64_t, std::unique_ptr<Instance>> instances_;  // Only grows.
  std::atomic<Instance*> latest_{nullptr};
  std::atomic<Instance*> on_host_{nullptr};
};

// ---- A function of it -----------------------------------------------------------------------------------------------

// What a function object keeps.
struct ProgramFunction {
  Ref<LoadedProgram> program;
  std::string name;
  uint32_t export_index = 0;
  Signature signature;
  size_t argument_count = 0;  // Without fences.
  bool has_fences = false;
  bool is_plain = false;
  PlainCallPlan plan = {};  // Where it is.
};

// What makes the contents of results: nothing more where the stream is none and no points are there to wait for.
struct Giver {
  const Runtime& runtime;
  hal::Device& device;
  int64_t stream = hal::kNoStream;
  std::span<const hal::SemaphorePoint> ready = {};
};

// Without a stream the contents of a host's memory are there.
bool lies_ready(const Giver& giver, const hal::BufferView& view) {
  return giver.stream == hal::kNoStream && giver.device.allocator().uses_host_memory() &&
         view.buffer()->allocator() == &giver.device.allocator() && view.encoding() == hal::Encoding::kDenseRowMajor;
}

Status give_tensor(const Giver& giver, const Ref<hal::BufferView>& view, Any& out) {
  if (lies_ready(giver, *view)) {
    BATON_TRY_ASSIGN(out.object, TensorObject::make(view));
    out.type_index = kTensor;
    return {};
  }
  BATON_TRY_ASSIGN(baton_dl_managed_tensor * managed,
                   hal::export_dlpack(giver.device, view, {.stream = giver.stream, .ready = giver.ready}));
  void* object = nullptr;
  if (const int code = giver.runtime.tensor_from_dlpack(managed, 0, 0, &object); code != 0) {
    managed->destroy(managed);
    return giver.runtime.take_error(code);
  }
  out.type_index = kTensor;
  out.object = static_cast<AnyObject*>(object);
  return {};
}

Status give_object(const Giver& giver, baton_object* object, Any& out) {
  if (hal::BufferView* view = unwrap<hal::BufferView>(object)) {
    return give_tensor(giver, Ref<hal::BufferView>(view), out);
  }
  if (const auto* held = sdk::cast<HeldObject>(object)) {
    out = share(giver.runtime, held->value());
    return {};
  }
  const auto* blob = sdk::cast<sdk::Blob>(object);
  if (!blob)
    return failure(StatusCode::kUnimplemented, "It gives a '", object->type->name, "', which TVM-FFI has not.");
  BATON_TRY_ASSIGN(out, any_of_bytes(giver.runtime, Kind::kBytes, blob->text()));
  return {};
}

class ProgramCall {
 public:
  ProgramCall(const ProgramFunction& function, std::span<const Any> arguments, Instance& instance)
      : function_(function),
        runtime_(*function.program->runtime()),
        arguments_(arguments),
        instance_(instance),
        device_(*instance.device),
        slots_(function.signature.arguments.size()),
        objects_(function.signature.arguments.size()),
        results_(function.signature.results.size()) {}
  ~ProgramCall() {
    for (size_t i = 0; i < function_.signature.arguments.size(); ++i) baton_object_release(objects_[i]);
    for (size_t i = 0; i < function_.signature.results.size(); ++i) {
      if (function_.signature.results[i].kind > Kind::kBool) baton_object_release(result_object(i));
    }
    instance_.loans->settle();
  }
  ProgramCall(const ProgramCall&) = delete;
  ProgramCall& operator=(const ProgramCall&) = delete;

  Status run(Any& out) {
    if (instance_.cuda >= 0) {
      stream_ = current_stream(runtime_, instance_.cuda);
      BATON_TRY(device_.queue().wait_for_stream(static_cast<uint64_t>(stream_)));
    }
    for (size_t i = 0; i < arguments_.size(); ++i) {
      BATON_TRY_CONTEXT(take(i), "in argument ", i);
    }
    if (function_.has_fences) BATON_TRY(add_fences());
    Status status = instance_.invocation->invoke_slots(instance_.exported[function_.export_index].function,
                                                       {slots_.data(), function_.signature.arguments.size()},
                                                       {results_.data(), result_count()});
    // Whatever was enqueued, it works on the caller's memory.
    Status ordered = order_caller();
    BATON_TRY(std::move(status));
    BATON_TRY(std::move(ordered));
    return give(out);
  }

 private:
  // ---- Arguments

  Status take(size_t index) {
    const Any& any = arguments_[index];
    const Parameter& parameter = function_.signature.arguments[index];
    const Kind kind = parameter.kind;
    vm::Value& slot = slots_[index];
    if (kind <= Kind::kBool) return take_number(parameter, any, slot);
    if (any.type_index != kNone || parameter.is_tensor) BATON_TRY(take_reference(kind, any, objects_[index]));
    slot = vm::Value::of(reinterpret_cast<vm::Object*>(objects_[index]));
    return {};
  }

  static Status take_number(const Parameter& number, const Any& any, vm::Value& slot) {
    baton_value value;
    BATON_TRY(take_argument(number, any, value));
    slot = vm::Value::from_bits(value.bits);
    return {};
  }

  static Status wrong(const Any& any, std::string_view wanted) {
    return failure(StatusCode::kInvalidArgument, "It takes ", wanted, ", and ", describe(any), " was given.");
  }

  Status take_reference(Kind kind, const Any& any, baton_object*& object) {
    if (kind == Kind::kTensor) {
      const baton_dl_tensor* tensor = tensor_in(any);
      if (!tensor) return wrong(any, "a tensor");
      BATON_TRY_ASSIGN(object, instance_.loans->take(*tensor, owner_in(any)));
      baton_object_retain(object);
      return {};
    }
    if (kind == Kind::kString) {
      std::string_view bytes;
      Any copy = any;
      if (!read_bytes(copy, bytes)) return wrong(any, "bytes or a str");
      object = sdk::Blob::copy(bytes).detach();
      return {};
    }
    if (kind == Kind::kDevice && any.type_index == kDevice) {
      object = wrap(instance_.device).detach();
      return {};
    }
    if (kind != Kind::kObject) return wrong(any, kind == Kind::kDevice ? "a device" : "another object");
    BATON_TRY_ASSIGN(const Any owned, own(any));
    object = sdk::make<HeldObject>(function_.program->runtime(), owned).detach();
    return {};
  }

  // A tensor that is lent for the call alone is copied into an object of its own.
  Result<Any> own(const Any& any) const {
    std::string_view bytes;
    Any copy = any;
    if (!is_borrowed(any)) return share(runtime_, any);
    if (!read_bytes(copy, bytes)) return wrong(any, "an object that it may keep");
    return any_of_bytes(runtime_, any.type_index == kByteArrayPtr ? Kind::kBytes : Kind::kString, bytes);
  }

  Status add_fences() {
    BATON_TRY_ASSIGN(const Ref<hal::Semaphore> semaphore, device_.make_semaphore(0));
    ready_ = hal::Fence::at(*semaphore, 1);
    const size_t last = function_.signature.arguments.size() - 1;
    slots_[last - 1] = vm::Value::of(static_cast<vm::Object*>(nullptr));
    objects_[last] = wrap(ready_).detach();
    slots_[last] = vm::Value::of(reinterpret_cast<vm::Object*>(objects_[last]));
    return {};
  }

  // ---- Order

  std::span<const hal::SemaphorePoint> ready_points() const {
    return ready_ ? ready_->points() : std::span<const hal::SemaphorePoint>();
  }

  Status order_caller() {
    if (stream_ >= 0) return device_.queue().hold_stream(static_cast<uint64_t>(stream_), ready_points());
    return ready_ ? ready_->wait() : Status();
  }

  // ---- Results

  size_t result_count() const { return function_.signature.results.size(); }
  baton_object* result_object(size_t index) { return reinterpret_cast<baton_object*>(results_[index].ref); }

  Status give(Any& out) {
    if (result_count() == 0) return {};
    if (result_count() == 1) return give_one(0, out);
    Places<Any, 8> all(result_count());
    Status status;
    for (size_t i = 0; status.ok() && i < result_count(); ++i) status = give_one(i, all[i]);
    if (status.ok()) status = make_array({all.data(), result_count()}, out);
    for (size_t i = 0; i < result_count(); ++i) runtime_.drop(all[i]);
    return status;
  }

  Status make_array(std::span<const Any> elements, Any& out) {
    constexpr std::string_view kName = "ffi.Array";
    const ByteArray name = {kName.data(), kName.size()};
    void* maker = nullptr;
    if (const int code = runtime_.function_get_global(&name, &maker); code != 0) return runtime_.take_error(code);
    if (!maker) return failure(StatusCode::kUnimplemented, "TVM-FFI's library has no '", kName, "'.");
    const int code = runtime_.function_call(maker, elements.data(), static_cast<int32_t>(elements.size()), &out);
    runtime_.release(maker);
    return code == 0 ? Status() : runtime_.take_error(code);
  }

  Status give_one(size_t index, Any& out) {
    const Parameter& parameter = function_.signature.results[index];
    if (parameter.kind <= Kind::kBool) return give_result(parameter, {results_[index].bits}, out);
    baton_object* object = result_object(index);
    if (!object || give_argument(object, out)) return {};  // None, without one.
    return give_object({runtime_, device_, stream_, ready_points()}, object, out);
  }

  // A tensor of the caller's that the program gives back is the same tensor.
  bool give_argument(const baton_object* object, Any& out) {
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (objects_[i] != object || arguments_[i].type_index != kTensor) continue;
      runtime_.retain(arguments_[i].object);
      out.type_index = kTensor;
      out.object = arguments_[i].object;
      return true;
    }
    return false;
  }

  const ProgramFunction& function_;
  const Runtime& runtime_;
  std::span<const Any> arguments_;
  Instance& instance_;
  hal::Device& device_;
  int64_t stream_ = hal::kNoStream;
  Ref<hal::Fence> ready_;
  Places<vm::Value, kSlotsInPlace> slots_;
  Places<baton_object*, kSlotsInPlace> objects_;
  Places<vm::Value, kSlotsInPlace> results_;
};

// A call with numbers and tensors of the host, and at most one result: it waits for nobody and owns nothing. Arguments go
// straight into the registers of the program's function.
class PlainCall {
 public:
  PlainCall(const ProgramFunction& function, const Any* arguments, Instance& instance)
      : function_(function),
        arguments_(arguments),
        instance_(instance),
        first_(instance.invocation->first_registers()) {}
  ~PlainCall() { instance_.loans->settle(); }
  PlainCall(const PlainCall&) = delete;
  PlainCall& operator=(const PlainCall&) = delete;

  // False: it is no such call, or something is wrong, of which ProgramCall says more; nothing was called yet.
  bool take_arguments() {
    vm::Value* value = first_.values;
    for (size_t i = 0; i < function_.plan.count; ++i) {
      const Kind kind = function_.plan.arguments[i];
      if (kind > Kind::kBool) {
        if (!take_tensor(arguments_[i])) return let_go();
      } else if (baton_value number; take_number(kind, arguments_[i], number)) {
        *value++ = vm::Value::from_bits(number.bits);
      } else {
        return let_go();
      }
    }
    return true;
  }

  Status run(Any& out) {
    BATON_TRY(instance_.invocation->run_in_place(instance_.exported[function_.export_index].function));
    const PlainCallPlan& plan = function_.plan;
    if (!plan.has_result) return {};
    if (plan.result <= Kind::kBool) {
      out = any_of_number(plan.result, {first_.values[0].bits});
      return {};
    }
    vm::Object* const result = std::exchange(first_.refs[0], nullptr);
    if (!result) return {};  // None.
    Status status = give(result, out);
    vm::release_object(result);
    return status;
  }

 private:
  bool take_tensor(const Any& any) {
    const baton_dl_tensor* tensor = tensor_in(any);
    if (!tensor || tensor->device.type != BATON_DL_CPU) return false;
    auto lent = instance_.loans->take(*tensor, owner_in(any));
    if (!lent) return false;
    baton_object_retain(*lent);
    lent_[count_] = {*lent, owner_in(any)};
    first_.refs[count_++] = reinterpret_cast<vm::Object*>(*lent);
    return true;
  }

  bool let_go() {
    for (size_t i = 0; i < count_; ++i) vm::release_object(std::exchange(first_.refs[i], nullptr));
    return false;
  }

  Status give(vm::Object* object, Any& out) const {
    const Runtime& runtime = *function_.program->runtime();
    auto* const result = reinterpret_cast<baton_object*>(object);
    for (size_t i = 0; i < count_; ++i) {  // The same tensor, as ProgramCall gives it.
      if (lent_[i].object != result || !lent_[i].owner) continue;
      runtime.retain(lent_[i].owner);
      out.type_index = kTensor;
      out.object = lent_[i].owner;
      return {};
    }
    return give_object({runtime, *instance_.device}, result, out);
  }

  struct Lent {
    baton_object* object;
    AnyObject* owner;
  };

  const ProgramFunction& function_;
  const Any* const arguments_;
  Instance& instance_;
  const vm::Invocation::FirstRegisters first_;
  size_t count_ = 0;
  Lent lent_[kPlainArgumentsMax];
};

// As PlainCall: false when the call needs the long way.
bool call_plainly(const ProgramFunction& function, std::span<const Any> arguments, Any& out, Status& status) {
  if (!function.is_plain || arguments.size() != function.plan.count) return false;
  Instance* const instance = function.program->instance_on_host();
  if (!instance || !instance->exported[function.export_index].runs_in_place) return false;
  const Entry entry(*instance);
  if (!entry) return false;
  PlainCall plain(function, arguments.data(), *instance);
  if (!plain.take_arguments()) return false;
  status = plain.run(out);
  return true;
}

// What a caller would let the function take from it is passed as what it is; it stays the caller's.
Status call_program(const ProgramFunction& function, std::span<const Any> arguments, Any& out);
[[gnu::cold, gnu::noinline]] Status call_with_movable(const ProgramFunction& function, std::span<const Any> arguments,
                                                      Any& out) {
  std::vector<Any> resolved(arguments.begin(), arguments.end());
  for (Any& any : resolved) {
    if (any.type_index != kMovable) continue;
    AnyObject* const object = *static_cast<AnyObject**>(any.pointer);
    any = Any();
    if (!object) continue;
    any.type_index = object->type_index;
    any.object = object;
  }
  return call_program(function, resolved, out);
}

[[gnu::noinline]] Status call_program(const ProgramFunction& function, std::span<const Any> arguments, Any& out) {
  for (const Any& any : arguments) {
    if (any.type_index == kMovable) [[unlikely]]
      return call_with_movable(function, arguments, out);
  }
  if (arguments.size() != function.argument_count) {
    return failure(StatusCode::kInvalidArgument, "It takes ", function.argument_count,
                   function.argument_count == 1 ? " argument, and " : " arguments, and ", arguments.size(),
                   arguments.size() == 1 ? " was given." : " were given.");
  }
  BATON_TRY_ASSIGN(Instance * instance, function.program->instance_for(arguments));
  const Entry entry(*instance);
  if (!entry) {
    return failure(StatusCode::kFailedPrecondition,
                   "The program is in a call: a function that it calls may not call it again on the same device.");
  }
  return ProgramCall(function, arguments, *instance).run(out);
}

[[gnu::cold, gnu::noinline]] int raise(const ProgramFunction& function, Status&& failed) {
  return function.program->runtime()->raise(
      std::move(failed).with_context(text("in function '", function.program->last().name(), ".", function.name, "'")));
}

int safe_call(void* self, const Any* arguments, int32_t count, Any* result) {
  const auto& function = *static_cast<const ProgramFunction*>(self);
  const std::span<const Any> all(arguments, static_cast<size_t>(count));
  Status status;
  if (!call_plainly(function, all, *result, status)) status = call_program(function, all, *result);
  return status.ok() ? 0 : raise(function, std::move(status));
}

// The arguments of a function that has numbers alone into its registers. False: ProgramCall says more.
bool place_numbers(const PlainCallPlan& plan, const Any* arguments, vm::Value* values) {
  for (size_t i = 0; i < plan.count; ++i) {
    baton_value number;
    if (!take_number(plan.arguments[i], arguments[i], number)) return false;
    values[i] = vm::Value::from_bits(number.bits);
  }
  return true;
}

// The same for a function that has numbers alone.
int safe_call_with_numbers(void* self, const Any* arguments, int32_t count, Any* result) {
  const auto& function = *static_cast<const ProgramFunction*>(self);
  const PlainCallPlan& plan = function.plan;
  Instance* const instance = function.program->instance_on_host();
  if (!instance || count != plan.count) [[unlikely]]
    return safe_call(self, arguments, count, result);
  const Instance::Export& exported = instance->exported[function.export_index];
  if (!exported.runs_in_place || !instance->turn.take()) [[unlikely]]
    return safe_call(self, arguments, count, result);
  vm::Value* const values = instance->invocation->first_registers().values;
  const bool placed = place_numbers(plan, arguments, values);
  Status status;
  if (placed) [[likely]] {
    status = instance->invocation->run_in_place(exported.function);
    if (status.ok() && plan.has_result) *result = any_of_number(plan.result, {values[0].bits});
  }
  instance->turn.give_back();
  if (!placed) [[unlikely]]
    return safe_call(self, arguments, count, result);
  return status.ok() ? 0 : raise(function, std::move(status));
}

Result<AnyObject*> LoadedProgram::function(std::string_view name) {
  const std::optional<uint32_t> found = last().find_export(name);
  if (!found) {
    const std::vector<std::string> all = names();
    const std::string near = nearest_names(name, std::vector<std::string_view>(all.begin(), all.end()));
    return failure(StatusCode::kNotFound, "Module '", last().name(), "' has no function '", name,
                   near.empty() ? "'." : "'; ", near);
  }
  auto made = std::make_unique<ProgramFunction>();
  made->program = Ref<LoadedProgram>(this);
  made->name = std::string(name);
  made->export_index = *found;
  BATON_TRY_ASSIGN(made->signature, parse_import(last().export_at(*found).signature));
  note_declared(app::declaration_of(last(), *found), made->signature);
  const std::vector<Parameter>& arguments = made->signature.arguments;
  const auto is_fence = [](const Parameter& each) { return each.kind == Kind::kFence; };
  made->has_fences = arguments.size() >= 2 && is_fence(arguments.back()) && is_fence(arguments[arguments.size() - 2]);
  if (std::count_if(arguments.begin(), arguments.end(), is_fence) != (made->has_fences ? 2 : 0)) {
    return failure(StatusCode::kUnimplemented, "Function '", last().name(), ".", name,
                   "' takes a fence that callers of TVM-FFI do not have; a wait and a signal fence, its last two "
                   "parameters, are made for them.");
  }
  made->is_plain = !made->has_fences && is_plain(made->signature);
  if (made->is_plain) made->plan = plan_of(made->signature);
  made->argument_count = arguments.size() - (made->has_fences ? 2 : 0);
  void* object = nullptr;
  const int code = runtime_->function_create(
      made.get(), made->is_plain && has_numbers_alone(made->signature) ? safe_call_with_numbers : safe_call,
      [](void* self) { delete static_cast<ProgramFunction*>(self); }, &object);
  if (code != 0) return runtime_->take_error(code);
  std::ignore = made.release();  // The object has it now.
  return static_cast<AnyObject*>(object);
}

}  // namespace

Result<Ref<Program>> Program::make(std::shared_ptr<const Runtime> runtime, ProgramOptions options) {
  sdk::bind_host(&host_table());
  if (options.modules.empty()) return failure(StatusCode::kInvalidArgument, "A program has at least one module.");
  return Ref<Program>(make_ref<LoadedProgram>(std::move(runtime), std::move(options)));
}

}  // namespace baton::modules::tvm_ffi
