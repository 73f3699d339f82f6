// Goal: every collective of every type and length does over some ranks what a plain sum over them says, and nothing
// that a rank does wrong makes the others wait for ever. Ranks are threads here, and processes where one has to die.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <complex>
#include <cstdlib>
#include <functional>
#include <thread>

#include "hal/drivers/local/channel.hpp"
#include "hal/element_value.hpp"
#include "hal/rank_store.hpp"
#include "hal/ranks.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal::drivers::local {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

using Part = std::function<void(Channel& channel)>;

// Each rank on a thread, with a channel of its own.
void run_ranks(uint32_t count, const Part& part, int64_t timeout_ns = 20 * kSecondNs) {
  const auto store = make_memory_store();
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      auto made = Channel::make({"test", rank, count, store.get(), timeout_ns});
      ASSERT_OK(made);
      part(static_cast<Channel&>(**made));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

constexpr ElementType kTypes[] = {ElementType::kI1,  ElementType::kI8,  ElementType::kI16,  ElementType::kI32,
                                  ElementType::kI64, ElementType::kS8,  ElementType::kS16,  ElementType::kS32,
                                  ElementType::kS64, ElementType::kU8,  ElementType::kU16,  ElementType::kU32,
                                  ElementType::kU64, ElementType::kF16, ElementType::kBF16, ElementType::kF32,
                                  ElementType::kF64, ElementType::kC64, ElementType::kC128};

// Small numbers, which every type holds exactly, products of a few of them too; signs where there are such.
int64_t number_of(ElementType type, uint32_t rank, uint64_t index) {
  const auto small = static_cast<int64_t>((rank * 3 + index * 7) % 4);
  if (type == ElementType::kI1) return small & 1;
  return element_class(type) == ElementClass::kUnsigned ? small : small - 1;
}

using Number = std::complex<double>;

void store_number(ElementType type, Number value, std::byte* element) {
  if (element_class(type) == ElementClass::kComplex) {
    const ElementType half = type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
    store_float(half, value.real(), element);
    store_float(half, value.imag(), element + element_bytes(half));
  } else if (is_float(type)) {
    store_float(type, value.real(), element);
  } else {
    store_integer(type, static_cast<uint64_t>(static_cast<int64_t>(value.real())), element);
  }
}

Number value_of(ElementType type, uint32_t rank, uint64_t index) {
  const auto real = static_cast<double>(number_of(type, rank, index));
  return element_class(type) == ElementClass::kComplex ? Number(real, static_cast<double>((rank + index) % 3))
                                                       : Number(real, 0);
}

Number combined(ElementType type, Reduction reduction, Number a, Number b) {
  if (type == ElementType::kI1 && reduction == Reduction::kSum) return {std::max(a.real(), b.real()), 0};
  switch (reduction) {
    case Reduction::kProduct: return a * b;
    case Reduction::kMinimum: return {std::min(a.real(), b.real()), 0};
    case Reduction::kMaximum: return {std::max(a.real(), b.real()), 0};
    default: return a + b;
  }
}

Number reduced(ElementType type, Reduction reduction, uint32_t ranks, uint64_t index) {
  Number value = value_of(type, 0, index);
  for (uint32_t rank = 1; rank < ranks; ++rank) value = combined(type, reduction, value, value_of(type, rank, index));
  if (reduction != Reduction::kAverage) return value;
  const Number mean = value / static_cast<double>(ranks);
  return is_integer(type) ? Number(std::trunc(mean.real()), 0) : mean;
}

using Bytes = std::vector<std::byte>;

// What rank `rank` holds, or what some rule says of each element.
Bytes elements(ElementType type, uint64_t count, const std::function<Number(uint64_t)>& at) {
  Bytes bytes(count * element_bytes(type));
  for (uint64_t i = 0; i < count; ++i) store_number(type, at(i), bytes.data() + i * element_bytes(type));
  return bytes;
}

CollectiveWork work_of(CollectiveOperation operation, ElementType type, const Bytes& source, Bytes& target) {
  CollectiveWork work{.operation = operation, .element_type = type};
  work.source = source.data();
  work.target = target.data();
  work.source_bytes = source.size();
  work.target_bytes = target.size();
  return work;
}

bool has(ElementType type, Reduction reduction) {
  const bool orders = reduction == Reduction::kMinimum || reduction == Reduction::kMaximum;
  if (element_class(type) == ElementClass::kComplex) return !orders;
  return type != ElementType::kI1 || reduction != Reduction::kAverage;
}

constexpr Reduction kReductions[] = {Reduction::kSum, Reduction::kProduct, Reduction::kMinimum, Reduction::kMaximum,
                                     Reduction::kAverage};

void check_reductions(Channel& channel, ElementType type, Reduction reduction, uint64_t count) {
  const uint32_t ranks = channel.rank_count(), own = channel.rank();
  const auto mine = [&](uint64_t i) { return value_of(type, own, i); };
  const auto all = [&](uint64_t i) { return reduced(type, reduction, ranks, i); };
  const Bytes source = elements(type, count, mine), wanted = elements(type, count, all);
  Bytes target(source.size());
  CollectiveWork work = work_of(CollectiveOperation::kAllReduce, type, source, target);
  work.reduction = reduction;
  EXPECT_OK(channel.run(work));
  EXPECT_EQ(target, wanted) << element_type_name(type) << " " << commands::reduction_name(reduction);

  target.assign(source.size(), std::byte{9});
  work.operation = CollectiveOperation::kReduce;
  work.root = ranks - 1;
  EXPECT_OK(channel.run(work));
  EXPECT_EQ(target, own == ranks - 1 ? wanted : Bytes(source.size(), std::byte{9}));

  const Bytes shares = elements(type, count * ranks, mine);
  work = work_of(CollectiveOperation::kReduceScatter, type, shares, target);
  work.reduction = reduction;
  EXPECT_OK(channel.run(work));
  EXPECT_EQ(target, elements(type, count, [&](uint64_t i) { return all(own * count + i); }));

  Bytes in_place = source;
  work = work_of(CollectiveOperation::kAllReduce, type, in_place, in_place);
  work.reduction = reduction;
  EXPECT_OK(channel.run(work));
  EXPECT_EQ(in_place, wanted);
}

void check_moves(Channel& channel, ElementType type, uint64_t count) {
  const uint32_t ranks = channel.rank_count(), own = channel.rank();
  const auto of = [&](uint32_t rank, uint64_t first, uint64_t many) {
    return elements(type, many, [&](uint64_t i) { return value_of(type, rank, first + i); });
  };
  const auto append = [](Bytes& all, const Bytes& part) { all.insert(all.end(), part.begin(), part.end()); };
  const Bytes source = of(own, 0, count), shares = of(own, 0, count * ranks);
  Bytes target(source.size()), wide(shares.size()), gathered, exchanged;
  for (uint32_t rank = 0; rank < ranks; ++rank) append(gathered, of(rank, 0, count));
  for (uint32_t rank = 0; rank < ranks; ++rank) append(exchanged, of(rank, own * count, count));

  EXPECT_OK(channel.run(work_of(CollectiveOperation::kAllGather, type, source, wide)));
  EXPECT_EQ(wide, gathered);
  EXPECT_OK(channel.run(work_of(CollectiveOperation::kAllToAll, type, shares, wide)));
  EXPECT_EQ(wide, exchanged);
  CollectiveWork work = work_of(CollectiveOperation::kBroadcast, type, source, target);
  work.root = ranks - 1;
  EXPECT_OK(channel.run(work));
  EXPECT_EQ(target, of(ranks - 1, 0, count));
  // A line, not a ring: the first rank receives from nobody, the last sends to nobody.
  work = work_of(CollectiveOperation::kPermute, type, source, target);
  work.to = own + 1 < ranks ? own + 1 : kNoRank;
  work.from = own > 0 ? own - 1 : kNoRank;
  EXPECT_OK(channel.run(work));
  EXPECT_EQ(target, own > 0 ? of(own - 1, 0, count) : Bytes(source.size()));

  target.assign(source.size(), std::byte{9});
  work = work_of(own == 0 ? CollectiveOperation::kSend : CollectiveOperation::kReceive, type, source, target);
  work.to = 1;
  work.from = 0;
  if (own == 0) work.target = nullptr, work.target_bytes = 0;
  if (own == 1) work.source = nullptr, work.source_bytes = 0;
  if (own < 2) {
    EXPECT_OK(channel.run(work));
  }
  if (own == 1) {
    EXPECT_EQ(target, of(0, 0, count));
  }
}

TEST(LocalCollectiveTest, EveryOperationOfEveryTypeIsWhatAPlainLoopSays) {
  for (const uint32_t ranks : {2u, 3u, 5u}) {
    run_ranks(ranks, [](Channel& channel) {
      for (const ElementType type : kTypes) {
        for (const uint64_t count : {0u, 1u, 7u, 130u}) {
          for (const Reduction reduction : kReductions) {
            if (has(type, reduction)) check_reductions(channel, type, reduction, count);
          }
          check_moves(channel, type, count);
        }
      }
    });
  }
}

// More than a slot and more than a letter, no multiple of either.
TEST(LocalCollectiveTest, LongOnesGoInSteps) {
  run_ranks(3, [](Channel& channel) {
    check_reductions(channel, ElementType::kI16, Reduction::kSum, 300'001);
    check_moves(channel, ElementType::kU8, 600'011);
  });
}

struct Disagreement {
  const char* wanted;
  std::function<void(CollectiveWork& work)> change;  // Of rank 1.
};

TEST(LocalCollectiveTest, RanksThatDisagreeAreAllToldAndGoOn) {
  const Disagreement disagreements[] = {
      {"rank 0 has all_reduce sum of 64 bytes of f32, rank 1 has all_reduce sum of 32 bytes of f32",
       [](CollectiveWork& work) { work.source_bytes = work.target_bytes = 32; }},
      {"rank 1 has all_reduce sum of 64 bytes of i32",
       [](CollectiveWork& work) { work.element_type = ElementType::kI32; }},
      {"rank 1 has all_reduce maximum of 64 bytes of f32",
       [](CollectiveWork& work) { work.reduction = Reduction::kMaximum; }},
      {"rank 1 has reduce sum of 64 bytes of f32 with root 0",
       [](CollectiveWork& work) { work.operation = CollectiveOperation::kReduce; }},
  };
  run_ranks(2, [&](Channel& channel) {
    for (const Disagreement& disagreement : disagreements) {
      Bytes memory(64);
      CollectiveWork work = work_of(CollectiveOperation::kAllReduce, ElementType::kF32, memory, memory);
      work.reduction = Reduction::kSum;
      if (channel.rank() == 1) disagreement.change(work);
      EXPECT_FAILS(channel.run(work), StatusCode::kFailedPrecondition, disagreement.wanted);
    }
    Bytes memory(64);
    CollectiveWork permute = work_of(CollectiveOperation::kPermute, ElementType::kF32, memory, memory);
    permute.to = channel.rank() == 0 ? 1 : kNoRank;
    EXPECT_FAILS(channel.run(permute), StatusCode::kFailedPrecondition, "The ranks disagree: rank 0 has permute");
    CollectiveWork letter = work_of(CollectiveOperation::kSend, ElementType::kF32, memory, memory);
    letter.to = 1;
    if (channel.rank() == 1) {
      letter.operation = CollectiveOperation::kReceive;
      letter.from = 0;
      letter.target_bytes = 60;
    }
    EXPECT_FAILS(channel.run(letter), StatusCode::kFailedPrecondition, "rank 1 has receive of 60 bytes");
    check_moves(channel, ElementType::kF32, 5);
  });
}

void wait_for(const std::atomic<bool>& flag) {
  for (int i = 0; !flag && i < 60'000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(flag);
}

// However slow the machine is: rank 1 comes when rank 0 has given up, and rank 0 stays until rank 1 has heard of it.
TEST(LocalCollectiveTest, ARankThatComesTooLateEndsTheChannel) {
  std::atomic<bool> gave_up{false}, heard{false};
  run_ranks(
      2,
      [&](Channel& channel) {
        Bytes memory(4);
        const CollectiveWork work = work_of(CollectiveOperation::kBroadcast, ElementType::kF32, memory, memory);
        if (channel.rank() == 0) {
          EXPECT_FAILS(channel.run(work), StatusCode::kDeadlineExceeded, "Rank 1 did not come within 1000 ms.");
          gave_up = true;
          wait_for(heard);
        } else {
          wait_for(gave_up);
          const Status status = channel.run(work);
          // It sees rank 0's arrival, which was before that gave up, and may end well; the next one does not.
          EXPECT_FAILS(channel.run(work), StatusCode::kDeadlineExceeded, "Rank 0 gave up: Rank 1 did not come");
          heard = true;
        }
      },
      kSecondNs);
}

struct TemporaryFolder {
  std::string path;
  TemporaryFolder() {
    path = testing::TempDir() + "baton-ranks-XXXXXX";
    EXPECT_TRUE(mkdtemp(path.data()));
  }
  ~TemporaryFolder() { rmdir(path.c_str()); }
};

// The first thing in a process of its own: no thread has been started before.
void die_as_rank_1(const std::string& folder) {
  auto store = open_file_store(folder, 1);
  auto channel = store.has_value() ? Channel::make({"test", 1, 2, store->get(), 20 * kSecondNs})
                                   : Result<Ref<hal::Channel>>(store.error().clone());
  if (!channel.has_value()) _exit(2);
  raise(SIGKILL);
}

TEST(LocalCollectiveTest, ARankThatDiesEndsTheWait) {
  const TemporaryFolder folder;
  const pid_t other = fork();
  ASSERT_GE(other, 0);
  if (other == 0) die_as_rank_1(folder.path);
  {
    const auto store = open_file_store(folder.path, 0);
    ASSERT_OK(store);
    auto channel = Channel::make({"test", 0, 2, store->get(), 20 * kSecondNs});
    ASSERT_OK(channel);
    Bytes memory(4);
    const CollectiveWork work = work_of(CollectiveOperation::kBroadcast, ElementType::kF32, memory, memory);
    EXPECT_FAILS(static_cast<Channel&>(**channel).run(work), StatusCode::kUnavailable, "Rank 1 is gone.");
  }
  int how = 0;
  waitpid(other, &how, 0);
  EXPECT_TRUE(WIFSIGNALED(how));
  unlink((folder.path + "/rank.1").c_str());
}

// Who leaves takes the empty directory along, also while another rank comes in.
TEST(LocalCollectiveTest, RanksComeAndLeaveAtTheSameTime) {
  const TemporaryFolder folder;
  const std::string directory = folder.path + "/ranks";
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      for (int i = 0; i < 300; ++i) ASSERT_OK(open_file_store(directory, rank));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(LocalCollectiveTest, SplitsByColorInTheOrderOfKeys) {
  run_ranks(5, [](Channel& channel) {
    // 0 2 4 in reverse, 1 alone, 3 nowhere.
    const uint32_t own = channel.rank();
    const int32_t color = own == 3 ? -1 : static_cast<int32_t>(own % 2);
    auto part = channel.split(color, -static_cast<int32_t>(own));
    ASSERT_OK(part);
    ASSERT_EQ(part->get() == nullptr, own == 3);
    if (own == 3) return;
    EXPECT_EQ((*part)->rank_count(), own == 1 ? 1u : 3u);
    EXPECT_EQ((*part)->rank(), own == 1 ? 0u : (4 - own) / 2);
    EXPECT_EQ((*part)->name(), own == 1 ? "test/1" : "test/0");
    if (own != 1) check_moves(static_cast<Channel&>(**part), ElementType::kU16, 11);
  });
}

TEST(LocalCollectiveTest, RanksThatDisagreeOnTheirNumberAreTold) {
  const auto store = make_memory_store();
  std::thread other([&] {
    EXPECT_FAILS(Channel::make({"test", 1, 3, store.get(), kSecondNs}), StatusCode::kFailedPrecondition,
                 "rank 0 makes the channel for 2 ranks, rank 1 for 3.");
  });
  EXPECT_FAILS(Channel::make({"test", 0, 2, store.get(), kSecondNs}), StatusCode::kUnavailable,
               "Rank 1 failed: The ranks disagree");
  other.join();
  EXPECT_FAILS(Channel::make({"test", 0, 65, store.get(), kSecondNs}), StatusCode::kUnimplemented, "65 ranks");
}

void check_store(const std::string& name) {
  std::thread other([&] {
    const auto store = open_rank_store(name, 1, 10 * kSecondNs);
    ASSERT_OK(store);
    EXPECT_OK((*store)->set("from/1", std::string("a\0b", 3)));
    const auto heard = (*store)->get("from 0", 0, 10 * kSecondNs);
    ASSERT_OK(heard);
    EXPECT_EQ(*heard, "hello");
    EXPECT_FAILS((*store)->get("never", 0, 1'000'000), StatusCode::kDeadlineExceeded, "Rank 0 did not say 'never'");
    EXPECT_OK((*store)->get("heard", 0, 10 * kSecondNs));  // What a rank said goes with it.
  });
  const auto store = open_rank_store(name, 0, 10 * kSecondNs);
  ASSERT_OK(store);
  EXPECT_OK((*store)->set("from 0", "hello"));
  const auto heard = (*store)->get("from/1", 1, 10 * kSecondNs);
  EXPECT_OK((*store)->set("heard", ""));
  other.join();
  ASSERT_OK(heard);
  EXPECT_EQ(*heard, std::string("a\0b", 3));
  EXPECT_FAILS((*store)->get("more", 1, 10 * kSecondNs), StatusCode::kUnavailable, "Rank 1 is gone");
}

TEST(RankStoreTest, FilesCarryWordsAndTellWhoIsGone) {
  const TemporaryFolder folder;
  check_store("file:" + folder.path);
}

TEST(RankStoreTest, SocketsCarryWordsAndTellWhoIsGone) {
  // Below the ports that the system gives to whoever asks for any.
  check_store(text("tcp://localhost:", 20000 + getpid() % 12000));
}

TEST(RankStoreTest, RefusesWhatIsNoStore) {
  EXPECT_FAILS(open_rank_store("redis:x", 0, 0), StatusCode::kInvalidArgument, "'redis:x' is no store of ranks");
  EXPECT_FAILS(open_rank_store("tcp://nowhere", 0, 0), StatusCode::kInvalidArgument, "it is tcp://host:port");
  EXPECT_FAILS(open_rank_store("tcp://localhost:1", 1, 0), StatusCode::kUnavailable, "Nobody serves");
  EXPECT_FAILS(open_rank_store("file:/proc/nowhere", 0, 0), StatusCode::kUnavailable, "cannot make '/proc/nowhere'");
}

const char* nothing(const char*) { return nullptr; }
const char* openmpi(const char* name) {
  const std::string_view asked = name;
  if (asked == "OMPI_COMM_WORLD_RANK") return "1";
  if (asked == "OMPI_COMM_WORLD_SIZE") return "2";
  return asked == "OMPI_COMM_WORLD_LOCAL_SIZE" ? "1" : nullptr;
}
const char* too_high(const char* name) {
  const std::string_view asked = name;
  return asked == "BATON_RANK" || asked == "BATON_RANKS" ? "2" : nullptr;
}
const char* half(const char* name) { return std::string_view(name) == "BATON_RANK" ? "0" : nullptr; }

TEST(RanksTest, ComeFromTheEnvironment) {
  const auto alone = ranks_of_environment(nothing);
  ASSERT_OK(alone);
  EXPECT_EQ(alone->count, 1u);
  EXPECT_FAILS(ranks_of_environment(openmpi), StatusCode::kFailedPrecondition, "Of 2 ranks, 1 are on this machine");
  EXPECT_FAILS(ranks_of_environment(too_high), StatusCode::kInvalidArgument, "BATON_RANK=2 and BATON_RANKS=2");
  EXPECT_FAILS(ranks_of_environment(half), StatusCode::kInvalidArgument, "BATON_RANKS='', which is no number");
}

}  // namespace
}  // namespace baton::hal::drivers::local
