#include "hal/drivers/null/trace.hpp"

#include "base/json_text.hpp"
#include "hal/drivers/common/hazards.hpp"
#include "hal/drivers/null/work.hpp"

namespace baton::hal::drivers::null {
namespace {

void append_work_text(std::string& target, const Work& work) {
  const std::string_view bound = work.bounded ? " " : " <= ";
  std::string_view joint = " | ";
  const auto part = [&](auto... pieces) {
    target += joint;
    (append_text(target, pieces), ...);
    joint = ", ";
  };
  if (work.workgroups) part(work.workgroups, " workgroups");
  if (work.bytes_read) part("reads", bound, work.bytes_read);
  if (work.bytes_written) part("writes", bound, work.bytes_written);
}

void append_work_json(std::string& target, const Work& work) {
  target += text(",\"work\":{\"bytes_read\":", work.bytes_read, ",\"bytes_written\":", work.bytes_written,
                 ",\"workgroups\":", work.workgroups, ",\"bounded\":", work.bounded ? "true" : "false", "}");
}

std::string_view verb_of(HazardKind kind, bool second) {
  const bool reads = second ? kind == HazardKind::kReadAfterWrite : kind == HazardKind::kWriteAfterRead;
  return reads ? "reads" : "writes";
}

void append_hazard_text(std::string& target, const Hazard& hazard, BufferNumbers& numbers) {
  target += text("! ", hazard_name(hazard.kind), ": ", command_verb(hazard.second), " ", hazard.second_index, " ",
                 verb_of(hazard.kind, true), " ");
  append_range_text(target, hazard.range, numbers);
  target += text(" that ", command_verb(hazard.first), " ", hazard.first_index, " ", verb_of(hazard.kind, false),
                 ", with no barrier between them\n");
}

void append_hazard_json(std::string& target, const Hazard& hazard, BufferNumbers& numbers) {
  const auto side = [](CommandKind kind, uint32_t index) {
    return text("{\"command\":\"", command_verb(kind), "\",\"index\":", index, "}");
  };
  std::string range;
  append_range_text(range, hazard.range, numbers);
  target += text("{\"event\":\"hazard\",\"kind\":\"", hazard_name(hazard.kind),
                 "\",\"first\":", side(hazard.first, hazard.first_index),
                 ",\"second\":", side(hazard.second, hazard.second_index), ",\"range\":\"", range, "\"}\n");
}

}  // namespace

void Trace::execute(const CommandList& commands, const BindingTable& table) {
  if (!options_.sink) return;
  std::lock_guard lock(mutex_);
  if (options_.json) {
    execute_json(commands, table);
  } else {
    execute_text(commands, table);
  }
  ++execution_count_;
}

void Trace::host_call(std::string_view name) {
  if (!options_.sink) return;
  std::lock_guard lock(mutex_);
  if (!options_.json) return options_.sink->write(text("host_call ", name, "\n"));
  std::string line = "{\"event\":\"host_call\",\"function\":";
  append_json_string(line, name);
  options_.sink->write(line += "}\n");
}

void Trace::execute_text(const CommandList& commands, const BindingTable& table) {
  std::string lines =
      text("execute \"", commands.name(), "\" #", execution_count_, " ", commands.command_count(), " commands\n");
  commands.for_each([&](uint32_t index, const auto& command) {
    lines += "  ";
    append_command_text(lines, index, command, {numbers_, table.buffers, table.constants});
    append_work_text(lines, work_of(command, table.buffers));
    lines += '\n';
  });
  for (const Hazard& hazard : find_hazards(commands, table.buffers)) append_hazard_text(lines, hazard, numbers_);
  options_.sink->write(lines);
}

void Trace::execute_json(const CommandList& commands, const BindingTable& table) {
  std::string lines = "{\"event\":\"execute\",\"recording\":";
  append_json_string(lines, commands.name());
  lines += text(",\"execution\":", execution_count_, ",\"commands\":", commands.command_count(), "}\n");
  commands.for_each([&](uint32_t index, const auto& command) {
    lines += "{\"event\":\"command\",";
    append_command_json(lines, index, command, {numbers_, table.buffers, table.constants});
    append_work_json(lines, work_of(command, table.buffers));
    lines += "}\n";
  });
  for (const Hazard& hazard : find_hazards(commands, table.buffers)) append_hazard_json(lines, hazard, numbers_);
  options_.sink->write(lines);
}

}  // namespace baton::hal::drivers::null
