// A module for a baton-run-module of ours.
#include "modules/sdk/module.hpp"

class Answer final : public baton::sdk::Module<Answer> {
 public:
  int32_t give() { return 42; }
};

BATON_MODULE_QUERY(query_answer, Answer, "answer", BATON_FUNCTION("give", &Answer::give));
