// What a C program holds of modules/sdk/embed.h, for the files that stand behind it.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "modules/sdk/embed.h"
#include "vm/context.hpp"
#include "vm/invocation.hpp"
#include "vm/timeline_tracer.hpp"

struct baton_function {
  baton::vm::ExportedFunction function;
  std::string name;
  std::string signature;                        // terminated, for C
  const baton::vm::Program* program = nullptr;  // whose function it is; compared, not used
};

struct baton_context {
  baton::Ref<baton::vm::Context> context;
  std::mutex mutex;                      // guards `functions`; found functions never move
  std::deque<baton_function> functions;  // what was asked for so far
};

struct baton_invocation {
  explicit baton_invocation(baton::Ref<baton::vm::Context> context)
      : program(&context->program()), invocation(std::move(context)) {}
  const baton::vm::Program* program;
  std::optional<baton::vm::TimelineTracer> tracer;
  baton::vm::Invocation invocation;
};
