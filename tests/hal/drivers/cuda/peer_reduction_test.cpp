// Goal: ranks reduce through each other's memory where all of them can, and NCCL does what is left; the kernels are right
// on two and more GPUs. Method: scripted neighbours on the fake GPU for what is decided; ptxas for the kernels' texts where
// it is; every type, reduction, length and offset on real GPUs, where there are two.
#include "hal/drivers/cuda/peer_reduction.hpp"

#include <cstdlib>
#include <fstream>
#include <thread>

#include "hal/drivers/cuda/nccl_channel.hpp"
#include "hal/drivers/cuda/peer_reduction_code.hpp"
#include "hal/element_value.hpp"
#include "hal/rank_store.hpp"
#include "tests/hal/drivers/cuda/cuda_device.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using Card = PeerReduction::Card;
constexpr NcclType kSumOfF32 = {kNcclFloat32, kNcclSum, 4};

// What the kernel was told, once for each launch.
std::vector<PeerReductionParameters>& launches() {
  static std::vector<PeerReductionParameters> all;
  return all;
}

class Neighbour final : public PeerReduction::Talk {
 public:
  Neighbour(void (*change)(Card&), bool says) : change_(change), says_(says) {}
  Result<std::vector<Card>> exchange(const Card& own) override {
    Card other = own;
    other.device[0] ^= 1;
    other.ordinal = 1;
    other.context = 2;  // The fake's contexts are their devices' numbers, from 1 on.
    change_(other);
    return std::vector<Card>{own, other};
  }
  Result<bool> all(bool says_yes) override {
    heard = says_yes;
    return says_yes && says_;
  }

  bool heard = false;

 private:
  void (*const change_)(Card&);
  const bool says_;
};

class PeerReductionTest : public testing::Test {
 protected:
  void SetUp() override {
    symbols_ = testing_support::make_fake_cuda();
    testing_support::FakeCuda& fake = testing_support::fake_cuda();
    fake.device_count = 2;
    fake.opens_memory = true;
    fake.kernels = {{kPeerReductionName, {8, 8, 4, 4, 8, 8, 8}, [](const testing_support::FakeLaunch& launch) {
                       PeerReductionParameters told = {};
                       std::memcpy(&told, launch.parameters, 48);
                       launches().push_back(told);
                     }}};
    launches().clear();
    context_ = PrimaryContext::retain_device(symbols_, 0).value();
  }

  // Rank 0, whose neighbour's card is its own with what `change` makes of it.
  std::shared_ptr<PeerReduction> join(void (*change)(Card&), bool other_says = true, bool wanted = true) {
    Neighbour neighbour(change, other_says);
    auto made = PeerReduction::join(context_, 0, 2, wanted, neighbour);
    said_ = neighbour.heard;
    EXPECT_OK(made);
    return made.has_value() ? *made : nullptr;
  }

  std::shared_ptr<const Symbols> symbols_;
  Ref<PrimaryContext> context_;
  bool said_ = false;  // This rank: all memory is open.
};

TEST_F(PeerReductionTest, NeighboursJoin) {
  EXPECT_TRUE(join([](Card&) {}));
  EXPECT_EQ(testing_support::fake_cuda().count("cuCtxEnablePeerAccess"), 1u);
  EXPECT_EQ(testing_support::fake_cuda().count("cuIpcOpenMemHandle"), 0u);
  EXPECT_EQ(testing_support::fake_cuda().count("cuMemFree"), 1u);
}

TEST_F(PeerReductionTest, ProcessesOpenEachOthersMemory) {
  EXPECT_TRUE(join([](Card& card) { ++card.process; }));
  EXPECT_EQ(testing_support::fake_cuda().count("cuIpcOpenMemHandle"), 1u);
  EXPECT_EQ(testing_support::fake_cuda().count("cuIpcCloseMemHandle"), 1u);
}

TEST_F(PeerReductionTest, OneThatCannotLeavesAllToNccl) {
  EXPECT_FALSE(join([](Card& card) { ++card.machine; }));
  EXPECT_FALSE(join([](Card& card) { card.is_ready = 0; }));
  EXPECT_FALSE(join([](Card& card) { card.device[0] ^= 1; }));  // One GPU for two ranks.
  EXPECT_FALSE(join([](Card& card) {
    ++card.process;
    card.handle = {};
  }));
  EXPECT_FALSE(said_);
  EXPECT_FALSE(join([](Card&) {}, /*other_says=*/false));
  EXPECT_TRUE(said_);
  EXPECT_FALSE(join([](Card&) {}, true, /*wanted=*/false));
  testing_support::fake_cuda().peer_access = false;
  EXPECT_FALSE(join([](Card&) {}));
  testing_support::fake_cuda().peer_access = true;
  testing_support::fake_cuda().opens_memory = false;
  EXPECT_FALSE(join([](Card&) {}));
  testing_support::fake_cuda().opens_memory = true;
  testing_support::fake_cuda().memory_bytes = 1024;
  EXPECT_FALSE(join([](Card&) {}));
}

TEST_F(PeerReductionTest, TakesWhatIsSmall) {
  const auto peers = join([](Card&) {});
  ASSERT_TRUE(peers);
  const NcclType products_of_bytes = {kNcclInt8, kNcclProduct, 1};
  EXPECT_FALSE(peers->takes(CollectiveOperation::kAllReduce, kSumOfF32, 4));  // Nobody prepared it.
  EXPECT_OK(peers->prepare(CollectiveOperation::kAllReduce, kSumOfF32));
  EXPECT_OK(peers->prepare(CollectiveOperation::kAllReduce, products_of_bytes));
  EXPECT_OK(peers->prepare(CollectiveOperation::kAllGather, kSumOfF32));
  EXPECT_TRUE(peers->takes(CollectiveOperation::kAllReduce, kSumOfF32, 4));
  EXPECT_TRUE(peers->takes(CollectiveOperation::kAllReduce, kSumOfF32, 256 << 10));
  EXPECT_FALSE(peers->takes(CollectiveOperation::kAllReduce, kSumOfF32, (256 << 10) + 4));
  EXPECT_FALSE(peers->takes(CollectiveOperation::kAllReduce, kSumOfF32, 0));
  EXPECT_FALSE(peers->takes(CollectiveOperation::kAllGather, kSumOfF32, 4));
  EXPECT_FALSE(peers->takes(CollectiveOperation::kAllReduce, products_of_bytes, 4));
}

TEST_F(PeerReductionTest, TellsTheKernelWhereAllIs) {
  const auto peers = join([](Card& card) { card.region = 4096; });
  ASSERT_TRUE(peers);
  EXPECT_OK(peers->prepare(CollectiveOperation::kAllReduce, kSumOfF32));
  const ContextScope scope = context_->enter();
  CUstream stream = nullptr;
  ASSERT_EQ(symbols_->cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  EXPECT_OK(peers->enqueue(kSumOfF32, {1024, nullptr, 2052}, {8192, nullptr, 2052}, stream));
  symbols_->cuStreamDestroy(stream);
  EXPECT_EQ(testing_support::fake_cuda().count("cuLaunchKernel baton_peer_reduction (2, 1, 1)"), 1u);
  ASSERT_EQ(launches().size(), 1u);
  const PeerReductionParameters& told = launches()[0];
  EXPECT_EQ(told.source, 1024u);
  EXPECT_EQ(told.target, 8192u);
  EXPECT_EQ(told.count, 513u);
  EXPECT_EQ(told.rank, 0u);
  EXPECT_EQ(told.regions[1], 4096u);
  const auto* ended = reinterpret_cast<const uint32_t*>(told.ended);
  EXPECT_EQ(*ended, 0u);
  peers->end();
  EXPECT_EQ(*ended, 1u);
}

// Every type and reduction of NCCL.
template <typename Each>
void each_type(const Each& each) {
  for (int type = kNcclInt8; type <= kNcclBfloat16; ++type) {
    for (int reduction = kNcclSum; reduction <= kNcclAverage; ++reduction) each(NcclType{type, reduction, 0});
  }
}

TEST(PeerReductionCode, ThereIsOneForNumbersOfTwoBytesAndMore) {
  size_t count = 0;
  each_type([&](const NcclType& as) { count += peer_reduction_code(as, 2).empty() ? 0 : 1; });
  // Four integers without averages; f64 without minimum and maximum, which would lose a NaN; f32 and halves.
  EXPECT_EQ(count, 4u * 4 + 3 + 3 * 5);
  EXPECT_EQ(peer_reduction_code(kSumOfF32, 1), "");
  EXPECT_EQ(peer_reduction_code(kSumOfF32, 9), "");
}

TEST(PeerReductionCode, PtxasTakesThem) {
  const char* assembler = std::getenv("BATON_PTXAS");
  const std::string ptxas = assembler ? assembler : "ptxas";
  if (std::system((ptxas + " --version >/dev/null 2>&1").c_str()) != 0) {
    GTEST_SKIP() << "skipped: there is no ptxas; BATON_PTXAS names it";
  }
  const std::string path = testing::TempDir() + "peer_reduction.ptx";
  for (const uint32_t ranks : {2u, 3u, 8u}) {
    each_type([&](const NcclType& as) {
      const std::string code = peer_reduction_code(as, ranks);
      if (code.empty()) return;
      std::ofstream(path) << code;
      EXPECT_EQ(std::system((ptxas + " -arch=sm_80 -o /dev/null " + path).c_str()), 0) << code;
    });
  }
}

// ---- Real GPUs ------------------------------------------------------------------------------------------------------

struct RealCase {
  ElementType type;
  Reduction reduction;
  uint64_t count;
  uint64_t skipped;  // Elements in front of it, which need not lie at a multiple of eight bytes.
  bool in_place;
};

void store_number(ElementType type, double value, std::byte* at) {
  if (is_float(type)) return store_float(type, value, at);
  store_integer(type, static_cast<uint64_t>(value), at);
}

// Small whole numbers: what comes of them is rounded once at most, in whatever order.
double number_of(uint32_t rank, uint64_t index, uint32_t round) {
  return static_cast<double>((index * 7 + rank * 3 + round) % 5) + 1;
}
double expected_of(const RealCase& c, uint32_t ranks, uint64_t index, uint32_t round) {
  double value = number_of(0, index, round);
  for (uint32_t rank = 1; rank < ranks; ++rank) {
    const double next = number_of(rank, index, round);
    switch (c.reduction) {
      case Reduction::kProduct: value *= next; break;
      case Reduction::kMinimum: value = std::min(value, next); break;
      case Reduction::kMaximum: value = std::max(value, next); break;
      default: value += next;
    }
  }
  return c.reduction == Reduction::kAverage ? value / ranks : value;
}

std::vector<RealCase> real_cases() {
  std::vector<RealCase> cases;
  for (const ElementType type : {ElementType::kF16, ElementType::kBF16, ElementType::kF32, ElementType::kF64,
                                 ElementType::kI32, ElementType::kU32, ElementType::kI64, ElementType::kU64}) {
    for (const Reduction reduction :
         {Reduction::kSum, Reduction::kProduct, Reduction::kMinimum, Reduction::kMaximum, Reduction::kAverage}) {
      if (reduction == Reduction::kAverage && !is_float(type)) continue;
      for (const uint64_t count : {1u, 3u, 257u, 13312u}) {
        cases.push_back({type, reduction, count, 0, false});
        cases.push_back({type, reduction, count, 1, true});
      }
    }
    cases.push_back({type, Reduction::kSum, 60000, 0, true});
  }
  return cases;
}

// Several executions of one recording, with other memory and other numbers in each.
void check_case(hal::Device& device, Channel& channel, const RealCase& c) {
  const uint64_t bytes = element_bytes(c.type), length = (c.skipped + c.count) * bytes;
  const auto commands = device.make_command_buffer({.slot_count = 2}).value();
  const Binding source(Slot{0}, c.skipped * bytes, c.count * bytes),
      target(Slot{1}, c.skipped * bytes, c.count * bytes);
  EXPECT_OK(commands->collective(
      {.channel = &channel, .reduction = c.reduction, .element_type = c.type, .source = source, .target = target}));
  const auto recording = commands->finish().value();
  const uint32_t ranks = channel.rank_count();
  for (uint32_t round = 0; round < 3; ++round) {
    const auto from = device.allocator().allocate({.length = length}).value();
    const auto to = c.in_place ? from : device.allocator().allocate({.length = length}).value();
    {
      auto mapping = from->map(Access::kDiscardWrite);
      for (uint64_t i = 0; i < c.count; ++i) {
        store_number(c.type, number_of(channel.rank(), i, round), mapping->bytes().data() + (c.skipped + i) * bytes);
      }
    }
    const BufferRange table[] = {from, to};
    ASSERT_OK(run(device, *recording, {.buffers = table}));
    const auto mapping = to->map(Access::kRead);
    for (uint64_t i = 0; i < c.count; ++i) {
      std::byte expected[8];
      store_number(c.type, expected_of(c, ranks, i, round), expected);
      ASSERT_EQ(std::memcmp(expected, mapping->bytes().data() + (c.skipped + i) * bytes, bytes), 0)
          << element_type_name(c.type) << " " << commands::reduction_name(c.reduction) << " " << c.count << " at "
          << c.skipped << ", element " << i << " of round " << round;
    }
  }
}

void check_all(uint32_t rank, uint32_t ranks, const char* mode, const char* peers, RankStore& store) {
  const DeviceParameter parameters[] = {{"cuda_mode", mode}, {"cuda_peer_reduction", peers}};
  auto device = make_driver()->open(text(rank), parameters);
  ASSERT_OK(device);
  const auto channel = (*device)->make_channel({"peers", rank, ranks, &store, int64_t{60'000'000'000}});
  ASSERT_OK(channel);
  for (const RealCase& c : real_cases()) check_case(**device, **channel, c);
}

class RealPeerReductionTest : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(RealPeerReductionTest, EveryTypeReductionLengthAndPlace) {
  const auto devices = make_driver()->list();
  if (!devices.has_value() || devices->size() < 2) GTEST_SKIP() << "skipped: there are no two CUDA devices";
  if (const auto nccl = load_nccl(); !nccl.has_value()) GTEST_SKIP() << "skipped: " << nccl.error().to_string();
  const auto [mode, peers] = GetParam();
  const auto ranks = static_cast<uint32_t>(std::min<size_t>(devices->size(), 4));
  const auto store = make_memory_store();
  std::vector<std::thread> others;
  for (uint32_t rank = 1; rank < ranks; ++rank) {
    others.emplace_back(check_all, rank, ranks, mode, peers, std::ref(*store));
  }
  check_all(0, ranks, mode, peers, *store);
  for (std::thread& other : others) other.join();
}

INSTANTIATE_TEST_SUITE_P(Modes, RealPeerReductionTest,
                         testing::Combine(testing::Values("stream", "graph"), testing::Values("1", "0")));

}  // namespace
}  // namespace baton::hal::drivers::cuda
