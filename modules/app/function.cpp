#include "modules/app/function.hpp"

#include "base/text.hpp"
#include "bytecode/signature.hpp"
#include "hal/allocator.hpp"

namespace baton::app {
namespace {

constexpr std::string_view kTensor = "r<hal.buffer_view>";

std::string name_of(const detail::ExpectedType& type) {
  if (type.tensor) {
    return type.element == hal::ElementType::kNone ? "Tensor"
                                                   : text("TensorOf<", hal::element_type_name(type.element), ">");
  }
  switch (type.letter) {
    case 'i': return "i32";
    case 'I': return "i64";
    case 'f': return "f32";
    case 'F': return "f64";
    default: return "reference";
  }
}

std::string names_of(std::span<const detail::ExpectedType> types) {
  std::string names = "(";
  for (const detail::ExpectedType& type : types) names += text(names.size() > 1 ? ", " : "", name_of(type));
  return names + ")";
}

// The parameters of one side of a signature: "i", "r<hal.buffer_view>".
std::vector<std::string> slots_of(std::string_view side) {
  std::vector<std::string> slots;
  for (size_t i = 0; i < side.size(); ++i) {
    if (side[i] == '<') {
      const size_t end = side.find('>', i);
      slots.back() += side.substr(i, end - i + 1);
      i = end;
    } else if (side[i] != 'v') {
      slots.emplace_back(1, side[i]);
    }
  }
  return slots;
}

// A reference without a type may be anything.
bool matches(const std::string& slot, const detail::ExpectedType& expected) {
  if (slot[0] != expected.letter) return false;
  return !expected.tensor || slot == "r" || slot == kTensor;
}

// A type that the program declares, and what the app takes it for.
bool matches_declared(const std::string& declared, const detail::ExpectedType& expected) {
  const std::string_view element = element_of(declared);
  if (element.empty() || expected.element == hal::ElementType::kNone) return true;
  const auto type = hal::parse_element_type(element);
  return !type || same_element(*type, expected.element);
}

}  // namespace

Result<Tensor> detail::Slot<Tensor>::load(vm::Value value, const Ref<hal::Device>& device) {
  const auto object = sdk::Ref<baton_object>::adopt(reinterpret_cast<baton_object*>(value.ref));
  if (!object) return Tensor();
  hal::BufferView* view = modules::unwrap<hal::BufferView>(object.get());
  if (!view) return failure(StatusCode::kFailedPrecondition, "A result that was taken for a tensor is another object.");
  // The app's device may stand in front of that whose memory it is; a program of several gives tensors of others.
  const hal::Allocator* const memory = view->buffer()->allocator();
  const bool same = device && &device->allocator() == memory;
  return Tensor(same ? device : Ref<hal::Device>(memory->device()), Ref<hal::BufferView>(view));
}

Result<FunctionBase> FunctionBase::look_up(const Ref<vm::Context>& context, std::string_view name,
                                           Ref<hal::Device> device, Types arguments, Types results) {
  FunctionBase found;
  BATON_TRY_ASSIGN(found.function_, context->find_function(name));
  found.declaration_ = declaration_of(context->program(), found.function_);
  found.device_ = std::move(device);
  BATON_TRY(found.check_types(arguments, results));
  if (found.declaration_.takes_fences && !found.device_) {
    return failure(StatusCode::kInvalidArgument, "function '", name,
                   "' works behind fences: find() needs the device that they come from");
  }
  found.invocation_ = std::make_unique<vm::Invocation>(context);
  return found;
}

Status FunctionBase::check_types(Types arguments, Types results) const {
  std::vector<std::string> taken = slots_of(bytecode::arguments_of(function_.signature));
  const std::vector<std::string> given = slots_of(bytecode::results_of(function_.signature));
  if (fences() != 0 && taken.size() >= 2) taken.resize(taken.size() - 2);
  bool fit = taken.size() == arguments.size() && given.size() == results.size();
  for (size_t i = 0; fit && i < taken.size(); ++i) fit = matches(taken[i], arguments[i]);
  for (size_t i = 0; fit && i < given.size(); ++i) fit = matches(given[i], results[i]);
  const bool declared =
      declaration_.arguments.size() == arguments.size() && declaration_.results.size() == results.size();
  for (size_t i = 0; fit && declared && i < arguments.size(); ++i) {
    fit = matches_declared(declaration_.arguments[i], arguments[i]);
  }
  for (size_t i = 0; fit && declared && i < results.size(); ++i) {
    fit = matches_declared(declaration_.results[i], results[i]);
  }
  if (fit) return {};
  return failure(StatusCode::kInvalidArgument, "function '", function_.name, "' is ", declaration_.text,
                 "; it was taken for ", names_of(arguments), " -> ", names_of(results));
}

Status FunctionBase::check_tensor(size_t index, const Tensor& tensor) const {
  if (index >= declaration_.arguments.size()) return {};
  const std::string& type = declaration_.arguments[index];
  if (!tensor) {
    if (element_of(type).empty()) return {};
    return failure(StatusCode::kInvalidArgument, "argument ", index, " of '", function_.name, "' is a ", type,
                   ", and no tensor was given; it is ", declaration_.text);
  }
  const auto element = hal::parse_element_type(element_of(type));
  const std::vector<int64_t> shape(tensor.shape().begin(), tensor.shape().end());
  if (fits(type, shape) && (!element || same_element(*element, tensor.element_type()))) return {};
  return failure(StatusCode::kInvalidArgument, "argument ", index, " of '", function_.name, "' is a ", type, ", and a ",
                 tensor.type_text(), " was given; it is ", declaration_.text);
}

Status FunctionBase::take_tensor(size_t index, const Tensor& tensor) {
  BATON_TRY(check_tensor(index, tensor));
  if (!tensor.ready()) return {};
  if (!ready_) ready_ = make_ref<hal::Fence>();
  for (const hal::SemaphorePoint& point : tensor.ready()->points()) ready_->insert(point);
  return {};
}

void FunctionBase::trace(Timeline* timeline) {
  tracer_ = timeline ? std::make_unique<vm::TimelineTracer>(*timeline) : nullptr;
  invocation_->set_tracer(tracer_.get());
}

Status FunctionBase::invoke(std::span<const vm::Value> arguments, std::span<vm::Value> results) {
  Status status = invocation_->invoke_slots(function_, arguments, results);
  if (tracer_) [[unlikely]]
    tracer_->finish();
  return status;
}

Status FunctionBase::call(std::span<vm::Value> arguments, std::span<vm::Value> results) {
  const Ref<hal::Fence> ready = std::exchange(ready_, nullptr);
  if (fences() == 0) {
    if (ready) BATON_TRY(ready->wait());
    return invoke(arguments, results);
  }
  BATON_TRY_ASSIGN(const Ref<hal::Semaphore> semaphore, device_->make_semaphore(0));
  const Ref<hal::Fence> fence = hal::Fence::at(*semaphore, 1);
  const auto signal = modules::wrap(fence);
  const auto wait = ready ? modules::wrap(ready) : nullptr;
  arguments[arguments.size() - 2] = vm::Value::of(reinterpret_cast<vm::Object*>(wait.get()));
  arguments[arguments.size() - 1] = vm::Value::of(reinterpret_cast<vm::Object*>(signal.get()));
  BATON_TRY(invoke(arguments, results));
  Status done = fence->wait();
  if (done.ok()) return done;
  const std::vector<std::string> slots = slots_of(bytecode::results_of(function_.signature));
  for (size_t i = 0; i < results.size(); ++i) {
    if (slots[i][0] == 'r') vm::release_object(results[i].ref);
  }
  return std::move(done).with_context(text("in what '", function_.name, "' began"));
}

Result<TensorFunction> TensorFunction::find(const Ref<vm::Context>& context, std::string_view name,
                                            Ref<hal::Device> device, size_t argument_count, size_t result_count) {
  const std::vector<detail::ExpectedType> arguments(argument_count, detail::Slot<Tensor>::kType);
  const std::vector<detail::ExpectedType> results(result_count, detail::Slot<Tensor>::kType);
  BATON_TRY_ASSIGN(FunctionBase found, look_up(context, name, std::move(device), arguments, results));
  return TensorFunction(std::move(found));
}

Result<std::vector<Tensor>> TensorFunction::call(std::span<const Tensor> arguments, size_t result_count) {
  std::vector<detail::Slot<Tensor>::Held> held;
  std::vector<vm::Value> slots;
  for (size_t i = 0; i < arguments.size(); ++i) {
    BATON_TRY(take_tensor(i, arguments[i]));
    slots.push_back(held.emplace_back(arguments[i]).value);
  }
  slots.resize(slots.size() + fences());
  std::vector<vm::Value> values(result_count);
  BATON_TRY(FunctionBase::call(slots, values));
  std::vector<Tensor> results;
  Status failed;
  for (const vm::Value& value : values) {
    auto loaded = detail::Slot<Tensor>::load(value, device());
    if (loaded) {
      results.push_back(*std::move(loaded));
    } else if (failed.ok()) {
      failed = std::move(loaded).error();
    }
  }
  BATON_TRY(std::move(failed));
  return results;
}

}  // namespace baton::app
