#include "python/extension/function.hpp"

#include <algorithm>
#include <optional>

#include "bytecode/module_view.hpp"
#include "modules/hal_module/objects.hpp"
#include "python/extension/element_types.hpp"
#include "python/extension/interrupts.hpp"
#include "python/extension/no_constructor.hpp"
#include "python/extension/overlaps.hpp"
#include "python/extension/trace.hpp"
#include "vm/stack.hpp"
#include "vm/timeline_tracer.hpp"

namespace baton::python {
namespace {

constexpr size_t kSlotsInPlace = 16;

// Arguments or results of one call: in place when they are few.
struct Slots {
  explicit Slots(size_t slot_count) : count(slot_count) {
    if (count <= kSlotsInPlace) return;
    more_values.resize(count);
    more_owned.resize(count);
    values = more_values.data();
    owned = more_owned.data();
  }
  std::span<vm::Value> all() const { return {values, count}; }

  size_t count;
  vm::Value few_values[kSlotsInPlace];
  OwnedObject few_owned[kSlotsInPlace];
  std::vector<vm::Value> more_values;
  std::vector<OwnedObject> more_owned;
  vm::Value* values = few_values;
  OwnedObject* owned = few_owned;
};

// The fences of a call that takes them: what its tensors wait for, and what its results are there at.
struct Fences {
  std::vector<Ref<hal::Fence>> waits;
  Ref<hal::Fence> ready;
  OwnedObject wait_object;
  OwnedObject signal_object;

  void make(const Function& function) {
    const std::span devices = function.loaded->devices();
    if (devices.empty()) {
      raise(failure(StatusCode::kInvalidArgument, "function '", function.name,
                    "' takes fences, and the program was loaded without a device"));
    }
    const Ref<hal::Semaphore> semaphore = take(devices[0]->device().make_semaphore(0));
    ready = hal::Fence::at(*semaphore, 1);
    if (!waits.empty()) wait_object = OwnedObject(modules::wrap(joined()).detach());
    signal_object = OwnedObject(modules::wrap(ready).detach());
  }
  Ref<hal::Fence> joined() const {
    std::vector<const hal::Fence*> all;
    for (const Ref<hal::Fence>& wait : waits) all.push_back(wait.get());
    return hal::Fence::join(all);
  }
};

[[noreturn]] void wrong_count(const Function& function, size_t given) {
  throw nb::type_error(text(function.declaration, " takes ", function.arguments.size(), " arguments, and ", given,
                            given == 1 ? " was given" : " were given")
                           .c_str());
}

// The same error, with the function and the argument in its text.
[[noreturn]] void name_argument(nb::python_error& error, const Function& function, size_t index) {
  if (PyErr_GivenExceptionMatches(error.type().ptr(), PyExc_Exception)) {
    const std::string note =
        text("argument ", index + 1, " of ", function.declaration.empty() ? function.name : function.declaration);
    nb::module_::import_("baton._errors").attr("add_place")(error.value(), note.c_str());
  }
  throw std::move(error);
}

void convert_arguments(const Function& function, PyObject* args, Surroundings& around, Slots& slots) {
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    PyObject* value = PyTuple_GetItem(args, static_cast<Py_ssize_t>(i));
    try {
      to_value(value, function.arguments[i], around, slots.values[i], slots.owned[i]);
    } catch (nb::python_error& error) {
      name_argument(error, function, i);
    } catch (nb::builtin_exception& error) {
      PyErr_SetString(error.type() == nb::exception_type::type_error ? PyExc_TypeError : PyExc_ValueError,
                      error.what());
      nb::python_error raised;
      name_argument(raised, function, i);
    }
  }
}

// A function writes in what it consumes while it reads its other arguments, each of which it takes to be memory of its own.
void check_consumed(const Function& function, const Slots& slots) {
  std::vector<MemoryRange> all;
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    auto* handle = sdk::cast<modules::Handle<hal::BufferView>>(slots.owned[i].get());
    if (handle) all.push_back(range_of(**handle, i, function.arguments[i].is_consumed));
  }
  const std::optional<Overlap> found = find_overlap(all);
  if (!found) return;
  raise(failure(StatusCode::kInvalidArgument, "argument ", found->written + 1,
                " is consumed: the function may write in its memory, where argument ", found->other + 1,
                " lies, too; copy one of them\n  in a call of ", function.declaration));
}

Status run_traced(Timeline& timeline, vm::Invocation& invocation, const Function& function,
                  std::span<const vm::Value> arguments, std::span<vm::Value> results) {
  std::unique_ptr<vm::TimelineTracer> tracer = function.loaded->take_tracer(timeline);
  Status status;
  {
    const Unlocked unlocked;
    invocation.set_tracer(tracer.get());
    status = invocation.invoke_slots(function.function, arguments, results);
    tracer->finish();
    invocation.set_tracer(nullptr);
  }
  function.loaded->give_back(timeline, std::move(tracer));
  return status;
}

Status run(const Function& function, std::span<const vm::Value> arguments, std::span<vm::Value> results) {
  LoadedProgram& program = *function.loaded;
  std::unique_ptr<vm::Invocation> invocation = program.take_invocation();
  const Limits& limits = program.limits();
  invocation->set_deadline(limits.timeout_ns ? vm::monotonic_clock_ns() + limits.timeout_ns : 0);
  invocation->set_instruction_budget(limits.instructions);
  Status status;
  {
    Interruptible interruptible(*invocation, function.was_brief);
    Timeline* const timeline = active_timeline();
    if (timeline) [[unlikely]] {
      status = run_traced(*timeline, *invocation, function, arguments, results);
    } else {
      const Unlocked unlocked;
      status = invocation->invoke_slots(function.function, arguments, results);
    }
    interruptible.check(status);
  }
  program.give_back(std::move(invocation));
  return status;
}

nb::object convert_results(const Function& function, Slots& slots, const Surroundings& around) {
  const size_t count = function.results.size();
  if (count == 0) return nb::none();
  if (count == 1) return from_value(slots.values[0], function.results[0], around);
  for (size_t i = 0; i < count; ++i) {  // Owned from here on, whatever becomes of the conversion of another.
    if (function.results[i].kind >= Kind::kTensor) {
      slots.owned[i] = OwnedObject(reinterpret_cast<baton_object*>(slots.values[i].ref));
    }
  }
  nb::object all = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; i < count; ++i) {
    slots.owned[i].detach();  // from_value() takes it over.
    PyTuple_SetItem(all.ptr(), static_cast<Py_ssize_t>(i),
                    from_value(slots.values[i], function.results[i], around).release().ptr());
  }
  return all;
}

// What the program waits for, or null: a program that takes no fences finds its arguments there.
Ref<hal::Fence> begin(std::optional<hal::Uploads>& uploads, Surroundings& around) {
  if (!uploads || uploads->empty()) return nullptr;
  auto begun = [&]() -> Result<Ref<hal::Fence>> {
    const Unlocked unlocked;
    if (around.waits) return uploads->begin();
    BATON_TRY(uploads->finish());
    return Ref<hal::Fence>();
  }();
  Ref<hal::Fence> ready = take(std::move(begun));
  if (ready) around.waits->push_back(ready);
  return ready;
}

nb::object call(const Function& function, PyObject* args) {
  if (!function.loaded) throw nb::type_error("the program of this function was collected");
  drop_left_over();
  forget_cause();
  check(function.loaded->check_usable());
  const auto given = static_cast<size_t>(PyTuple_Size(args));
  if (given != function.arguments.size()) wrong_count(function, given);
  const Ref<LoadedProgram> alive = function.loaded;
  const DropsHere drops;  // Arguments that nobody kept end with the call.
  Slots arguments(given + (function.takes_fences ? 2 : 0));
  Slots results(function.results.size());
  Fences fences;
  Surroundings around{alive->devices(), nullptr, function.takes_fences ? &fences.waits : nullptr};
  std::optional<hal::Uploads> uploads;
  if (!alive->devices().empty()) {
    around.uploads = &uploads.emplace(alive->devices()[0]->device(), alive->memory_owner());
  }
  convert_arguments(function, args, around, arguments);
  if (function.consumes) check_consumed(function, arguments);
  const Ref<hal::Fence> uploaded = begin(uploads, around);
  if (function.takes_fences) {
    fences.make(function);
    arguments.values[given] = vm::Value::of(reinterpret_cast<vm::Object*>(fences.wait_object.get()));
    arguments.values[given + 1] = vm::Value::of(reinterpret_cast<vm::Object*>(fences.signal_object.get()));
    around.ready = fences.ready;
  }
  check(run(function, arguments.all(), results.all()));
  return convert_results(function, results, around);
}

PyObject* call_slot(PyObject* self, PyObject* args, PyObject* keywords) noexcept {
  try {
    const Function& function = *nb::inst_ptr<Function>(self);
    if (keywords && PyDict_Size(keywords) != 0) {
      PyErr_Format(PyExc_TypeError, "function '%s' takes its arguments by place, not by name", function.name.c_str());
      return nullptr;
    }
    return call(function, args).release().ptr();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (nb::builtin_exception& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Function>(self)->callables.ptr());
  return 0;
}

int clear(PyObject* self) noexcept {
  Function& function = *nb::inst_ptr<Function>(self);
  release_program(std::move(function.loaded));
  function.callables.reset();
  return 0;
}

PyType_Slot slots[] = {kNoConstructor,
                       {Py_tp_call, reinterpret_cast<void*>(call_slot)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

std::string_view attribute_of(const vm::Program& program, const vm::ExportedFunction& function, std::string_view key) {
  const vm::BytecodeModule* module = program.modules()[function.module].bytecode;
  if (!module) return {};
  const bytecode::ModuleView& view = module->view();
  const uint32_t index = view.export_at(function.export_index).function;
  for (uint32_t i = 0; i < view.attribute_count(); ++i) {
    const bytecode::AttributeView attribute = view.attribute(i);
    if (attribute.function == index && attribute.key == key) return attribute.value;
  }
  return {};
}

// "%x: tensor<?x4xf32>, %n: i8", as a declaration has them between its brackets: what each says that the signature does not.
void note_types(std::string_view list, std::vector<Parameter>& parameters) {
  std::vector<std::string_view> types;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] != ',') {
      depth += (list[i] == '<') - (list[i] == '>');
    } else if (i == list.size() || depth == 0) {
      const std::string_view one = list.substr(begin, i - begin);
      const size_t colon = one.find(": ");
      const size_t blank = one.find_first_not_of(' ');
      types.push_back(colon != one.npos ? one.substr(colon + 2) : one.substr(std::min(blank, one.size())));
      begin = i + 1;
    }
  }
  if (types.size() != parameters.size()) return;
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].starts_with("tensor<")) parameters[i].element = element_in(types[i]);
    if (parameters[i].kind == Kind::kI32) parameters[i].element = types[i];
  }
}

// "sync func @f(%x: tensor<?x4xf32>, %n: i32) -> (%y: i8)", or with one type behind the arrow.
void note_declared(std::string_view declaration, Function& function) {
  const size_t open = declaration.find('('), arrow = declaration.find(") -> ");
  if (open == declaration.npos || arrow == declaration.npos || arrow < open) return;
  note_types(declaration.substr(open + 1, arrow - open - 1), function.arguments);
  std::string_view results = declaration.substr(arrow + 5);
  if (results.starts_with('(') && results.ends_with(')')) results = results.substr(1, results.size() - 2);
  note_types(results, function.results);
}

// abi.consumes = "0,2": the numbers of arguments.
void note_consumed(std::string_view numbers, Function& function) {
  size_t number = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < '0' || numbers[i] > '9') return;
    number = number * 10 + static_cast<size_t>(numbers[i] - '0');
    if (number >= function.arguments.size()) return;
    if (i + 1 < numbers.size() && numbers[i + 1] != ',') continue;
    function.arguments[number].is_consumed = function.consumes = true;
    number = 0;
    ++i;
  }
}

}  // namespace

Function find_function(const Program& program, const char* name) {
  if (!program.loaded) throw nb::type_error("the program was collected");
  const vm::Program& linked = program.loaded->context().program();
  Function found;
  found.function = take(linked.find_function(name));
  found.callables = program.callables;
  found.loaded = program.loaded;
  found.name = name;
  found.arguments = parameters_of(bytecode::arguments_of(found.function.signature));
  found.results = parameters_of(bytecode::results_of(found.function.signature));
  if (attribute_of(linked, found.function, "abi.model") == "coarse-fences" && found.arguments.size() >= 2) {
    found.takes_fences = true;
    found.arguments.resize(found.arguments.size() - 2);
  }
  for (const std::string_view key : {"abi.declaration", "iree.abi.declaration"}) {
    if (found.declaration.empty()) found.declaration = attribute_of(linked, found.function, key);
  }
  note_declared(found.declaration, found);
  note_consumed(attribute_of(linked, found.function, "abi.consumes"), found);
  if (found.declaration.empty()) {
    found.declaration = text("func @", name, bytecode::describe_signature(found.function.signature));
  }
  return found;
}

void bind_functions(nb::module_& module) {
  nb::class_<Function>(module, "Function", nb::type_slots(slots), nb::is_final())
      .def_ro("name", &Function::name)
      .def_ro("declaration", &Function::declaration)
      .def_ro("is_async", &Function::takes_fences)
      .def_prop_ro("signature",
                   [](const Function& function) { return nb::str(std::string(function.function.signature).c_str()); })
      .def("__repr__", [](const Function& function) {
        return nb::str(text("<baton.Function ", function.declaration, ">").c_str());
      });
}

}  // namespace baton::python
