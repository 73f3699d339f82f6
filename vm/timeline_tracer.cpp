#include "vm/timeline_tracer.hpp"

#include "base/text.hpp"
#include "bytecode/instruction_reader.hpp"
#include "vm/program.hpp"

namespace baton::vm {
namespace {

using bytecode::Opcode;

std::string function_name(const LinkedModule& module, const Function& function) {
  const std::string_view name = module.bytecode->view().function_name(function.index);
  return name.empty() ? text(module.module->name(), ".function ", function.index)
                      : text(module.module->name(), ".", name);
}

}  // namespace

TimelineTracer::Next TimelineTracer::next_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::call: return Next::kEnters;
    case Opcode::call_import:
    case Opcode::call_variadic:
    case Opcode::call_lend: return Next::kMayEnter;
    case Opcode::call_tail: return Next::kReplaces;
    case Opcode::ret:
    case Opcode::ret_value: return Next::kLeaves;
    default: return Next::kStays;
  }
}

void TimelineTracer::instruction(const LinkedModule& module, const Function& function, uint32_t pc) {
  const uint64_t* const word = function.code + pc;
  const Opcode opcode = bytecode::read_opcode(word);
  const Next last = std::exchange(next_, next_of(opcode));
  if (last == Next::kStays && next_ == Next::kStays) [[likely]]
    return;
  const int64_t now_ns = Timeline::clock_ns();
  const bool stepped_over = word == behind_import_;
  if (import_.label) end_import(stepped_over, now_ns);
  if ((last == Next::kLeaves || last == Next::kReplaces) && !frames_.empty()) {
    end_span(frames_.back(), now_ns, 0);
    timeline_.range_ends();
    frames_.pop_back();
  }
  const bool enters = last == Next::kEnters || last == Next::kReplaces || (last == Next::kMayEnter && !stepped_over);
  if (enters || frames_.empty()) {
    frames_.push_back({function_label(module, function), now_ns});
    timeline_.range_begins(*frames_.back().label);
  }
  if (next_ == Next::kMayEnter) begin_import(module, function, pc, now_ns);
}

void TimelineTracer::finish() {
  const int64_t now_ns = Timeline::clock_ns();
  if (import_.label) end_import(true, now_ns);
  for (; !frames_.empty(); frames_.pop_back()) {
    end_span(frames_.back(), now_ns, 0);
    timeline_.range_ends();
  }
  next_ = Next::kEnters;
}

// An import that is bytecode of another module ends with its own frame.
void TimelineTracer::end_import(bool stepped_over, int64_t now_ns) {
  if (stepped_over) end_span(import_, now_ns, call_.flow);
  import_.label = nullptr;
  timeline_.range_ends();
  Timeline::current_call() = around_;
}

void TimelineTracer::begin_import(const LinkedModule& module, const Function& function, uint32_t pc, int64_t now_ns) {
  const uint64_t* const word = function.code + pc;
  import_ = {import_label(module, function, pc), now_ns};
  timeline_.range_begins(*import_.label);
  behind_import_ = word + bytecode::instruction_words(word, bytecode::info(bytecode::read_opcode(word)));
  call_ = {import_.label, 0};
  around_ = std::exchange(Timeline::current_call(), &call_);
}

void TimelineTracer::end_span(const Open& open, int64_t now_ns, uint64_t flow) {
  timeline_.add({open.begin_ns, now_ns - open.begin_ns, open.label, flow, 0});
}

const Timeline::Label* TimelineTracer::function_label(const LinkedModule& module, const Function& function) {
  const Timeline::Label*& label = labels_[&function];
  if (!label) label = timeline_.label(function_name(module, function), "vm");
  return label;
}

const Timeline::Label* TimelineTracer::import_label(const LinkedModule& module, const Function& function, uint32_t pc) {
  const Timeline::Label*& label = labels_[function.code + pc];
  if (label) return label;
  const bytecode::ModuleView& view = module.bytecode->view();
  Timeline::Facts facts = {{"called by", function_name(module, function)}};
  if (const auto source = view.location(view.function(function.index).code_begin + pc)) {
    facts.emplace_back("line", text(source->file, ":", source->line, ":", source->column));
  }
  const uint16_t import = bytecode::read_u16<1>(function.code + pc);  // The first operand of all three calls.
  return label = timeline_.make_label(view.import(import).name, "import", std::move(facts));
}

}  // namespace baton::vm
