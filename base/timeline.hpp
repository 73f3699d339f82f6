// Timeline: what happened when, on which thread or device, for a viewer (Perfetto, Chrome): spans with names, and arrows
// from what made a piece of work to where it ran.
//
// Whoever wants one makes it and hands it to those that can tell (vm/timeline_tracer.hpp, hal/timeline_observer.hpp); where
// nobody did there is no hook to pay for. A thread adds to a buffer of its own without a lock; names are made once and
// used again, so that a span is forty bytes. Buffers have an end: what comes later is counted and left out.
// Threads: internally synchronized; read when those that add are done.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace baton {

class Timeline {
 public:
  // What a span is about: a function, an import, a command. Lives as long as the timeline.
  struct Label {
    std::string name;
    std::string category;
    std::vector<std::pair<std::string, std::string>> facts;  // "module", "line"
    mutable std::atomic<uint64_t> bytes{0};                  // The most bytes that one run of it moves; 0: not known.
    mutable std::atomic<uint64_t> flow{0};                   // The arrow from where it was recorded; 0: none, or taken.

    uint64_t take_flow() const { return flow.load(std::memory_order_relaxed) ? flow.exchange(0) : 0; }
  };

  struct Span {
    int64_t begin_ns = 0;  // Of clock_ns().
    int64_t duration_ns = 0;
    const Label* label = nullptr;
    uint64_t flow_out = 0;  // An arrow begins here,
    uint64_t flow_in = 0;   // and one ends here.
  };

  // A row of the picture that is no thread of ours: a queue of a device.
  class Track;

  // What another profiler hears while it lasts, range in range on each thread: calls, imports, operations of queues.
  struct Ranges {
    int (*push)(const char* name) = nullptr;
    int (*pop)() = nullptr;
  };
  // Before anybody adds.
  void mirror(const Ranges& ranges) { ranges_ = ranges; }
  void range_begins(const Label& label) const {
    if (ranges_.push) ranges_.push(label.name.c_str());
  }
  void range_begins(std::string_view name) const {
    if (ranges_.push) ranges_.push(std::string(name).c_str());
  }
  void range_ends() const {
    if (ranges_.pop) ranges_.pop();
  }

  // Who has spans that the timeline has not: those of a device come late.
  class Source {
   public:
    virtual void flush() = 0;
    // The timeline goes first: the source touches neither it nor its labels from now on.
    virtual void timeline_ends() = 0;

   protected:
    ~Source() = default;
  };
  // A source keeps this, because it may end on a device's thread a little after the owner of device and timeline has
  // dropped both.
  class Sources {
   public:
    void add(Source& source);
    void remove(Source& source);

   private:
    friend class Timeline;
    std::mutex mutex_;
    std::vector<Source*> all_;  // Guarded by mutex_.
  };
  std::shared_ptr<Sources> sources() const { return sources_; }
  // Fetches what sources hold back; before anybody reads.
  void flush();

  static constexpr size_t kSpansMax = 1 << 20;  // Of one thread or track.

  explicit Timeline(size_t spans_max = kSpansMax);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // The clock of all spans: monotonic, nanoseconds.
  static int64_t clock_ns();

  using Facts = std::vector<std::pair<std::string, std::string>>;
  const Label* make_label(std::string_view name, std::string_view category, Facts facts = {}, uint64_t flow = 0);
  // The same label for the same words.
  const Label* label(std::string_view name, std::string_view category);
  // Kept as long as the timeline: work that is still running may name it.
  void keep(std::shared_ptr<const void> thing);
  uint64_t new_flow() { return next_flow_.fetch_add(1, std::memory_order_relaxed); }

  // Adds the span to the row of the calling thread.
  void add(const Span& span);
  Track& track(std::string_view name);
  void add(Track& track, const Span& span);

  // The call that this thread is in, for what is recorded meanwhile: its facts, and an arrow from it. Null outside.
  struct Call {
    const Label* label = nullptr;
    uint64_t flow = 0;  // 0 until one is asked for.
  };
  static Call*& current_call() {
    thread_local Call* call = nullptr;
    return call;
  }

  // Row by row.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const std::unique_ptr<Row>& row : rows_) row->for_each([&](const Span& span) { visit(row->name, span); });
  }
  uint64_t left_out() const;
  // What a reader should know: why something is missing.
  void note(std::string sentence);
  std::vector<std::string> notes() const;

  // The trace-event format, as JSON.
  std::string json() const;

 private:
  struct Chunk;
  struct Row {
    Row(std::string_view row_name, uint32_t row_number) : name(row_name), number(row_number) {}
    ~Row();
    void add(const Span& span, size_t spans_max);
    template <typename Visit>
    void for_each(Visit&& visit) const;

    std::string name;
    uint32_t number;
    std::mutex mutex;  // Of tracks: several threads add to one.
    Chunk* first = nullptr;
    Chunk* last = nullptr;
    size_t count = 0;
    std::atomic<uint64_t> left_out{0};
  };
  Row& this_thread();
  Row& make_row(std::string_view name);

  const size_t spans_max_;
  Ranges ranges_;
  const uint64_t identity_;  // Unique in the process; a thread finds its row by it.
  std::atomic<uint64_t> next_flow_{1};
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Row>> rows_;         // Guarded by mutex_.
  std::vector<std::unique_ptr<Label>> labels_;     // Guarded by mutex_.
  std::vector<std::string> notes_;                 // Guarded by mutex_.
  std::vector<std::shared_ptr<const void>> kept_;  // Guarded by mutex_.
  std::unordered_map<std::string, const Label*> by_words_;
  const std::shared_ptr<Sources> sources_ = std::make_shared<Sources>();
};

struct Timeline::Chunk {
  static constexpr size_t kSpans = 1024;
  std::atomic<size_t> count{0};
  std::atomic<Chunk*> next{nullptr};
  Span spans[kSpans];
};

class Timeline::Track : public Timeline::Row {
 public:
  using Row::Row;
};

template <typename Visit>
void Timeline::Row::for_each(Visit&& visit) const {
  for (const Chunk* chunk = first; chunk; chunk = chunk->next.load(std::memory_order_acquire)) {
    const size_t filled = chunk->count.load(std::memory_order_acquire);
    for (size_t i = 0; i < filled; ++i) visit(chunk->spans[i]);
  }
}

}  // namespace baton
