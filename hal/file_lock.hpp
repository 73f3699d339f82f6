// Locks on single bytes of a file. The kernel drops them when the open file is closed, however its process ends. So a rank
// finds out whether another one lives, also where both are threads of one process, or processes of different namespaces.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>

namespace baton::hal {

inline struct flock whole_byte(uint64_t byte) {
  struct flock range = {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(byte);
  range.l_len = 1;
  return range;
}

// False when another open file holds it.
inline bool lock_byte(int file, uint64_t byte) {
  struct flock range = whole_byte(byte);
  return fcntl(file, F_OFD_SETLK, &range) == 0;
}

// By an open file other than this.
inline bool byte_is_locked(int file, uint64_t byte) {
  struct flock range = whole_byte(byte);
  return fcntl(file, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

}  // namespace baton::hal
