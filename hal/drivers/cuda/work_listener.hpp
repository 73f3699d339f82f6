// WorkListener: tells a timeline when the device ran what: through CUPTI each kernel, copy and fill by itself, replayed
// graphs too; where CUPTI is not to be had, through events around what is launched: each command on a stream, a graph as
// a whole.
//
// A device has one when its driver was given a timeline (Options); else the queue looks at a null pointer and no more.
// What is added to graphs is known by the work label (hal/work_label.hpp) of the thread that adds it.
// Threads: internally synchronized.
#pragma once

#include <cuda.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/timeline.hpp"
#include "hal/work_label.hpp"

namespace baton::hal::drivers::cuda {

struct CuptiSymbols;
struct Symbols;

class WorkListener {
 public:
  virtual ~WorkListener() = default;
  // Until end(), work that this thread enqueues on `stream` belongs to the command `label`, which may be null. The
  // context is current, and the stream is locked.
  virtual void begin(const WorkLabel* label, CUstream stream) = 0;
  virtual void end(const WorkLabel* label, CUstream stream) = 0;
  // A capture of the command `label`, which may be null, ended with these nodes.
  virtual void captured(const WorkLabel* label, std::span<const CUgraphNode> nodes) = 0;
  // What was captured, in the order of its graph, was copied into the node `child` of another graph.
  struct ChildNode {
    CUgraphNodeType type;
    std::string kernel;  // The function's name, of a kernel.
  };
  virtual void added_child(const WorkLabel* label, CUgraphNode child, std::vector<ChildNode> nodes) = 0;
  // All work is done, and the context, which is current, ends.
  virtual void context_ends() = 0;
};

// By CUPTI, of which `cupti` are the entries; one at a time in a process, for it has one subscriber. Null, with a
// reason in `why_not`, where it refuses.
std::shared_ptr<WorkListener> listen_by_cupti(std::shared_ptr<const CuptiSymbols> cupti, Timeline& timeline,
                                              std::string& why_not);
// By events.
std::shared_ptr<WorkListener> listen_by_events(std::shared_ptr<const Symbols> symbols, Timeline& timeline);

}  // namespace baton::hal::drivers::cuda
