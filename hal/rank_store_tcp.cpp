// A store that rank 0 serves: it keeps the words, the others have one connection each. A rank whose connection ends is
// gone.
//
// A request is a Request, then key and value; an answer is an Answer, then the value. Numbers are little-endian.

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "hal/rank_store.hpp"

namespace baton::hal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kMagic = 0x6b6e5242;  // "BRnk"
constexpr uint32_t kKeyBytesMax = 4096, kValueBytesMax = 1 << 20;

enum class Verb : uint32_t { kHello, kSet, kGet, kRemove };
enum class Outcome : uint32_t { kOk, kGone, kLate };

struct Request {
  uint32_t magic;
  Verb verb;
  uint32_t rank;  // Who says hello; whose word is asked for.
  uint32_t key_bytes;
  uint32_t value_bytes;
  uint32_t reserved;
  int64_t timeout_ns;
};
struct Answer {
  Outcome outcome;
  uint32_t value_bytes;
};

bool send_all(int socket, const void* data, size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size) {
    const ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* data, size_t size) {
  char* at = static_cast<char*>(data);
  while (size) {
    const ssize_t got = recv(socket, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

// What rank 0 keeps, for itself and for the others.
class Words {
 public:
  void set(std::string_view key, std::string_view value) {
    std::lock_guard lock(mutex_);
    values_.insert_or_assign(std::string(key), std::string(value));
    changed_.notify_all();
  }
  void remove(std::string_view key) {
    std::lock_guard lock(mutex_);
    if (const auto found = values_.find(key); found != values_.end()) values_.erase(found);
  }
  void leave(uint32_t rank) {
    std::lock_guard lock(mutex_);
    gone_.insert(rank);
    changed_.notify_all();
  }
  void end() {
    std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  Outcome get(std::string_view key, uint32_t from, int64_t timeout_ns, std::string& value) {
    std::unique_lock lock(mutex_);
    const auto found = [&] { return values_.find(key); };
    const auto done = [&] { return ended_ || gone_.count(from) || found() != values_.end(); };
    if (!changed_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), done)) return Outcome::kLate;
    const auto at = found();
    if (at == values_.end()) return Outcome::kGone;
    value = at->second;
    return Outcome::kOk;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string, std::less<>> values_;  // Guarded by mutex_, as is all below.
  std::set<uint32_t> gone_;
  bool ended_ = false;
};

// One connection, on a thread of its own.
class Visitor {
 public:
  Visitor(int socket, Words& words) : socket_(socket), words_(words), thread_([this] { serve(); }) {}
  ~Visitor() {
    shutdown(socket_, SHUT_RDWR);
    thread_.join();
    close(socket_);
  }

 private:
  void serve() {
    uint32_t rank = UINT32_MAX;
    Request request;
    std::string key, value;
    while (receive_all(socket_, &request, sizeof(request)) && is_request(request)) {
      key.resize(request.key_bytes);
      value.resize(request.value_bytes);
      if (!receive_all(socket_, key.data(), key.size()) || !receive_all(socket_, value.data(), value.size())) break;
      if (request.verb == Verb::kHello) rank = request.rank;
      if (!answer(request, key, value)) break;
    }
    if (rank != UINT32_MAX) words_.leave(rank);
  }

  static bool is_request(const Request& request) {
    return request.magic == kMagic && request.verb <= Verb::kRemove && request.key_bytes <= kKeyBytesMax &&
           request.value_bytes <= kValueBytesMax;
  }

  bool answer(const Request& request, const std::string& key, std::string& value) {
    Answer answer = {Outcome::kOk, 0};
    if (request.verb == Verb::kSet) words_.set(key, value);
    if (request.verb == Verb::kRemove) words_.remove(key);
    value.clear();
    if (request.verb == Verb::kGet) answer.outcome = words_.get(key, request.rank, request.timeout_ns, value);
    answer.value_bytes = static_cast<uint32_t>(value.size());
    return send_all(socket_, &answer, sizeof(answer)) && send_all(socket_, value.data(), value.size());
  }

  const int socket_;
  Words& words_;
  std::thread thread_;
};

class ServedStore final : public RankStore {
 public:
  explicit ServedStore(int listener) : listener_(listener), thread_([this] { accept_visitors(); }) {}
  ~ServedStore() override {
    words_.end();
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    visitors_.clear();
    close(listener_);
  }

  Status set(std::string_view key, std::string_view value) override {
    words_.set(key, value);
    return {};
  }
  Result<std::string> get(std::string_view key, uint32_t from, int64_t timeout_ns) override {
    std::string value;
    const Outcome outcome = words_.get(key, from, timeout_ns, value);
    if (outcome == Outcome::kOk) return value;
    return outcome == Outcome::kGone ? rank_is_gone(key, from) : too_late(key, from, timeout_ns);
  }
  void remove(std::string_view key) override { words_.remove(key); }

 private:
  void accept_visitors() {
    for (;;) {
      const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0 && errno == EINTR) continue;
      if (socket < 0) return;
      const int on = 1;
      setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      visitors_.push_back(std::make_unique<Visitor>(socket, words_));
    }
  }

  const int listener_;
  Words words_;
  std::vector<std::unique_ptr<Visitor>> visitors_;  // Of the thread, until it ends.
  std::thread thread_;
};

class VisitingStore final : public RankStore {
 public:
  explicit VisitingStore(int socket) : socket_(socket) {}
  ~VisitingStore() override { close(socket_); }

  Status hello(uint32_t rank) {
    std::string nothing;
    return ask({kMagic, Verb::kHello, rank, 0, 0, 0, 0}, "", "", nothing).has_value() ? Status() : server_is_gone();
  }
  Status set(std::string_view key, std::string_view value) override {
    std::string nothing;
    return ask({kMagic, Verb::kSet, 0, 0, 0, 0, 0}, key, value, nothing).has_value() ? Status() : server_is_gone();
  }
  Result<std::string> get(std::string_view key, uint32_t from, int64_t timeout_ns) override {
    std::string value;
    BATON_TRY_ASSIGN(const Outcome outcome, ask({kMagic, Verb::kGet, from, 0, 0, 0, timeout_ns}, key, "", value));
    if (outcome == Outcome::kOk) return value;
    return outcome == Outcome::kGone ? rank_is_gone(key, from) : too_late(key, from, timeout_ns);
  }
  void remove(std::string_view key) override {
    std::string nothing;
    static_cast<void>(ask({kMagic, Verb::kRemove, 0, 0, 0, 0, 0}, key, "", nothing).has_value());
  }

 private:
  static Status server_is_gone() {
    return failure(StatusCode::kUnavailable, "Rank 0, which serves the store of ranks, is gone.");
  }

  Result<Outcome> ask(Request request, std::string_view key, std::string_view value, std::string& answered) {
    if (key.size() > kKeyBytesMax || value.size() > kValueBytesMax) {
      return failure(StatusCode::kInvalidArgument, "A store of ranks takes keys of ", kKeyBytesMax,
                     " bytes and values of ", kValueBytesMax, "; these are ", key.size(), " and ", value.size(), ".");
    }
    request.key_bytes = static_cast<uint32_t>(key.size());
    request.value_bytes = static_cast<uint32_t>(value.size());
    std::lock_guard lock(mutex_);
    Answer answer;
    const bool asked = send_all(socket_, &request, sizeof(request)) && send_all(socket_, key.data(), key.size()) &&
                       send_all(socket_, value.data(), value.size());
    if (!asked || !receive_all(socket_, &answer, sizeof(answer)) || answer.value_bytes > kValueBytesMax) {
      return server_is_gone();
    }
    answered.resize(answer.value_bytes);
    if (!receive_all(socket_, answered.data(), answered.size())) return server_is_gone();
    return answer.outcome;
  }

  std::mutex mutex_;
  const int socket_;
};

// What getaddrinfo makes of an address, freed with this.
struct Found {
  addrinfo* list = nullptr;
  ~Found() {
    if (list) freeaddrinfo(list);
  }
};

Status resolve(std::string_view address, Found& found) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == address.size()) {
    return failure(StatusCode::kInvalidArgument, "'tcp://", address, "' is no store of ranks; it is tcp://host:port.");
  }
  const std::string host(address.substr(0, colon)), port(address.substr(colon + 1));
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found.list);
  if (error == 0) return {};
  return failure(StatusCode::kNotFound, "The store of ranks 'tcp://", address, "': ", gai_strerror(error), ".");
}

// What a name stands for may be several addresses: rank 0 takes the first that is its own, the others try them all.
Result<int> listen_at(std::string_view address, const addrinfo* list) {
  int error = 0;
  for (const addrinfo* at = list; at; at = at->ai_next) {
    const int listener = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    const int on = 1;
    if (listener >= 0) setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (listener >= 0 && bind(listener, at->ai_addr, at->ai_addrlen) == 0 && listen(listener, 128) == 0) {
      return listener;
    }
    error = errno;
    if (listener >= 0) close(listener);
  }
  return failure(StatusCode::kUnavailable, "Rank 0 cannot serve the store of ranks 'tcp://", address,
                 "': ", std::strerror(error), ".");
}

int connect_once(const addrinfo* list) {
  for (const addrinfo* at = list; at; at = at->ai_next) {
    const int made = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (made >= 0 && connect(made, at->ai_addr, at->ai_addrlen) == 0) return made;
    const int error = errno;
    if (made >= 0) close(made);
    errno = error;
  }
  return -1;
}

Result<int> connect_to(std::string_view address, const addrinfo* list, int64_t timeout_ns) {
  const auto end = Clock::now() + std::chrono::nanoseconds(timeout_ns);
  for (;;) {  // Rank 0 may come later.
    const int made = connect_once(list);
    const int error = errno, on = 1;
    if (made >= 0) {
      setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      return made;
    }
    if (Clock::now() >= end) {
      return failure(StatusCode::kUnavailable, "Nobody serves the store of ranks 'tcp://", address,
                     "': ", std::strerror(error), ".");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

Result<std::shared_ptr<RankStore>> open_tcp_store(std::string_view address, uint32_t rank, int64_t timeout_ns) {
  Found found;
  BATON_TRY(resolve(address, found));
  if (rank == 0) {
    BATON_TRY_ASSIGN(const int listener, listen_at(address, found.list));
    return std::shared_ptr<RankStore>(std::make_shared<ServedStore>(listener));
  }
  BATON_TRY_ASSIGN(const int made, connect_to(address, found.list, timeout_ns));
  auto store = std::make_shared<VisitingStore>(made);
  BATON_TRY(store->hello(rank));
  return std::shared_ptr<RankStore>(std::move(store));
}

}  // namespace baton::hal
