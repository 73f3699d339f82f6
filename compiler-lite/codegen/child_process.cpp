#include "compiler-lite/codegen/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>

namespace baton::compiler_lite::codegen {
namespace {

constexpr llvm::StringLiteral kYes = "\1", kNo = "\2";

// Up to the end of what the child writes; nothing when that takes longer than `seconds`.
std::optional<std::string> read_all(int source, uint64_t seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::string text;
  char part[65536];
  while (std::chrono::steady_clock::now() < end) {
    constexpr int kPauseMs = 1000;
    pollfd waited{source, POLLIN, 0};
    const int ready = poll(&waited, 1, kPauseMs);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t count = read(source, part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(part, static_cast<size_t>(count));
  }
  return std::nullopt;
}

}  // namespace

void write_all(int target, llvm::StringRef text) {
  while (!text.empty()) {
    const ssize_t count = write(target, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text = text.drop_front(static_cast<size_t>(count));
  }
}

ChildOutput run_in_child(uint64_t seconds, llvm::function_ref<bool(int target)> work) {
  int ends[2] = {};
  if (pipe2(ends, O_CLOEXEC) != 0) return {"there is no pipe to a process for it", {}, {}};
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    write_all(ends[1], work(ends[1]) ? kYes : kNo);
    _exit(0);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return {"there is no process for it", {}, {}};
  }
  std::optional<std::string> text = read_all(ends[0], seconds);
  close(ends[0]);
  if (!text) kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!text) return {"it was not ready in time", {}, {}};
  ChildOutput output{{}, *std::move(text), {}};
  for (const bool answer : {true, false}) {
    if (!llvm::StringRef(output.text).ends_with(answer ? kYes : kNo)) continue;
    output.answer = answer;
    output.text.pop_back();
    break;
  }
  return output;
}

}  // namespace baton::compiler_lite::codegen
