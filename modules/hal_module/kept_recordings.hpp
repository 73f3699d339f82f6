// KeptRecordings: the recordings of the last few sizes, each with the numbers that it was made for.
//
// A compiled program whose sizes its caller decides records for each pair of sizes once: it asks here with its numbers,
// records where nothing fits, and hands in what it recorded. What fits is found by comparing; the oldest makes room.
//
// Threads: internally synchronized. Invocations of one context share it. A flag is held while numbers are compared and
// a reference is taken, some nanoseconds, and not at all while the process has one thread.
#pragma once

#include <array>
#include <atomic>
#include <vector>

#include "modules/hal_module/objects.hpp"

namespace baton::modules {

class KeptRecordings final : public sdk::Object<KeptRecordings> {
 public:
  static constexpr char kTypeName[] = "hal.kept_recordings";
  using Keys = sdk::Variadic<int64_t>;
  using Kept = Handle<hal::Recording>;

  // Null where nothing fits.
  sdk::Ref<Kept> find(const Keys& keys);
  // As the last one.
  void keep(Kept& recording, const Keys& keys);

 private:
  // A program that goes back and forth between two shapes, as one over a first and further pieces does, records twice.
  static constexpr size_t kCount = 2;
  struct Entry {
    sdk::Ref<Kept> recording;
    std::vector<int64_t> keys;
  };
  class Held;

  std::array<Entry, kCount> entries_;  // The last one first.
  std::atomic<bool> held_{false};
};

}  // namespace baton::modules
