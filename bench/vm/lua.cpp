// Lua as a contender, built twice: against Lua 5.4 and against LuaJIT with its compiler switched off, so that
// interpreter meets interpreter. A program is a chunk that returns its export and, where it needs one, a function that
// prepares data.
#include <lua.hpp>

#include "bench/support/contender.hpp"
#include "bench/vm/native.h"

namespace baton::bench {
namespace {

int mix(lua_State* state) {
  lua_pushinteger(
      state, bench_mix(static_cast<int32_t>(lua_tointeger(state, 1)), static_cast<int32_t>(lua_tointeger(state, 2))));
  return 1;
}

int append(lua_State*, const void* bytes, size_t size, void* chunk) {
  static_cast<std::string*>(chunk)->append(static_cast<const char*>(bytes), size);
  return 0;
}

std::string dump(lua_State* state) {
  std::string chunk;
#if LUA_VERSION_NUM >= 503
  lua_dump(state, append, &chunk, /*strip=*/1);
#else
  lua_dump(state, append, &chunk);
#endif
  return chunk;
}

class Lua final : public Contender {
 public:
  ~Lua() override {
    if (state_) lua_close(state_);
  }

  void before(const Work& work, uint64_t count) override {
    kept_.reserve(count);
    if (work.phase == Phase::drop) make_states(count);
  }

  void after() override { drop_states(); }

  void prepare(const Work& work) override {
    state_ = luaL_newstate();
    luaL_openlibs(state_);
#ifdef LUAJIT_VERSION
    luaJIT_setmode(state_, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
#endif
    lua_newtable(state_);
    lua_pushcfunction(state_, mix);
    lua_setfield(state_, -2, "mix");
    lua_setglobal(state_, "host");
    check(luaL_loadfile(state_, work.program.c_str()));
    chunk_ = dump(state_);
    check(lua_pcall(state_, 0, 2, 0));
    if (lua_isfunction(state_, -1)) {
      push(work);
      check(lua_pcall(state_, static_cast<int>(work.arguments.size()), 0, 0));
    } else {
      lua_pop(state_, 1);
    }
  }

  double repeat(const Work& work, uint64_t count) override {
    switch (work.phase) {
      case Phase::call: return call(work, count);
      case Phase::load: load(count); return 0;
      case Phase::state:
      case Phase::idle: make_states(count); return 0;
      case Phase::drop: drop_states(); return 0;
      case Phase::link: break;
    }
    fail("Lua has no such phase.");
  }

 private:
  // Protected, as every embedder calls: an error in the program must come back as a value.
  double call(const Work& work, uint64_t count) {
    const int arguments = static_cast<int>(work.arguments.size());
    const int results = work.has_result ? 1 : 0;
    double answer = 0;
    for (uint64_t i = 0; i < count; ++i) {
      lua_pushvalue(state_, 1);
      push(work);
      check(lua_pcall(state_, arguments, results, 0));
      if (work.has_result) answer = lua_tonumber(state_, -1);
      lua_settop(state_, 1);
    }
    return answer;
  }

  // From compiled bytes, which Lua trusts: there is no verifier.
  void load(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      check(luaL_loadbuffer(state_, chunk_.data(), chunk_.size(), "bench"));
      lua_settop(state_, 1);
    }
  }

  void make_states(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) kept_.push_back(luaL_newstate());
  }

  void drop_states() {
    for (lua_State* state : kept_) lua_close(state);
    kept_.clear();
  }

  void push(const Work& work) {
    for (const int32_t argument : work.arguments) lua_pushinteger(state_, argument);
  }

  void check(int code) {
    if (code != 0) fail(lua_tostring(state_, -1));
  }

  lua_State* state_ = nullptr;  // the export is at stack index 1
  std::string chunk_;
  std::vector<lua_State*> kept_;  // by `state` and `idle`, for `drop`
};

}  // namespace
}  // namespace baton::bench

int main(int argc, char** argv) {
  baton::bench::Lua lua;
  return baton::bench::run_contender(argc, argv, lua);
}
