// A program of this folder over a device with an empty kernel, so that what is timed is Baton's own. What goes wrong
// ends the process with a sentence.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace baton::bench {

class ProgramFixture {
 public:
  // Loads `name`.bvmasm, links it with the module "hal" over `device`, and calls its `prepare`, if it has one.
  ProgramFixture(std::string_view name, std::string_view device);
  ~ProgramFixture();

  // Calls `run`, with `count` where it takes one; its result must be `answer`.
  void run(int32_t count, int32_t answer);

 private:
  struct Linked;
  std::unique_ptr<Linked> linked_;
};

}  // namespace baton::bench
