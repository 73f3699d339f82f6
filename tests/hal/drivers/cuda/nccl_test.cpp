// Goal: collectives on CUDA are what NCCL is told to do, on streams and in graphs, with other memory in each execution.
// Method: a fake NCCL beside the fake GPU, whose other ranks hold what this one does; and, where there are two GPUs and
// NCCL, the real ones: two ranks that are threads.
#include "hal/drivers/cuda/nccl.hpp"

#include <atomic>
#include <thread>

#include "hal/drivers/cuda/nccl_channel.hpp"
#include "hal/rank_meeting.hpp"
#include "hal/rank_store.hpp"
#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

// ---- The fake -------------------------------------------------------------------------------------------------------

struct FakeNccl {
  std::shared_ptr<const Symbols> cuda;
  std::vector<std::string> log;
  int rank_count = 0;
  int part_rank = 0;                 // Of what is split off.
  std::atomic<bool> waits = false;   // Whoever makes a communicator waits for another rank.
  std::atomic<int> in_progress = 0;  // So often NCCL says that it is still at it.
  std::atomic<int> aborts = 0;
  std::atomic<std::thread::id> late;   // Who waited.
  int failing = 0;                     // What the next enqueue returns.
  std::atomic<int> async_failure = 0;  // What ran before.
};
FakeNccl fake;

// The copy stands on the stream, or in the graph that the stream is captured into.
int enqueue(std::string line, const void* source, void* target, size_t bytes, CUstream stream) {
  fake.log.push_back(std::move(line));
  if (source && target) {
    fake.cuda->cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(target), reinterpret_cast<CUdeviceptr>(source), bytes,
                             stream);
  }
  return std::exchange(fake.failing, 0);
}

void wait_for_a_rank() {
  if (!fake.waits) return;
  fake.late = std::this_thread::get_id();
  while (fake.waits) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

size_t bytes_of(int type) {
  constexpr size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return sizes[type];
}

std::shared_ptr<const Nccl> make_fake_nccl() {
  auto nccl = std::make_shared<Nccl>();
  nccl->ncclGetVersion = [](int* version) { return *version = 22703, 0; };
  nccl->ncclGetUniqueId = [](NcclId* id) { return std::memset(id, 7, sizeof(*id)), 0; };
  nccl->ncclCommInitRank = [](NcclComm* comm, int count, NcclId id, int rank) {
    fake.log.push_back(text("init ", rank, " of ", count, id.bytes[127] == 7 ? "" : " with another id"));
    fake.rank_count = count;
    wait_for_a_rank();
    *comm = reinterpret_cast<NcclComm>(uintptr_t{1});
    return fake.in_progress > 0 ? 7 : 0;
  };
  nccl->ncclCommSplit = [](NcclComm, int color, int key, NcclComm* made, void*) {
    fake.log.push_back(text("split ", color, " ", key));
    wait_for_a_rank();
    *made = color < 0 ? nullptr : reinterpret_cast<NcclComm>(uintptr_t{2});
    return 0;
  };
  nccl->ncclCommUserRank = [](NcclComm, int* rank) { return *rank = fake.part_rank, 0; };
  nccl->ncclCommCount = [](NcclComm, int* count) { return *count = fake.rank_count, 0; };
  nccl->ncclCommGetAsyncError = [](NcclComm, int* result) {
    const bool is_at_it = fake.in_progress > 0 && fake.in_progress-- > 0;
    return *result = is_at_it ? 7 : fake.async_failure.load(), 0;
  };
  // What hangs on the device goes on.
  nccl->ncclCommAbort = [](NcclComm) {
    ++fake.aborts;
    if (std::this_thread::get_id() == fake.late) return 0;
    fake.log.push_back("abort");
    testing_support::fake_cuda().events_pass = true;
    return 0;
  };
  nccl->ncclGroupStart = [] { return fake.log.push_back("group"), 0; };
  nccl->ncclGroupEnd = [] { return fake.log.push_back("end"), 0; };
  nccl->ncclAllReduce = [](const void* source, void* target, size_t count, int type, int reduction, NcclComm,
                           CUstream stream) {
    return enqueue(text("all_reduce ", count, " type ", type, " reduction ", reduction), source, target,
                   count * bytes_of(type), stream);
  };
  nccl->ncclReduce = [](const void* source, void* target, size_t count, int type, int reduction, int root, NcclComm,
                        CUstream stream) {
    return enqueue(text("reduce ", count, " type ", type, " reduction ", reduction, " root ", root), source, target,
                   count * bytes_of(type), stream);
  };
  nccl->ncclBroadcast = [](const void* source, void* target, size_t count, int type, int root, NcclComm,
                           CUstream stream) {
    return enqueue(text("broadcast ", count, " type ", type, " root ", root), source, target, count * bytes_of(type),
                   stream);
  };
  nccl->ncclAllGather = [](const void* source, void* target, size_t count, int type, NcclComm, CUstream stream) {
    return enqueue(text("all_gather ", count, " type ", type), source, target, count * bytes_of(type), stream);
  };
  nccl->ncclReduceScatter = [](const void* source, void* target, size_t count, int type, int reduction, NcclComm,
                               CUstream stream) {
    return enqueue(text("reduce_scatter ", count, " type ", type, " reduction ", reduction), source, target,
                   count * bytes_of(type), stream);
  };
  nccl->ncclSend = [](const void* source, size_t count, int type, int peer, NcclComm, CUstream stream) {
    return enqueue(text("send ", count, " type ", type, " to ", peer), source, const_cast<void*>(source), count,
                   stream);
  };
  nccl->ncclRecv = [](void* target, size_t count, int type, int peer, NcclComm, CUstream stream) {
    return enqueue(text("receive ", count, " type ", type, " from ", peer), target, target, count, stream);
  };
  nccl->ncclGetErrorString = [](int result) { return result == 6 ? "remote process exited" : "unhandled cuda error"; };
  nccl->ncclGetLastError = [](NcclComm) { return "the cable"; };
  return nccl;
}

class NcclTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    fake.log.clear();
    fake.failing = fake.async_failure = fake.aborts = 0;
    fake.late = std::thread::id();
    fake.cuda = testing_support::make_fake_cuda();
    const DeviceParameter parameters[] = {{"cuda_mode", GetParam()}};
    nccl_ = make_fake_nccl();
    device_ = make_driver({.symbols = fake.cuda, .nccl = nccl_})->open("", parameters).value();
    channel_ = make_channel(2);
    ASSERT_TRUE(channel_);
  }

  // NCCL hears of the rank that was late, and whoever called it lets go of all.
  void release_the_late(long uses) {
    fake.waits = false;
    while (nccl_.use_count() > uses) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  // Rank 0's; the others only say that they are there.
  Ref<Channel> make_channel(uint32_t count, int64_t timeout_ns = 10 * kSecondNs) {
    auto made = try_channel(count, timeout_ns);
    EXPECT_OK(made);
    return made.has_value() ? *made : Ref<Channel>();
  }
  Result<Ref<Channel>> try_channel(uint32_t count, int64_t timeout_ns) {
    const auto store = make_memory_store();
    std::vector<std::thread> others;
    for (uint32_t rank = 1; rank < count; ++rank) {
      others.emplace_back([&, rank] {
        const ChannelRequest request{"gpus", rank, count, store.get(), 10 * kSecondNs};
        RankMeeting meeting(request);
        const auto id = meeting.hear();
        EXPECT_OK(id);
        EXPECT_OK(meeting.conclude({}));
      });
    }
    auto made = device_->make_channel({"gpus", 0, count, store.get(), timeout_ns});
    for (std::thread& other : others) other.join();
    return made;
  }

  // Records the collective over two slots and executes it with two tables.
  std::vector<std::string> lines_of(commands::Collective command, uint64_t source_bytes, uint64_t target_bytes) {
    fake.log.clear();
    command.channel = channel_.get();
    command.source = Binding(Slot{0}, 0, source_bytes);
    command.target = Binding(Slot{1}, 0, target_bytes);
    const auto commands = device_->make_command_buffer({.slot_count = 2}).value();
    EXPECT_OK(commands->collective(command));
    const auto recording = commands->finish().value();
    for (uint32_t word : {5u, 6u}) {
      const auto source = buffer_of(*device_, std::vector<uint32_t>(8, word)),
                 target = buffer_of(*device_, {0, 0, 0, 0, 0, 0, 0, 0});
      const BufferRange table[] = {source, target};
      EXPECT_OK(run(*device_, *recording, {.buffers = table}));
      target_ = values_of(*target);
      if (word == 5u) first_ = fake.log.size();
    }
    return {fake.log.begin(), fake.log.begin() + static_cast<ptrdiff_t>(first_)};
  }

  Ref<hal::Recording> sum_of_words() {
    memory_ = buffer_of(*device_, {0, 0, 0, 0});
    const auto commands = device_->make_command_buffer().value();
    EXPECT_OK(commands->collective(
        {.channel = channel_.get(), .reduction = Reduction::kSum, .source = memory_, .target = memory_}));
    return commands->finish().value();
  }

  std::shared_ptr<const Nccl> nccl_;
  Ref<hal::Device> device_;
  Ref<Channel> channel_;
  Ref<hal::Buffer> memory_;
  std::vector<uint32_t> target_;  // After the second execution.
  size_t first_ = 0;              // Lines of the first one.
};

using Lines = std::vector<std::string>;

TEST_P(NcclTest, TellsItWhatToReduce) {
  // A first exchange connects the ranks: in a capture NCCL could not. Then they tell each other where their memory is, and
  // whether they have opened it.
  EXPECT_EQ(fake.log,
            (Lines{"init 0 of 2", "all_reduce 2 type 3 reduction 0", "group", "send 4 type 0 to 0",
                   "receive 4 type 0 from 0", "send 4 type 0 to 1", "receive 4 type 0 from 1", "end",
                   text("all_gather ", sizeof(PeerReduction::Card), " type 0"), "all_reduce 1 type 3 reduction 3"}));
  EXPECT_EQ(lines_of({.reduction = Reduction::kSum}, 16, 16), (Lines{"all_reduce 4 type 7 reduction 0"}));
  EXPECT_EQ(target_, (std::vector<uint32_t>{6, 6, 6, 6, 0, 0, 0, 0}));
  EXPECT_EQ(lines_of({.reduction = Reduction::kAverage, .element_type = ElementType::kBF16}, 16, 16),
            (Lines{"all_reduce 8 type 9 reduction 4"}));
  EXPECT_EQ(lines_of({.reduction = Reduction::kSum, .element_type = ElementType::kI1}, 16, 16),
            (Lines{"all_reduce 16 type 1 reduction 2"}));
  EXPECT_EQ(lines_of({.reduction = Reduction::kSum, .element_type = ElementType::kC64}, 16, 16),
            (Lines{"all_reduce 4 type 7 reduction 0"}));
  EXPECT_EQ(lines_of({.operation = CollectiveOperation::kReduce,
                      .reduction = Reduction::kMinimum,
                      .element_type = ElementType::kU64,
                      .root = 1},
                     16, 16),
            (Lines{"reduce 2 type 5 reduction 3 root 1"}));
  EXPECT_EQ(lines_of({.operation = CollectiveOperation::kReduceScatter, .reduction = Reduction::kProduct}, 32, 16),
            (Lines{"reduce_scatter 4 type 7 reduction 1"}));
}

TEST_P(NcclTest, TellsItWhatToMove) {
  EXPECT_EQ(lines_of({.operation = CollectiveOperation::kAllGather}, 16, 32), (Lines{"all_gather 16 type 0"}));
  EXPECT_EQ(lines_of({.operation = CollectiveOperation::kBroadcast, .root = 1}, 16, 16),
            (Lines{"broadcast 16 type 0 root 1"}));
  EXPECT_EQ(lines_of({.operation = CollectiveOperation::kAllToAll}, 16, 16),
            (Lines{"group", "send 8 type 0 to 0", "receive 8 type 0 from 0", "send 8 type 0 to 1",
                   "receive 8 type 0 from 1", "end"}));
  EXPECT_EQ(lines_of({.operation = CollectiveOperation::kPermute, .to = 1, .from = 1}, 16, 16),
            (Lines{"group", "send 16 type 0 to 1", "receive 16 type 0 from 1", "end"}));
  EXPECT_EQ(lines_of({.operation = CollectiveOperation::kSend, .to = 1}, 16, 16),
            (Lines{"group", "send 16 type 0 to 1", "end"}));
  EXPECT_EQ(lines_of({.operation = CollectiveOperation::kReceive, .from = 1}, 16, 16),
            (Lines{"group", "receive 16 type 0 from 1", "end"}));
}

TEST_P(NcclTest, RefusesWhatItCannot) {
  const auto commands = device_->make_command_buffer().value();
  const auto memory = buffer_of(*device_, {0, 0, 0, 0});
  for (const ElementType type : {ElementType::kI16, ElementType::kU16}) {
    EXPECT_FAILS(commands->collective({.channel = channel_.get(),
                                       .reduction = Reduction::kSum,
                                       .element_type = type,
                                       .source = memory,
                                       .target = memory}),
                 StatusCode::kUnimplemented, text("NCCL has no sum of ", element_type_name(type), "."));
  }
  EXPECT_FAILS(commands->collective({.channel = channel_.get(),
                                     .reduction = Reduction::kProduct,
                                     .element_type = ElementType::kC64,
                                     .source = memory,
                                     .target = memory}),
               StatusCode::kUnimplemented, "NCCL has no product of complex<f32>.");
  EXPECT_FAILS(device_->make_channel({"gpus", 0, 2, nullptr}), StatusCode::kFailedPrecondition, "There is no store");
}

TEST_P(NcclTest, ItsFailuresAreToldByName) {
  const Ref<hal::Recording> recording = sum_of_words();
  fake.failing = 1;
  EXPECT_FAILS(run(*device_, *recording), StatusCode::kUnavailable,
               "ncclAllReduce failed: unhandled cuda error (1), the cable.");
  EXPECT_OK(run(*device_, *recording));
}

TEST_P(NcclTest, SplitsAndAbortsWhenItsGone) {
  const auto part = channel_->split(0, 3);
  ASSERT_OK(part);
  EXPECT_EQ((*part)->rank_count(), 2u);
  const auto none = channel_->split(-1, 3);
  ASSERT_OK(none);
  EXPECT_FALSE(*none);
  EXPECT_THAT(fake.log, testing::IsSupersetOf({"init 0 of 2", "split 0 3", "split -1 3"}));
  channel_ = nullptr;
  EXPECT_EQ(fake.log.back(), "abort");
}

// A rank that never comes: the device would wait for it for ever.
TEST_P(NcclTest, AWaitThatIsTooLongEndsTheChannel) {
  channel_ = make_channel(2, kSecondNs);
  fake.log.clear();
  const Ref<hal::Recording> sum = sum_of_words();
  const auto other = device_->make_command_buffer().value();
  const auto memory = buffer_of(*device_, {1, 2});
  EXPECT_OK(other->fill_buffer({.target = memory, .pattern = 9}));
  const auto fill = other->finish().value();
  EXPECT_OK(run(*device_, *sum));
  testing_support::fake_cuda().events_pass = false;
  const auto done = device_->make_semaphore(0).value();
  const SemaphorePoint first(done, 1), second(done, 2);
  EXPECT_OK(device_->queue().execute({.signals = {&first, 1}}, *sum));
  EXPECT_OK(device_->queue().execute({{&first, 1}, {&second, 1}}, *fill));
  constexpr const char* kSentence = "Work with collectives is under way for 1000 ms: another rank is gone, or late";
  EXPECT_FAILS(done->wait(2), StatusCode::kDeadlineExceeded, kSentence);
  EXPECT_EQ(std::count(fake.log.begin(), fake.log.end(), "abort"), 1);
  // The channel stays ended; the device, and another channel, work.
  EXPECT_FAILS(run(*device_, *sum), StatusCode::kDeadlineExceeded, "in channel 'gpus' (rank 0 of 2)");
  EXPECT_OK(run(*device_, *fill));
  EXPECT_OK(device_->queue().wait_idle());
  EXPECT_EQ(values_of(*memory), (std::vector<uint32_t>{9, 9}));
  channel_ = make_channel(2);
  EXPECT_OK(run(*device_, *sum_of_words()));
}

// A rank that dies: NCCL says so to whoever asks, and its work on the device goes on only when it is told to end.
TEST_P(NcclTest, WhatNcclFindsOutEndsTheWait) {
  const Ref<hal::Recording> sum = sum_of_words();
  testing_support::fake_cuda().events_pass = false;
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    fake.async_failure = 6;
  });
  EXPECT_FAILS(run(*device_, *sum), StatusCode::kUnavailable,
               "A collective failed: remote process exited (6), the cable.");
  later.join();
  EXPECT_FAILS(run(*device_, *sum), StatusCode::kUnavailable, "remote process exited");
  fake.async_failure = 0;
}

// Work that nobody waits for by a semaphore.
TEST_P(NcclTest, AnIdleWaitHearsOfIt) {
  channel_ = make_channel(2, kSecondNs);
  const Ref<hal::Recording> sum = sum_of_words();
  testing_support::fake_cuda().events_pass = false;
  EXPECT_OK(device_->queue().execute({}, *sum));
  EXPECT_FAILS(device_->queue().wait_idle(), StatusCode::kDeadlineExceeded,
               "Work with collectives is under way for 1000 ms");
  EXPECT_OK(device_->queue().wait_idle());
}

// An event is for those who wait: the rest share some, and hear of what failed when they wait for all.
TEST_P(NcclTest, ExecutionsThatNobodyWaitsForShareEvents) {
  channel_ = make_channel(2, kSecondNs);
  const Ref<hal::Recording> sum = sum_of_words();
  EXPECT_OK(run(*device_, *sum));
  testing_support::fake_cuda().events_pass = false;
  const size_t before = testing_support::fake_cuda().count("cuEventRecord");
  for (int round = 0; round < 24; ++round) EXPECT_OK(device_->queue().execute({}, *sum));
  // One for eight; and the worker lets go of what it finds at first.
  EXPECT_LE(testing_support::fake_cuda().count("cuEventRecord") - before, 24u / 8 + 1);
  fake.async_failure = 6;
  EXPECT_FAILS(device_->queue().wait_idle(), StatusCode::kUnavailable, "remote process exited");
  EXPECT_OK(device_->queue().wait_idle());
  EXPECT_FAILS(run(*device_, *sum), StatusCode::kUnavailable, "remote process exited");
  fake.async_failure = 0;
}

// In order, and not one late: the watch goes on from one to the next.
TEST_P(NcclTest, ManyInOrderAreNotLate) {
  channel_ = make_channel(2, kSecondNs / 2);
  const Ref<hal::Recording> sum = sum_of_words();
  for (int round = 0; round < 800; ++round) EXPECT_OK(run(*device_, *sum));
}

// Rank 0 is played, and says in `word` what it records; its status is what it hears.
TEST_P(NcclTest, RanksThatDisagreeAreToldWhenTheyRecord) {
  const auto both = [&](uint64_t bytes, ElementType type) {
    const auto store = make_memory_store();
    Status first;
    std::thread other([&] {
      const ChannelRequest request{"checked", 0, 2, store.get(), 10 * kSecondNs};
      RankMeeting meeting(request);
      EXPECT_OK(meeting.tell(std::string(sizeof(NcclId), 7)));
      EXPECT_OK(meeting.conclude({}));
      const ChannelRequest records{"channel/checked/0 records", 0, 2, store.get(), 10 * kSecondNs};
      RankMeeting comparison(records);
      EXPECT_OK(comparison.tell(std::string("all_reduce of 16 bytes of f32, sum")));
      first = comparison.conclude({});
    });
    const auto channel = device_->make_channel({"checked", 1, 2, store.get(), 10 * kSecondNs, store}).value();
    const auto commands = device_->make_command_buffer({.slot_count = 2}).value();
    Status second = commands->collective({.channel = channel.get(),
                                          .reduction = Reduction::kSum,
                                          .element_type = type,
                                          .source = Binding(Slot{0}, 0, bytes),
                                          .target = Binding(Slot{1}, 0, bytes)});
    other.join();
    EXPECT_EQ(first.ok(), second.ok());
    return second;
  };
  EXPECT_OK(both(16, ElementType::kF32));
  EXPECT_FAILS(both(32, ElementType::kF32), StatusCode::kInvalidArgument,
               "rank 0 records all_reduce of 16 bytes of f32, sum, rank 1 all_reduce of 32 bytes of f32, sum.");
  EXPECT_FAILS(both(16, ElementType::kI32), StatusCode::kInvalidArgument, "rank 1 all_reduce of 16 bytes of i32, sum.");
}

// Rank 0 is played: what it says is no id, or is for other ranks.
TEST_P(NcclTest, AWrongIdIsToldToAll) {
  const auto meet = [&](uint32_t count, std::string_view id) {
    const auto store = make_memory_store();
    Status first;
    std::thread other([&] {
      const ChannelRequest request{"wrong", 0, count, store.get(), 10 * kSecondNs};
      RankMeeting meeting(request);
      EXPECT_OK(meeting.tell(std::string(id)));
      first = meeting.conclude({});
    });
    const auto made = device_->make_channel({"wrong", 1, 2, store.get(), 10 * kSecondNs});
    other.join();
    EXPECT_FALSE(first.ok());
    return made.has_value() ? Status() : made.error().clone();
  };
  EXPECT_FAILS(meet(2, "short"), StatusCode::kInvalidArgument, "Rank 0's id is none.");
  EXPECT_FAILS(meet(2, std::string(500, 7)), StatusCode::kInvalidArgument, "Rank 0's id is none.");
  EXPECT_FAILS(meet(3, std::string(sizeof(NcclId), 7)), StatusCode::kFailedPrecondition,
               "The ranks disagree: rank 0 makes the channel for 3 ranks, rank 1 for 2.");
}

// Programs on several threads have channels of one name. Rank 0, which is played, records for the first of two and then for
// the second; this rank the other way round.
TEST_P(NcclTest, ChannelsOfOneNameAreComparedApart) {
  const auto store = make_memory_store();
  const auto meet = [&] {
    std::thread other([&] {
      const ChannelRequest request{"both", 0, 2, store.get(), 10 * kSecondNs};
      RankMeeting meeting(request);
      EXPECT_OK(meeting.tell(std::string(sizeof(NcclId), 7)));
      EXPECT_OK(meeting.conclude({}));
    });
    auto made = device_->make_channel({"both", 1, 2, store.get(), 10 * kSecondNs, store}).value();
    other.join();
    return made;
  };
  const Ref<Channel> first = meet(), second = meet();
  const auto say = [&](const char* name, const char* words) {
    const ChannelRequest request{name, 0, 2, store.get(), 10 * kSecondNs};
    RankMeeting meeting(request);
    EXPECT_OK(meeting.tell(std::string(words)));
    EXPECT_OK(meeting.conclude({}));
  };
  std::thread one(say, "channel/both/0 records", "all_reduce of 16 bytes of f32, sum");
  std::thread two(say, "channel/both/1 records", "all_reduce of 32 bytes of f32, sum");
  const auto record = [&](Channel& channel, uint64_t bytes) {
    return device_->make_command_buffer({.slot_count = 2})
        .value()
        ->collective({.channel = &channel,
                      .reduction = Reduction::kSum,
                      .source = Binding(Slot{0}, 0, bytes),
                      .target = Binding(Slot{1}, 0, bytes)});
  };
  EXPECT_OK(record(*second, 32));
  EXPECT_OK(record(*first, 16));
  one.join();
  two.join();
}

// Everybody said to be there, and one is gone when NCCL connects them.
TEST_P(NcclTest, MakingAChannelHasAnEnd) {
  const long uses = nccl_.use_count();
  fake.waits = true;
  EXPECT_FAILS(try_channel(2, 30'000'000), StatusCode::kDeadlineExceeded,
               "ncclCommInitRank did not come back within 30 ms: NCCL waits for another rank that is gone");
  EXPECT_EQ(fake.aborts, 0);
  release_the_late(uses);
  EXPECT_EQ(fake.aborts, 1);  // What came too late.
  EXPECT_OK(run(*device_, *sum_of_words()));
  EXPECT_OK(try_channel(2, 10 * kSecondNs));
}

TEST_P(NcclTest, SplittingAChannelHasAnEnd) {
  channel_ = make_channel(2, kSecondNs);
  const long uses = nccl_.use_count();
  fake.waits = true;
  EXPECT_FAILS(channel_->split(0, 0), StatusCode::kDeadlineExceeded, "ncclCommSplit did not come back within 1000 ms");
  release_the_late(uses);
  // NCCL was in the channel that was split: it ended.
  EXPECT_FAILS(run(*device_, *sum_of_words()), StatusCode::kDeadlineExceeded, "in channel 'gpus' (rank 0 of 2)");
  EXPECT_FAILS(channel_->split(0, 0), StatusCode::kDeadlineExceeded, "in channel 'gpus'");
}

// NCCL_COMM_BLOCKING=0.
TEST_P(NcclTest, WhatIsStillInProgressIsNoFailure) {
  fake.in_progress = 5;
  EXPECT_OK(try_channel(2, 10 * kSecondNs));
  EXPECT_EQ(fake.in_progress, 0);
}

// The others of the whole, ranks 0 and 2, are played: 2 is rank 0 of the part, as its key says, and this one rank 1.
TEST_P(NcclTest, RanksOfAPartAreToldToo) {
  const auto store = make_memory_store();
  std::thread other([&] {
    const ChannelRequest request{"whole", 0, 3, store.get(), 10 * kSecondNs};
    RankMeeting meeting(request);
    EXPECT_OK(meeting.tell(std::string(sizeof(NcclId), 7)));
    EXPECT_OK(meeting.conclude({}));
  });
  std::thread third([&] {
    const ChannelRequest request{"whole", 2, 3, store.get(), 10 * kSecondNs};
    RankMeeting meeting(request);
    EXPECT_OK(meeting.hear());
    EXPECT_OK(meeting.conclude({}));
  });
  const auto whole = device_->make_channel({"whole", 1, 3, store.get(), 10 * kSecondNs, store}).value();
  other.join();
  third.join();
  // Two splits whose parts have one name.
  for (int split = 0; split < 2; ++split) {
    const std::string said = text("channel/channel/whole/0 splits/", split, "/");
    EXPECT_OK(store->set(said + "0", "8 0"));
    EXPECT_OK(store->set(said + "2", "4 -1"));
    fake.part_rank = 1;
    fake.rank_count = 2;
    const auto part = whole->split(4, 0).value();
    EXPECT_EQ(part->rank(), 1u);
    const std::string key = text(said, "of 4/channel/channel/whole/0/whole/4 records/0");
    EXPECT_OK(store->set(key, "+2 all_gather of 16 bytes of f32"));
    const auto commands = device_->make_command_buffer({.slot_count = 2}).value();
    EXPECT_FAILS(commands->collective({.channel = part.get(),
                                       .reduction = Reduction::kSum,
                                       .source = Binding(Slot{0}, 0, 16),
                                       .target = Binding(Slot{1}, 0, 16)}),
                 StatusCode::kInvalidArgument,
                 "disagree: rank 0 records all_gather of 16 bytes of f32, rank 1 all_reduce of 16 bytes of f32, sum.");
  }
  fake.part_rank = 0;
}

INSTANTIATE_TEST_SUITE_P(Modes, NcclTest, testing::Values("stream", "graph"));

TEST(NcclLibraryTest, AMissingOneIsTold) {
  setenv("BATON_NCCL", "/nowhere/libnccl.so.2", 1);
  EXPECT_FAILS(load_nccl(), StatusCode::kUnavailable, "No NCCL: '/nowhere/libnccl.so.2' cannot be opened");
  setenv("BATON_NCCL", "libdl.so.2", 1);
  EXPECT_FAILS(load_nccl(), StatusCode::kUnavailable, "'libdl.so.2' is no NCCL: it has no 'ncclGetVersion'.");
  unsetenv("BATON_NCCL");
}

// ---- Two GPUs -------------------------------------------------------------------------------------------------------

class NcclRealTest : public testing::TestWithParam<const char*> {};

void check_rank(uint32_t rank, const char* mode, RankStore& store) {
  const DeviceParameter parameters[] = {{"cuda_mode", mode}};
  auto device = make_driver()->open(text(rank), parameters);
  ASSERT_OK(device);
  const auto channel = (*device)->make_channel({"real", rank, 2, &store, 60 * kSecondNs});
  ASSERT_OK(channel);
  const auto commands = (*device)->make_command_buffer({.slot_count = 2}).value();
  const Binding source(Slot{0}, 0, 16), target(Slot{1}, 0, 16);
  const uint32_t other = 1 - rank;
  EXPECT_OK(commands->collective({.channel = channel->get(),
                                  .reduction = Reduction::kSum,
                                  .element_type = ElementType::kI32,
                                  .source = source,
                                  .target = target}));
  const auto sum = commands->finish().value();
  const auto more = (*device)->make_command_buffer({.slot_count = 2}).value();
  EXPECT_OK(more->collective({.channel = channel->get(),
                              .operation = CollectiveOperation::kPermute,
                              .element_type = ElementType::kI32,
                              .to = other,
                              .from = other,
                              .source = source,
                              .target = target}));
  EXPECT_OK(more->collective({.channel = channel->get(),
                              .operation = CollectiveOperation::kAllToAll,
                              .element_type = ElementType::kI32,
                              .source = target,
                              .target = source}));
  const auto exchange = more->finish().value();
  for (uint32_t round = 1; round <= 10; ++round) {
    const uint32_t own = round * (rank + 1), its = round * (other + 1);
    const auto from = buffer_of(**device, {own, 2 * own, 3 * own, 4 * own}), to = buffer_of(**device, {0, 0, 0, 0});
    const BufferRange table[] = {from, to};
    EXPECT_OK(run(**device, *sum, {.buffers = table}));
    EXPECT_EQ(values_of(*to), (std::vector<uint32_t>{3 * round, 6 * round, 9 * round, 12 * round}));
    EXPECT_OK(run(**device, *exchange, {.buffers = table}));
    EXPECT_EQ(values_of(*to), (std::vector<uint32_t>{its, 2 * its, 3 * its, 4 * its}));
    // Rank 0 holds rank 1's words and the other way round; each gets its half of both.
    const uint32_t a = rank * 2 + 1, b = a + 1, one = 2 * round, two = round;
    EXPECT_EQ(values_of(*from), (std::vector<uint32_t>{a * one, b * one, a * two, b * two}));
  }
}

std::string missing_for_two_gpus() {
  const auto devices = make_driver()->list();
  if (!devices.has_value() || devices->size() < 2) return "skipped: there are no two CUDA devices";
  const auto nccl = load_nccl();
  return nccl.has_value() ? "" : "skipped: " + nccl.error().to_string();
}

Ref<hal::Recording> sum_in_place(hal::Device& device, Channel& channel, hal::Buffer& memory) {
  const auto commands = device.make_command_buffer().value();
  EXPECT_OK(commands->collective({.channel = &channel,
                                  .reduction = Reduction::kSum,
                                  .element_type = ElementType::kU32,
                                  .source = memory,
                                  .target = memory}));
  return commands->finish().value();
}

// Rank 1 makes the channel and is never heard of again; rank 0 waits for it on the device. Then both begin anew.
void wait_in_vain(uint32_t rank, const char* mode, RankStore& store, std::atomic<bool>& is_over) {
  const DeviceParameter parameters[] = {{"cuda_mode", mode}};
  const auto device = make_driver()->open(text(rank), parameters).value();
  const auto memory = buffer_of(*device, {rank + 1, rank + 1});
  {
    const auto channel = device->make_channel({"vain", rank, 2, &store, 2 * kSecondNs});
    ASSERT_OK(channel);
    const auto sum = sum_in_place(*device, **channel, *memory);
    if (rank == 0) {
      const auto begun = std::chrono::steady_clock::now();
      EXPECT_FAILS(run(*device, *sum), StatusCode::kDeadlineExceeded, "Work with collectives is under way for 2000 ms");
      EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
      EXPECT_FAILS(run(*device, *sum), StatusCode::kDeadlineExceeded, "in channel 'vain' (rank 0 of 2)");
      EXPECT_OK(device->queue().wait_idle());
      is_over = true;
    }
    while (!is_over) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const auto channel = device->make_channel({"again", rank, 2, &store, 60 * kSecondNs});
  ASSERT_OK(channel);
  const auto words = buffer_of(*device, {rank + 1, rank + 1});
  EXPECT_OK(run(*device, *sum_in_place(*device, **channel, *words)));
  EXPECT_EQ(values_of(*words), (std::vector<uint32_t>{3, 3}));
}

TEST_P(NcclRealTest, ARankThatNeverComesEndsTheWaitAndNothingElse) {
  if (const std::string missing = missing_for_two_gpus(); !missing.empty()) GTEST_SKIP() << missing;
  const auto store = make_memory_store();
  std::atomic<bool> is_over = false;
  std::thread other(wait_in_vain, 1, GetParam(), std::ref(*store), std::ref(is_over));
  wait_in_vain(0, GetParam(), *store, is_over);
  is_over = true;
  other.join();
}

TEST_P(NcclRealTest, TwoGpusCombineAndExchange) {
  if (const std::string missing = missing_for_two_gpus(); !missing.empty()) GTEST_SKIP() << missing;
  const auto store = make_memory_store();
  std::thread other(check_rank, 1, GetParam(), std::ref(*store));
  check_rank(0, GetParam(), *store);
  other.join();
}

INSTANTIATE_TEST_SUITE_P(Modes, NcclRealTest, testing::Values("stream", "graph"));

}  // namespace
}  // namespace baton::hal::drivers::cuda
