#include "base/timeline.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "base/json_text.hpp"
#include "base/text.hpp"

namespace baton {
namespace {

std::atomic<uint64_t> next_identity{1};

// The format counts in microseconds.
void append_us(std::string& target, int64_t ns) {
  char digits[40];
  std::snprintf(digits, sizeof(digits), "%lld.%03d", static_cast<long long>(ns / 1000), static_cast<int>(ns % 1000));
  target += digits;
}

void append_event(std::string& target, std::string_view kind, std::string_view name, uint32_t row) {
  target += text(",\n{\"ph\":\"", kind, "\",\"pid\":1,\"tid\":", row, ",\"name\":");
  append_json_string(target, name);
}

void append_flow(std::string& target, bool begins, uint64_t flow, uint32_t row, int64_t at_ns) {
  append_event(target, begins ? "s" : "f", "recorded", row);
  target += text(",\"cat\":\"flow\",\"id\":", flow, begins ? "" : ",\"bp\":\"e\"", ",\"ts\":");
  append_us(target, at_ns);
  target += '}';
}

void append_span(std::string& target, uint32_t row, const Timeline::Span& span, int64_t begin_ns) {
  const Timeline::Label& label = *span.label;
  append_event(target, "X", label.name, row);
  target += ",\"cat\":";
  append_json_string(target, label.category);
  target += ",\"ts\":";
  append_us(target, span.begin_ns - begin_ns);
  target += ",\"dur\":";
  append_us(target, span.duration_ns);
  target += ",\"args\":{";
  const char* joint = "";
  for (const auto& [key, value] : label.facts) {
    target += joint;
    append_json_string(target, key);
    target += ':';
    append_json_string(target, value);
    joint = ",";
  }
  if (const uint64_t bytes = label.bytes) target += text(joint, "\"bytes\":", bytes);
  target += "}}";
  if (span.flow_out) append_flow(target, true, span.flow_out, row, span.begin_ns - begin_ns);
  if (span.flow_in) append_flow(target, false, span.flow_in, row, span.begin_ns - begin_ns);
}

}  // namespace

Timeline::Timeline(size_t spans_max)
    : spans_max_(spans_max), identity_(next_identity.fetch_add(1, std::memory_order_relaxed)) {}
Timeline::~Timeline() {
  const std::lock_guard lock(sources_->mutex_);
  for (Source* source : sources_->all_) source->timeline_ends();
  sources_->all_.clear();
}

int64_t Timeline::clock_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

Timeline::Row::~Row() {
  while (first) {
    Chunk* const next = first->next.load(std::memory_order_relaxed);
    delete first;
    first = next;
  }
}

void Timeline::Row::add(const Span& span, size_t spans_max) {
  if (count == spans_max) {
    left_out.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const size_t place = count % Chunk::kSpans;
  if (place == 0) {
    auto* const chunk = new Chunk;
    if (last) {
      last->next.store(chunk, std::memory_order_release);
    } else {
      first = chunk;
    }
    last = chunk;
  }
  last->spans[place] = span;
  last->count.store(place + 1, std::memory_order_release);
  ++count;
}

const Timeline::Label* Timeline::make_label(std::string_view name, std::string_view category, Facts facts,
                                            uint64_t flow) {
  auto label = std::make_unique<Label>();
  label->name = name;
  label->category = category;
  label->facts = std::move(facts);
  label->flow = flow;
  const std::lock_guard lock(mutex_);
  return labels_.emplace_back(std::move(label)).get();
}

const Timeline::Label* Timeline::label(std::string_view name, std::string_view category) {
  const std::string words = text(category, '\n', name);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = by_words_.find(words); known != by_words_.end()) return known->second;
  }
  const Label* const made = make_label(name, category);
  const std::lock_guard lock(mutex_);
  return by_words_.emplace(words, made).first->second;
}

Timeline::Row& Timeline::make_row(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto number = static_cast<uint32_t>(rows_.size() + 1);
  return *rows_.emplace_back(
      std::make_unique<Track>(name.empty() ? text("thread ", number) : std::string(name), number));
}

// A thread that comes back to a timeline after another one gets a new row: rare, and right.
Timeline::Row& Timeline::this_thread() {
  thread_local uint64_t known_identity = 0;
  thread_local Row* known_row = nullptr;
  if (known_identity != identity_) {
    known_row = &make_row({});
    known_identity = identity_;
  }
  return *known_row;
}

void Timeline::add(const Span& span) { this_thread().add(span, spans_max_); }

Timeline::Track& Timeline::track(std::string_view name) { return static_cast<Track&>(make_row(name)); }

void Timeline::add(Track& track, const Span& span) {
  const std::lock_guard lock(track.mutex);
  track.add(span, spans_max_);
}

void Timeline::Sources::add(Source& source) {
  const std::lock_guard lock(mutex_);
  all_.push_back(&source);
}

void Timeline::Sources::remove(Source& source) {
  const std::lock_guard lock(mutex_);
  std::erase(all_, &source);
}

void Timeline::flush() {
  const std::lock_guard lock(sources_->mutex_);
  for (Source* source : sources_->all_) source->flush();
}

uint64_t Timeline::left_out() const {
  const std::lock_guard lock(mutex_);
  uint64_t sum = 0;
  for (const auto& row : rows_) sum += row->left_out.load(std::memory_order_relaxed);
  return sum;
}

void Timeline::keep(std::shared_ptr<const void> thing) {
  const std::lock_guard lock(mutex_);
  kept_.push_back(std::move(thing));
}

void Timeline::note(std::string sentence) {
  const std::lock_guard lock(mutex_);
  notes_.push_back(std::move(sentence));
}

std::vector<std::string> Timeline::notes() const {
  const std::lock_guard lock(mutex_);
  return notes_;
}

std::string Timeline::json() const {
  const uint64_t missing = left_out();
  const std::lock_guard lock(mutex_);
  int64_t begin_ns = INT64_MAX;
  for_each([&](std::string_view, const Span& span) { begin_ns = std::min(begin_ns, span.begin_ns); });
  std::string out = text("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"spans_left_out\":\"", missing, "\"");
  for (size_t i = 0; i < notes_.size(); ++i) {
    out += text(",\"note ", i, "\":");
    append_json_string(out, notes_[i]);
  }
  out += "},\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"baton\"}}";
  for (const auto& row : rows_) {
    append_event(out, "M", "thread_name", row->number);
    out += ",\"args\":{\"name\":";
    append_json_string(out, row->name);
    out += "}}";
    row->for_each([&](const Span& span) { append_span(out, row->number, span, begin_ns); });
  }
  return out += "\n]}\n";
}

}  // namespace baton
