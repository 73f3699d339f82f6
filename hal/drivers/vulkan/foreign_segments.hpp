// ForeignSegments: what a foreign function of a recording recorded, for the tables that it was called with last. A table
// that comes back finds its segment again.
//
// Threads: those of PreparedCommands, which has them; nothing of it is in flight while a table is bound.
#pragma once

#include <memory>
#include <vector>

#include "hal/drivers/vulkan/segment.hpp"

namespace baton::hal {
class WorkLabel;
}

namespace baton::hal::drivers::vulkan {

class Device;
struct Arguments;
struct SegmentRecord;

class ForeignSegments {
 public:
  explicit ForeignSegments(const SegmentRecord& record) : record_(record) {}

  // Calls the function, unless it was called with the same lately. One that is not known to record is left alone: it is
  // called when its turn comes.
  Status bind(Device& device, const Arguments& arguments);
  // Whether it was left alone; and whether that is no longer right.
  bool waits() const { return waits_; }
  bool is_stale() const;
  // The observer's name for it; null without an observer.
  const WorkLabel* label() const;
  // In its turn, when all before it is done: the host may look at memory then. Gives what is to be submitted, or null.
  Result<VkCommandBuffer> call(Device& device, const Arguments& arguments);
  // For what was bound last; null: nothing was recorded.
  VkCommandBuffer commands() const {
    return kept_.empty() || !kept_.back().segment ? VK_NULL_HANDLE : kept_.back().segment->commands();
  }

 private:
  struct Place {
    uint64_t address;
    uint64_t length;
    uint64_t slab_id;
  };
  struct Key {
    std::vector<Place> places;
    std::vector<uint32_t> constants;
    bool matches(const SegmentRecord& record, const Arguments& arguments) const;
  };
  struct Kept {
    Key key;
    std::unique_ptr<Segment> segment;
  };

  Key make_key(const Arguments& arguments) const;
  void keep(Key key, std::unique_ptr<Segment> segment);

  const SegmentRecord& record_;
  bool waits_ = false;
  std::vector<Kept> kept_;  // The one bound last at the end.
};

}  // namespace baton::hal::drivers::vulkan
