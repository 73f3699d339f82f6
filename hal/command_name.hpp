// The name that people read of a command: that of its kernel or function, else its verb. The command need not be valid.
#pragma once

#include <string>

#include "hal/commands/all.hpp"
#include "hal/executable.hpp"
#include "hal/foreign_function.hpp"
#include "hal/host_function.hpp"

namespace baton::hal {

struct CommandName : FieldVisitor {
  void entry_point(std::string_view, const Executable* executable, uint32_t index) {
    if (!executable) return;
    executable_name = executable->name();
    if (index < executable->entry_points().size()) name = executable->entry_points()[index].name;
  }
  void object(std::string_view, HostFunction* function) {
    if (function) name = function->name();
  }
  void object(std::string_view, ForeignFunction* function) {
    if (function) name = function->name();
  }
  template <typename Object>
  void object(std::string_view, Object*) {}

  std::string name;
  std::string executable_name;
};

template <typename Command>
CommandName name_of(const Command& command) {
  CommandName visitor;
  Command::visit(command, visitor);
  if (visitor.name.empty()) visitor.name = command_verb(kind_of<std::remove_const_t<Command>>);
  return visitor;
}

}  // namespace baton::hal
