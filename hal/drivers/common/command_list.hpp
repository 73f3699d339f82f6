// CommandList: a recording that remembers its commands as they were recorded, to be printed and looked through.
//
// The null driver's recording, and the way to see what a program records. Commands are copied into the recording's
// arena.
// Threads: as Recording.
#pragma once

#include <memory>

#include "hal/commands/all.hpp"
#include "hal/recording.hpp"

namespace baton::hal {

class CommandList : public Recording {
 public:
  CommandList(Device& device, const RecordingOptions& options) : Recording(device, options) {}

  template <typename Command>
  void append(const Command& command);

  // Calls visit(index, command) with each command as its own type.
  template <typename Visit>
  void for_each(Visit&& visit) const;

 private:
  struct Entry {
    Entry* next;
    CommandKind kind;
  };
  template <typename Command>
  struct Stored : Entry {
    Command command;
  };
  struct CopyingNoter;

  Entry* first_ = nullptr;
  Entry** end_ = &first_;
};

// Moves what a copied command only borrows into the arena, while it notes the command.
struct CommandList::CopyingNoter : Noter {
  explicit CopyingNoter(CommandList& into) : Noter(into), arena(into.arena_) {}
  void bindings(std::string_view name, std::span<const Binding>& list, BufferUsage bound) {
    list = arena.copy(list);
    Noter::bindings(name, list, bound);
  }
  void constants(std::string_view, std::span<const uint32_t>& words) { words = arena.copy(words); }
  void constant_slots(std::string_view, std::span<const ConstantSlot>& slots) { slots = arena.copy(slots); }
  void bytes(std::string_view, std::span<const std::byte>& data) { data = arena.copy(data); }
  Arena& arena;
};

template <typename Command>
void CommandList::append(const Command& command) {
  auto* stored = arena_.make<Stored<Command>>(Entry{nullptr, kind_of<Command>}, command);
  CopyingNoter noter(*this);
  note(stored->command, noter);
  *end_ = stored;
  end_ = &stored->next;
}

template <typename Visit>
void CommandList::for_each(Visit&& visit) const {
  uint32_t index = 0;
  for (const Entry* entry = first_; entry; entry = entry->next, ++index) {
    switch (entry->kind) {
#define COMMAND(Struct, verb, category)                                         \
  case CommandKind::k##Struct:                                                  \
    visit(index, static_cast<const Stored<commands::Struct>*>(entry)->command); \
    break;
#include "hal/commands/commands.inc"
#undef COMMAND
    }
  }
}

}  // namespace baton::hal
