#include "hal/drivers/local/own_process.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace baton::hal::drivers::local {
namespace {

size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

volatile uint32_t OwnProcess::forks_before = 0;

OwnProcess::OwnProcess() : process_(getpid()), forks_(forks_before) {
  [[maybe_unused]] static const int counted = pthread_atfork(nullptr, nullptr, [] { forks_before = forks_before + 1; });
#ifdef MADV_WIPEONFORK
  void* page = mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, page_bytes(), MADV_WIPEONFORK) != 0) {
    munmap(page, page_bytes());
    return;
  }
  *static_cast<char*>(page) = 1;
  page_ = static_cast<const char*>(page);
#endif
}

OwnProcess::~OwnProcess() {
  if (page_) munmap(const_cast<char*>(page_), page_bytes());
}

bool OwnProcess::is_process() const { return getpid() == process_; }

}  // namespace baton::hal::drivers::local
