// What a trace with the spans of each node costs on a graph of 10,000 dispatches: on the host, and until it is done beside the same
// graph launched by the driver's own calls while CUPTI listens. Afterwards CUPTI goes on listening, so this comes last.
#include "base/timeline.hpp"
#include "bench/hal/cuda_fixture.hpp"

namespace baton::hal::drivers::cuda {
namespace {

constexpr uint32_t kNodes = 10'000;
constexpr int kRounds = 40;  // And three before, each launched twice: spans of all of them fit into a timeline.
static_assert(2 * kNodes * (kRounds + 3) < Timeline::kSpansMax);

// What is launched on the host, and until it is done.
Contender issue(Bench& bench, hal::Recording& recording) {
  return {[&] { bench.execute_signalling(recording); }, 1, [&] { bench.idle(); }};
}
Contender done(Bench& bench, hal::Recording& recording) {
  return {[&] {
    bench.execute_signalling(recording);
    expect(bench.done->wait(bench.point));
  }};
}
Contender issue(Raw& raw, CUgraphExec instance) {
  return {[&raw, instance] { raw.launch(instance); }, 1, [&raw] { raw.sync(); }};
}
Contender done(Raw& raw, CUgraphExec instance) {
  return {[&raw, instance] {
    raw.launch(instance);
    raw.sync();
  }};
}

}  // namespace

void bench_tracing() {
  Bench plain("graph");
  check_answer(plain);
  Raw raw(plain);
  // One that tells calls and operations of queues alone: what the host does is the same, but for a few spans.
  Timeline of_host;
  Bench hosted("graph");
  hosted.device = hal::observe(std::move(hosted.device), of_host);
  const auto plain_recording = plain.record(kNodes), hosted_recording = hosted.record(kNodes);
  const CUgraphExec instance = raw.instantiate(raw.chain(kNodes));
  const auto off = time_all({issue(raw, instance), issue(plain, *plain_recording), issue(hosted, *hosted_recording),
                             done(raw, instance), done(plain, *plain_recording), done(hosted, *hosted_recording)},
                            kRounds);
  print_row("graph of 10,000 nodes, no trace: issue", off[0], off[1], "-");
  print_row("graph of 10,000 nodes, no trace: done", off[3], off[4], "-");
  print_row("traced, the host's spans (raw: ours without): issue", off[1], off[2], "1.05");
  print_row("traced, the host's spans (raw: ours without): done", off[4], off[5], "1.05");

  Timeline timeline;
  Bench traced("graph", "1", "0", &timeline);
  const auto traced_recording = traced.record(kNodes);
  const CUgraphExec heard = raw.instantiate(raw.chain(kNodes));  // Made while CUPTI listens, as ours is.
  const auto on =
      time_all({issue(raw, heard), issue(traced, *traced_recording), done(raw, heard), done(traced, *traced_recording)},
               kRounds);
  print_row("traced, each node (raw: with CUPTI listening): issue", on[0], on[1], "1.1");
  print_row("traced, each node (raw: with CUPTI listening): done", on[2], on[3], "1.1");
  timeline.flush();
  size_t spans = 0;
  timeline.for_each([&](std::string_view, const Timeline::Span& span) { spans += span.label->category == "command"; });
  std::printf("|   %zu spans of nodes, %llu left out\n", spans, static_cast<unsigned long long>(timeline.left_out()));
  for (const std::string& note : timeline.notes()) std::printf("|   %s\n", note.c_str());
}

}  // namespace baton::hal::drivers::cuda
