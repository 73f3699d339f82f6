// Recording: finished commands with slots; executed many times, each time with a table (queue.hpp).
//
// Drivers derive from it and lay their own form of the commands into `arena_`. `note()` is called once per command: it
// keeps alive what the command names and enters its slots into the index.
// Threads: immutable once finished; may be executed by several threads at once.
#pragma once

#include <string>
#include <utility>

#include "base/arena.hpp"
#include "base/ref.hpp"
#include "hal/command_buffer.hpp"
#include "hal/commands/fields.hpp"
#include "hal/slot_index.hpp"

namespace baton::hal {

class Device;

class Recording : public RefCounted<Recording> {
 public:
  virtual ~Recording();

  const std::string& name() const { return name_; }
  Device& device() const { return *device_; }
  uint32_t command_count() const { return command_count_; }
  const SlotIndex& slots() const { return slots_; }
  uint32_t constant_slot_count() const { return constant_slot_count_; }

  // Whether `table` fits this recording; the cost is in its slots, not in its commands.
  Status check(const BindingTable& table) const;
  // The parts of it, for drivers that know what changed since they checked last.
  Status check_slot(size_t slot, const BufferRange& range) const;
  Status check_constants(std::span<const uint32_t> constants) const;

 protected:
  Recording(Device& device, const RecordingOptions& options);

  struct Noter;

  template <typename Command>
  void note(const Command& command);
  // By a Noter that does more with the fields than this one.
  template <typename Command, typename MoreThanNoter>
  void note(Command& command, MoreThanNoter& noter) {
    Command::visit(command, noter);
    ++command_count_;
  }

 private:
  struct Retained {
    void* object;
    void (*release)(void* object);
  };

  // Programs name the same few objects again and again; a look at the recent ones saves most increments.
  template <typename Object>
  void keep_alive(Object* object) {
    const void*& recent = recent_[(reinterpret_cast<uintptr_t>(object) >> 6) % std::size(recent_)];
    if (recent != object) [[unlikely]]
      keep_alive_anew(object, recent);
  }
  template <typename Object>
  [[gnu::noinline]] void keep_alive_anew(Object* object, const void*& recent) {
    // Objects whose addresses meet in one place would drive each other out at every command.
    for (const void*& other : displaced_) {
      if (other == object) return std::swap(other, recent);
    }
    displaced_[displaced_count_++ % std::size(displaced_)] = recent;
    recent = object;
    object->retain();
    retained_.push(arena_, {object, [](void* retained) { static_cast<Object*>(retained)->release(); }});
  }

  Ref<Device> device_;  // First: the arena's blocks go back to the device's pool.

 protected:
  Arena arena_;

 private:
  std::string name_;
  SlotIndex slots_;
  uint32_t constant_slot_count_;
  uint32_t command_count_ = 0;
  ArenaList<Retained> retained_;
  const void* recent_[16] = {};
  const void* displaced_[4] = {};
  uint32_t displaced_count_ = 0;
};

struct Recording::Noter : FieldVisitor {
  explicit Noter(Recording& into) : recording(into) {}

  [[gnu::always_inline]] void binding(std::string_view, const Binding& binding, BufferUsage usage) {
    if (binding.is_slot()) {
      recording.slots_.add(recording.arena_, binding, usage, recording.command_count_);
    } else {
      recording.keep_alive(binding.buffer);
    }
  }
  [[gnu::always_inline]] void bindings(std::string_view name, std::span<const Binding> list, BufferUsage bound) {
    for (const Binding& one : list) binding(name, one, usage_of(one, bound));
  }
  template <typename Object>
  void object(std::string_view, Object* shared) {
    recording.keep_alive(shared);
  }

  Recording& recording;
};

template <typename Command>
void Recording::note(const Command& command) {
  Noter noter(*this);
  note(command, noter);
}

}  // namespace baton::hal
