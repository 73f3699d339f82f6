#include "hal/drivers/local/rank_segment.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "hal/drivers/common/spin.hpp"
#include "hal/file_lock.hpp"

namespace baton::hal::drivers::local {
namespace {

constexpr uint64_t kMagic = 0x31676573'6b6e6172;  // "ranksseg" and a version.
constexpr uint64_t kDataBytesMax = uint64_t{16} << 20;
constexpr int64_t kLookNs = 10'000'000;  // How often a rank that waits looks whether its peer lives.

// Shared between processes: without FUTEX_PRIVATE_FLAG.
void futex_wait(const std::atomic<uint32_t>& word, uint32_t value, int64_t timeout_ns) {
  const timespec timeout = {timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT, value, &timeout, nullptr, 0);
}
void futex_wake_all(const std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

Status cannot(std::string_view verb, const std::string& name) {
  return failure(StatusCode::kUnavailable, "Memory that ranks share: cannot ", verb, " '", name,
                 "': ", std::strerror(errno), ".");
}

struct Layout {
  uint64_t slot_bytes, letter_bytes;
  uint64_t blocks, boxes, letters, slots, size;
};

uint64_t rounded(uint64_t size) { return (size + 4095) / 4096 * 4096; }

}  // namespace

struct RankSegment::Head {
  uint64_t magic;
  uint32_t rank_count;
  std::atomic<uint32_t> bell;      // Every rank that raises another counter raises this one, too.
  std::atomic<uint32_t> sleepers;  // Who wants to be woken by it.
  std::atomic<uint32_t> giver_up;  // Its rank + 1; 0: none. What follows is written before `told`.
  std::atomic<uint32_t> told;
  int32_t code;
  char message[1024];
};

namespace {

Layout layout_of(uint64_t ranks, uint64_t head_bytes) {
  Layout layout;
  layout.slot_bytes = std::clamp<uint64_t>(kDataBytesMax / (2 * ranks), 64 << 10, 512 << 10);
  layout.letter_bytes = ranks <= 16 ? 64 << 10 : ranks <= 32 ? 16 << 10 : 4 << 10;
  layout.blocks = rounded(head_bytes);
  layout.boxes = layout.blocks + rounded(ranks * sizeof(RankBlock));
  layout.letters = layout.boxes + rounded(ranks * ranks * sizeof(LetterBox));
  layout.slots = layout.letters + ranks * ranks * layout.letter_bytes;
  layout.size = layout.slots + 2 * ranks * layout.slot_bytes;
  return layout;
}

}  // namespace

RankSegment& RankSegment::operator=(RankSegment&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(named_, other.named_);
  std::swap(file_, other.file_);
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(rank_, other.rank_);
  std::swap(rank_count_, other.rank_count_);
  std::swap(step_, other.step_);
  std::swap(timeout_ns_, other.timeout_ns_);
  return *this;
}

RankSegment::~RankSegment() {
  forget_name();
  if (memory_) munmap(memory_, size_);
  if (file_ >= 0) close(file_);  // The lock goes: the others see that this rank left.
}

void RankSegment::forget_name() {
  if (std::exchange(named_, false)) shm_unlink(name_.c_str());
}

Result<RankSegment> RankSegment::make(uint32_t rank_count, int64_t timeout_ns) {
  uint64_t chance[2];
  if (getrandom(chance, sizeof(chance), 0) != sizeof(chance)) return cannot("name", "");
  RankSegment made;
  made.timeout_ns_ = timeout_ns;
  made.name_ = text("/baton-", hex(chance[0]), "-", hex(chance[1]));
  made.file_ = shm_open(made.name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made.file_ < 0) return cannot("make", made.name_);
  made.named_ = true;
  const uint64_t size = layout_of(rank_count, sizeof(Head)).size;
  // Reserves the memory at once, so that a full /dev/shm is a status here and not a signal later.
  if (const int error = posix_fallocate(made.file_, 0, static_cast<off_t>(size))) {
    return failure(StatusCode::kResourceExhausted, "Memory that ", rank_count, " ranks share (", size,
                   " bytes in /dev/shm) is not to be had: ", std::strerror(error), ".");
  }
  BATON_TRY(made.map(rank_count));
  made.head().rank_count = rank_count;
  made.head().magic = kMagic;
  lock_byte(made.file_, 0);
  return made;
}

Result<RankSegment> RankSegment::find(const std::string& name, uint32_t rank, uint32_t rank_count, int64_t timeout_ns) {
  RankSegment found;
  found.name_ = name;
  found.timeout_ns_ = timeout_ns;
  found.file_ = shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0600);
  if (found.file_ < 0) return cannot("find", name);
  struct stat facts;
  const uint64_t size = layout_of(rank_count, sizeof(Head)).size;
  const bool fits = fstat(found.file_, &facts) == 0 && static_cast<uint64_t>(facts.st_size) == size;
  if (fits) BATON_TRY(found.map(rank_count));
  if (!fits || found.head().magic != kMagic || found.head().rank_count != rank_count) {
    return failure(StatusCode::kInvalidArgument, "Rank 0 made the channel for another number of ranks than ",
                   rank_count, ", or is of another version.");
  }
  found.rank_ = rank;
  if (lock_byte(found.file_, rank)) return found;
  return failure(StatusCode::kAlreadyExists, "The channel has a rank ", rank, " already.");
}

Status RankSegment::map(uint32_t rank_count) {
  size_ = layout_of(rank_count, sizeof(Head)).size;
  void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) return cannot("map", name_);
  memory_ = static_cast<std::byte*>(memory);
  rank_count_ = rank_count;
  return {};
}

RankSegment::Head& RankSegment::head() { return *reinterpret_cast<Head*>(memory_); }
RankBlock& RankSegment::block(uint32_t rank) {
  return reinterpret_cast<RankBlock*>(memory_ + layout_of(rank_count_, sizeof(Head)).blocks)[rank];
}
uint64_t RankSegment::slot_bytes() const { return layout_of(rank_count_, sizeof(Head)).slot_bytes; }
uint64_t RankSegment::letter_bytes() const { return layout_of(rank_count_, sizeof(Head)).letter_bytes; }
Said& RankSegment::said(uint32_t rank) { return block(rank).said[step_ & 1]; }
std::byte* RankSegment::slot(uint32_t rank) {
  const Layout layout = layout_of(rank_count_, sizeof(Head));
  return memory_ + layout.slots + (uint64_t{rank} * 2 + (step_ & 1)) * layout.slot_bytes;
}
LetterBox& RankSegment::box(uint32_t from, uint32_t to) {
  const Layout layout = layout_of(rank_count_, sizeof(Head));
  return reinterpret_cast<LetterBox*>(memory_ + layout.boxes)[from * rank_count_ + to];
}
std::byte* RankSegment::letter(uint32_t from, uint32_t to) {
  const Layout layout = layout_of(rank_count_, sizeof(Head));
  return memory_ + layout.letters + uint64_t{from * rank_count_ + to} * layout.letter_bytes;
}

Status RankSegment::meet() {
  raise(block(rank_).arrived);
  for (uint32_t peer = 0; peer < rank_count_; ++peer) {
    if (peer != rank_) BATON_TRY(wait_for(block(peer).arrived, step_ + 1, peer));
  }
  return {};
}

void RankSegment::raise(std::atomic<uint32_t>& word) {
  word.fetch_add(1);
  ring();
}

void RankSegment::ring() {
  head().bell.fetch_add(1);
  if (head().sleepers.load() != 0) futex_wake_all(head().bell);
}

// Counters wrap; a peer is never half a circle ahead.
Status RankSegment::wait_for(const std::atomic<uint32_t>& word, uint32_t value, uint32_t peer) {
  const auto is_there = [&] { return static_cast<int32_t>(word.load() - value) >= 0; };
  for (Spin spin; spin.again();) {
    if (is_there()) return {};
  }
  const int64_t deadline_ns = monotonic_ns() + timeout_ns_;
  while (!is_there()) {
    const uint32_t bell = head().bell.load();
    head().sleepers.fetch_add(1);
    const bool sleeps = !is_there() && head().told.load() == 0;
    if (sleeps) futex_wait(head().bell, bell, std::min(kLookNs, std::max<int64_t>(deadline_ns - monotonic_ns(), 1)));
    head().sleepers.fetch_sub(1);
    if (is_there()) return {};
    BATON_TRY(given_up());
    const bool gone = !byte_is_locked(file_, peer);
    if (is_there()) return {};
    if (gone) return give_up(failure(StatusCode::kUnavailable, "Rank ", peer, " is gone."));
    if (monotonic_ns() >= deadline_ns) {
      return give_up(failure(StatusCode::kDeadlineExceeded, "Rank ", peer, " did not come within ",
                             timeout_ns_ / 1'000'000, " ms."));
    }
  }
  return {};
}

Status RankSegment::given_up() {
  if (head().told.load() == 0) return {};
  char message[sizeof(Head::message)];
  std::memcpy(message, head().message, sizeof(message));
  message[sizeof(message) - 1] = 0;
  const auto code = static_cast<StatusCode>(std::clamp(head().code, 1, 16));
  return failure(code, "Rank ", head().giver_up.load() - 1, " gave up: ", message);
}

Status RankSegment::give_up(Status why) {
  uint32_t nobody = 0;
  if (!head().giver_up.compare_exchange_strong(nobody, rank_ + 1)) return why;
  const std::string_view message = why.message();
  const size_t size = std::min(message.size(), sizeof(Head::message) - 1);
  std::memcpy(head().message, message.data(), size);
  head().message[size] = 0;
  head().code = static_cast<int32_t>(why.code());
  head().told.store(1);
  ring();
  return why;
}

}  // namespace baton::hal::drivers::local
