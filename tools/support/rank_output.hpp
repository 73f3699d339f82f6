// What a tool does as one of several ranks (hal/ranks.hpp): names by rank, and output in the ranks' order.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "hal/ranks.hpp"

namespace baton::tools {

// "part{rank}.npy" → "part1.npy"; {ranks} is how many there are.
std::string with_rank(std::string text, const hal::Ranks& ranks);

// The same in all words of all lists.
void put_rank(const hal::Ranks& ranks, std::initializer_list<std::vector<std::string>*> lists);

// What a tool prints, as one of several ranks or alone: `RankOutput output(ranks); return output.finish(run());`. What
// ranks print is kept until all are done, and then comes in their order. A rank that failed doesn't come: it says why and is
// gone, which the others hear here, or in the collective that they wait in.
class RankOutput {
 public:
  // Before anything is printed. The ranks outlive this.
  explicit RankOutput(const hal::Ranks& ranks);
  ~RankOutput() { give(); }
  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;

  // How it went here, and with all of them.
  Status finish(Status status);

 private:
  Status print_in_turn();
  void give();

  const hal::Ranks& ranks_;
  int kept_ = -1;   // The file without a name where standard output goes; -1: it is printed.
  int shown_ = -1;  // Where it went.
};

}  // namespace baton::tools
