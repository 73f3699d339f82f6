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
#include "vm/list.hpp"
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

// An argument that its caller gives up by handing it over: made when nothing but the call itself can fail any more.
struct Later {
  nb::object make;
};
PyTypeObject* later_type = nullptr;

bool is_later(PyObject* value) { return Py_TYPE(value) == later_type; }

void convert_argument(const Function& function, size_t index, PyObject* value, Surroundings& around, Slots& slots) {
  try {
    nb::object made;
    if (is_later(value)) {
      made = nb::inst_ptr<Later>(value)->make();
      value = made.ptr();
    }
    to_value(value, function.arguments[index], around, slots.values[index], slots.owned[index]);
  } catch (nb::python_error& error) {
    name_argument(error, function, index);
  } catch (nb::builtin_exception& error) {
    PyErr_SetString(error.type() == nb::exception_type::type_error ? PyExc_TypeError : PyExc_ValueError, error.what());
    nb::python_error raised;
    name_argument(raised, function, index);
  }
}

void convert_arguments(const Function& function, PyObject* args, Surroundings& around, Slots& slots) {
  bool any_later = false;
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    PyObject* value = PyTuple_GetItem(args, static_cast<Py_ssize_t>(i));
    if (is_later(value)) {
      any_later = true;
    } else {
      convert_argument(function, i, value, around, slots);
    }
  }
  for (size_t i = 0; any_later && i < function.arguments.size(); ++i) {
    PyObject* value = PyTuple_GetItem(args, static_cast<Py_ssize_t>(i));
    if (is_later(value)) convert_argument(function, i, value, around, slots);
  }
}

// The tensors that an argument is, or holds: a list may hold lists, and itself.
void add_ranges(baton_object* object, size_t number, bool is_written, std::vector<MemoryRange>& ranges) {
  std::vector<const vm::List*> lists;
  const auto add = [&](baton_object* one, bool written) {
    if (auto* handle = sdk::cast<modules::Handle<hal::BufferView>>(one)) {
      ranges.push_back(range_of(**handle, number, written));
    } else if (const vm::List* list = vm::as_list(reinterpret_cast<vm::Object*>(one))) {
      if (std::find(lists.begin(), lists.end(), list) == lists.end()) lists.push_back(list);
    }
  };
  add(object, is_written);
  for (size_t next = 0; next < lists.size(); ++next) {
    const vm::List& list = *lists[next];
    for (uint64_t i = 0; i < list.size(); ++i) {
      const vm::List::Element& element = list.elements[i];
      if (bytecode::is_ref(element.type)) add(reinterpret_cast<baton_object*>(element.value.ref), false);
    }
  }
}

// A function writes in what it consumes while it reads its other arguments, each of which it takes to be memory of its own.
void check_consumed(const Function& function, const Slots& slots) {
  std::vector<MemoryRange> all;
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    add_ranges(slots.owned[i].get(), i, function.arguments[i].is_consumed, all);
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
  invocation->watch(watch_interrupts());
  Status status;
  if (Timeline* const timeline = active_timeline()) [[unlikely]] {
    status = run_traced(*timeline, *invocation, function, arguments, results);
  } else {
    const Unlocked unlocked;
    status = invocation->invoke_slots(function.function, arguments, results);
  }
  raise_interrupt(status);
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

// Where one of `stops` stands in `text`, outside of all brackets and strings; its size where none does.
size_t find_outside(std::string_view text, std::string_view stops) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0 && stops.find(c) != stops.npos) return i;
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
    } else if (c == '-' && text.substr(i).starts_with("->")) {
      ++i;  // No bracket.
    } else {
      depth += std::string_view("<({[").find(c) != std::string_view::npos;
      depth -= std::string_view(">)}]").find(c) != std::string_view::npos;
    }
  }
  return text.size();
}

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

// "%x: tensor<?x4xf32>, %n: i8 {a = 0 : i64}", as a declaration has them between its brackets: what each says that the
// signature does not.
void note_types(std::string_view list, std::vector<Parameter>& parameters) {
  std::vector<std::string_view> types;
  while (!list.empty()) {
    const size_t end = find_outside(list, ",");
    std::string_view one = without_blanks(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (one.starts_with('%')) one = without_blanks(one.substr(std::min(one.find(':'), one.size() - 1) + 1));
    types.push_back(one.substr(0, find_outside(one, " {")));  // Without its attributes.
  }
  if (types.size() != parameters.size()) return;
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].starts_with("tensor<")) parameters[i].element = element_in(types[i]);
    if (parameters[i].kind == Kind::kI32 || parameters[i].kind == Kind::kI64) parameters[i].element = types[i];
  }
}

// "sync func @f(%x: tensor<?x4xf32>, %n: i32) -> (%y: i8)", or with one type behind the arrow.
void note_declared(std::string_view declaration, Function& function) {
  const size_t open = declaration.find('(');
  if (open == declaration.npos) return;
  declaration.remove_prefix(open + 1);
  const size_t close = find_outside(declaration, ")");
  note_types(declaration.substr(0, close), function.arguments);
  declaration.remove_prefix(std::min(close + 1, declaration.size()));
  std::string_view results = without_blanks(declaration);
  if (!results.starts_with("->")) return;
  results = without_blanks(results.substr(2));
  if (results.starts_with('(')) results = results.substr(1, find_outside(results.substr(1), ")"));
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
  nb::object later = nb::class_<Later>(module, "Later", nb::type_slots(kNoConstructorAlone), nb::is_final());
  later_type = reinterpret_cast<PyTypeObject*>(later.release().ptr());  // Kept.
  module.def("later", [](nb::object make) { return Later{std::move(make)}; });
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
