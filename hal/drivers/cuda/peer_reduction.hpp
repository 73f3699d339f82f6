// PeerReduction: small all-reduces of the ranks of one machine, through the memory of their devices and without NCCL, whose
// call takes longer than the data. Each rank writes what it has into the memory of all, and waits for what they write
// (peer_reduction_code.hpp).
//
// The ranks open each other's memory when a channel is made; if one of them can't, or doesn't want to, none does. What a
// rank leaves to NCCL depends on nothing but the operation, the type, the number of bytes and the number of ranks, so that
// all ranks choose alike.
// Threads: internally synchronized.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "hal/commands/collective.hpp"
#include "hal/drivers/cuda/nccl.hpp"
#include "hal/drivers/cuda/primary_context.hpp"
#include "hal/foreign_function.hpp"

namespace baton::hal::drivers::cuda {

class PeerReduction {
 public:
  // What a rank tells the others.
  struct Card {
    uint64_t machine = 0;
    uint64_t process = 0;  // A number that no other process of any machine has.
    uint64_t context = 0;  // Both for ranks of one process.
    uint64_t region = 0;
    CUipcMemHandle handle = {};
    std::array<uint8_t, 16> device = {};  // Its UUID.
    int32_t ordinal = 0;
    uint32_t is_ready = 0;
  };
  // How ranks tell each other.
  class Talk {
   public:
    virtual ~Talk() = default;
    // Every rank's card, in their order.
    virtual Result<std::vector<Card>> exchange(const Card& own) = 0;
    // Whether all say yes.
    virtual Result<bool> all(bool says_yes) = 0;
  };

  // Null where the ranks go without. All ranks call it, also those that don't want to: `wanted`.
  static Result<std::shared_ptr<PeerReduction>> join(const Ref<PrimaryContext>& context, uint32_t rank,
                                                     uint32_t rank_count, bool wanted, Talk& talk);
  explicit PeerReduction(Ref<PrimaryContext> context, uint32_t rank, uint32_t rank_count)
      : context_(std::move(context)), rank_(rank), rank_count_(rank_count) {}
  ~PeerReduction();
  PeerReduction(const PeerReduction&) = delete;
  PeerReduction& operator=(const PeerReduction&) = delete;

  // Puts the code for such ones on the device, where there is any: before they are captured.
  Status prepare(CollectiveOperation operation, const NcclType& as);
  // Whether it does this one.
  bool takes(CollectiveOperation operation, const NcclType& as, uint64_t bytes);
  // Enqueues what it takes.
  Status enqueue(const NcclType& as, const ForeignBinding& source, const ForeignBinding& target, CUstream stream);
  // Nobody waits any more, on the device either.
  void end();

 private:
  struct Code {
    CUlibrary library = nullptr;
    CUkernel kernel = nullptr;
  };

  Status allocate();
  Card own_card() const;
  bool open_all(std::span<const Card> cards);
  bool open_one(const Card& card, uint64_t& region);
  // Null: there is none.
  Result<CUkernel> kernel_of(const NcclType& as);

  const Ref<PrimaryContext> context_;
  const uint32_t rank_;
  const uint32_t rank_count_;
  CUdeviceptr own_ = 0;
  std::atomic<uint32_t>* ended_ = nullptr;  // The host's memory, which kernels look at.
  std::vector<uint64_t> regions_;           // Of all ranks.
  std::vector<CUdeviceptr> opened_;         // Other processes' regions.
  std::mutex mutex_;
  std::map<std::pair<int, int>, Code> codes_;  // By type and reduction. Guarded by mutex_.
};

}  // namespace baton::hal::drivers::cuda
