#include "hal/drivers/common/command_text.hpp"

#include <algorithm>

#include "base/json_text.hpp"

namespace baton::hal {
namespace {

// Calls print(command) with `command` as its own type.
template <typename Print>
void with_command(CommandKind kind, const void* command, Print&& print) {
  switch (kind) {
#define COMMAND(Struct, verb, category) \
  case CommandKind::k##Struct:          \
    return print(*static_cast<const commands::Struct*>(command));
#include "hal/commands/commands.inc"
#undef COMMAND
  }
}

template <typename... Parts>
void add(std::string& target, const Parts&... parts) {
  (append_text(target, parts), ...);
}

template <typename List, typename Item>
void add_list(std::string& target, std::string_view joint, const List& list, Item&& item) {
  target += '[';
  for (size_t i = 0; i < list.size(); ++i) {
    if (i != 0) target += joint;
    item(list[i]);
  }
  target += ']';
}

class TextPrinter : public FieldVisitor {
 public:
  TextPrinter(std::string& target, const TextContext& context) : target_(target), context_(context) {}

  void binding(std::string_view name, const Binding& one, BufferUsage) {
    key(name);
    range(one);
  }
  void bindings(std::string_view name, std::span<const Binding> list, BufferUsage bound) {
    key(name);
    add_list(target_, ", ", list, [&](const Binding& one) {
      range(one);
      if (bound != BufferUsage::kNone) add(target_, " ", access_name(one.access));
    });
  }
  void object(std::string_view, const Executable*) {}  // Told by its entry point.
  template <typename Object>
  void object(std::string_view name, const Object* shared) {
    key(name);
    add(target_, shared->name());
  }
  void entry_point(std::string_view name, const Executable* executable, uint32_t index) {
    key(name);
    add(target_, executable->name(), ".", executable->entry_points()[index].name);
  }
  void integer(std::string_view name, uint64_t value) {
    key(name);
    add(target_, value);
  }
  void word(std::string_view name, std::string_view value) {
    key(name);
    add(target_, value);
  }
  void grid(std::string_view name, const uint32_t (&counts)[3]) {
    key(name);
    add(target_, "(", counts[0], ", ", counts[1], ", ", counts[2], ")");
  }
  void constants(std::string_view name, std::span<const uint32_t> words) {
    key(name);
    add_list(target_, ", ", words, [&](uint32_t value) { add(target_, value); });
  }
  void constant_slots(std::string_view name, std::span<const ConstantSlot> slots) {
    if (slots.empty()) return;
    key(name);
    add_list(target_, ", ", slots, [&](const ConstantSlot& slot) {
      add(target_, slot.constant, "=slot ", slot.slot);
      if (slot.slot < context_.constants.size()) add(target_, "=", context_.constants[slot.slot]);
    });
  }
  void bytes(std::string_view name, std::span<const std::byte> data) {
    key(name);
    add(target_, data.size(), " bytes");
  }

 private:
  void key(std::string_view name) { add(target_, " ", name, "="); }
  void range(const Binding& one) {
    const ResolvedRange resolved = resolve(one, context_.table);
    if (one.is_slot() && resolved.root) add(target_, "slot ", one.slot, "=");
    append_range_text(target_, resolved, context_.numbers);
  }

  std::string& target_;
  const TextContext& context_;
};

class JsonPrinter : public FieldVisitor {
 public:
  JsonPrinter(std::string& target, const TextContext& context) : target_(target), context_(context) {}

  void binding(std::string_view name, const Binding& one, BufferUsage) {
    key(name);
    range(one, {});
  }
  void bindings(std::string_view name, std::span<const Binding> list, BufferUsage bound) {
    key(name);
    add_list(target_, ",", list, [&](const Binding& one) {
      range(one, bound == BufferUsage::kNone ? std::string_view() : access_name(one.access));
    });
  }
  void object(std::string_view, const Executable*) {}
  template <typename Object>
  void object(std::string_view name, const Object* shared) {
    word(name, shared->name());
  }
  void entry_point(std::string_view name, const Executable* executable, uint32_t index) {
    word(name, text(executable->name(), ".", executable->entry_points()[index].name));
  }
  void integer(std::string_view name, uint64_t value) {
    key(name);
    add(target_, value);
  }
  void word(std::string_view name, std::string_view value) {
    key(name);
    append_json_string(target_, value);
  }
  void grid(std::string_view name, const uint32_t (&counts)[3]) {
    key(name);
    add(target_, "[", counts[0], ",", counts[1], ",", counts[2], "]");
  }
  void constants(std::string_view name, std::span<const uint32_t> words) {
    key(name);
    add_list(target_, ",", words, [&](uint32_t value) { add(target_, value); });
  }
  void constant_slots(std::string_view name, std::span<const ConstantSlot> slots) {
    if (slots.empty()) return;
    key(name);
    add_list(target_, ",", slots, [&](const ConstantSlot& slot) {
      add(target_, "{\"constant\":", slot.constant, ",\"slot\":", slot.slot);
      if (slot.slot < context_.constants.size()) add(target_, ",\"value\":", context_.constants[slot.slot]);
      add(target_, "}");
    });
  }
  void bytes(std::string_view name, std::span<const std::byte> data) {
    key(name);
    add(target_, data.size());
  }

 private:
  void key(std::string_view name) { add(target_, ",\"", name, "\":"); }
  void range(const Binding& one, std::string_view access) {
    const ResolvedRange resolved = resolve(one, context_.table);
    target_ += '{';
    if (one.is_slot()) add(target_, "\"slot\":", one.slot, resolved.root ? "," : "");
    if (resolved.root) add(target_, "\"buffer\":", context_.numbers.of(resolved.root));
    add(target_, ",\"offset\":", resolved.start);
    if (resolved.end != kWholeLength) add(target_, ",\"length\":", resolved.end - resolved.start);
    if (!access.empty()) add(target_, ",\"access\":\"", access, "\"");
    target_ += '}';
  }

  std::string& target_;
  const TextContext& context_;
};

}  // namespace

uint32_t BufferNumbers::of(const Buffer* root) {
  const auto found = std::find(met_.begin(), met_.end(), root);
  if (found != met_.end()) return static_cast<uint32_t>(found - met_.begin());
  met_.push_back(root);
  return static_cast<uint32_t>(met_.size() - 1);
}

void append_range_text(std::string& target, const ResolvedRange& range, BufferNumbers& numbers) {
  if (range.root) {
    add(target, "buffer ", numbers.of(range.root));
  } else {
    add(target, "slot ", range.slot);
  }
  add(target, "[", range.start, ", ");
  if (range.end == kWholeLength) {
    add(target, "end)");
  } else {
    add(target, range.end, ")");
  }
}

void append_command_text(std::string& target, uint32_t index, CommandKind kind, const void* command,
                         const TextContext& context) {
  add(target, index, " ", command_verb(kind));
  TextPrinter printer(target, context);
  with_command(kind, command, [&]<typename Command>(const Command& typed) { Command::visit(typed, printer); });
}

void append_command_json(std::string& target, uint32_t index, CommandKind kind, const void* command,
                         const TextContext& context) {
  add(target, "\"command\":\"", command_verb(kind), "\",\"index\":", index);
  JsonPrinter printer(target, context);
  with_command(kind, command, [&]<typename Command>(const Command& typed) { Command::visit(typed, printer); });
}

}  // namespace baton::hal
