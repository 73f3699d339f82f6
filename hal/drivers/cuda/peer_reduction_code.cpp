#include "hal/drivers/cuda/peer_reduction_code.hpp"

#include <string_view>

#include "base/text.hpp"

namespace baton::hal::drivers::cuda {
namespace {

using Shape = PeerReductionShape;

// How an element lies in a line and is combined.
struct Form {
  std::string_view combined;  // The type in which elements are combined: "f32".
  std::string_view bits;      // Of a register of that type: "f32".
  uint32_t bytes;             // Of an element in memory.
};

// By the numbers of ncclDataType_t; bytes 0: none.
Form form_of(int type) {
  switch (type) {
    case kNcclInt32: return {"s32", "b32", 4};
    case kNcclUint32: return {"u32", "b32", 4};
    case kNcclInt64: return {"s64", "b64", 8};
    case kNcclUint64: return {"u64", "b64", 8};
    case kNcclFloat16:
    case kNcclBfloat16: return {"f32", "f32", 2};
    case kNcclFloat32: return {"f32", "f32", 4};
    case kNcclFloat64: return {"f64", "f64", 8};
    default: return {"", "", 0};
  }
}

bool is_float(const Form& form) { return form.combined.front() == 'f'; }

// The instruction that combines two; empty: none.
std::string combining(const Form& form, int reduction) {
  const bool wide = form.combined == "f64";
  switch (reduction) {
    case kNcclSum: return text("add.", is_float(form) ? "rn." : "", form.combined);
    case kNcclAverage: return is_float(form) ? text("add.rn.", form.combined) : "";
    case kNcclProduct: return text("mul.", is_float(form) ? "rn." : "lo.", form.combined);
    case kNcclMinimum: return wide ? "" : text("min.", is_float(form) ? "NaN." : "", form.combined);
    case kNcclMaximum: return wide ? "" : text("max.", is_float(form) ? "NaN." : "", form.combined);
    default: return "";
  }
}

class Writer {
 public:
  Writer(const NcclType& as, const Form& form, uint32_t ranks)
      : as_(as), form_(form), ranks_(ranks), lanes_(static_cast<uint32_t>(Shape::kLineDataBytes) / form.bytes) {}

  std::string write(std::string_view combine) {
    begin();
    load_source();
    tell_all();
    wait_for_all();
    for (uint32_t lane = 0; lane < lanes_; ++lane) reduce_lane(lane, combine);
    pack();
    store_target();
    end();
    return std::move(out_);
  }

 private:
  template <typename... Parts>
  void line(const Parts&... parts) {
    out_ += text("  ", parts..., "\n");
  }

  void begin() {
    out_ = text(".version 7.1\n.target sm_80\n.address_size 64\n.visible .entry ", kPeerReductionName,
                "(.param .u64 source, .param .u64 target, .param .u32 count, .param .u32 rank, .param .u64 ended");
    for (uint32_t rank = 0; rank < ranks_; ++rank) out_ += text(", .param .u64 region", rank);
    out_ += ")\n{\n";
    line(".reg .pred %there, %whole, %done, %some;");
    line(".reg .b32 %group, %thread, %index, %first, %count, %rank, %flag, %half, %x, %y, %spins, %a, %b;");
    line(".reg .b64 %source, %target, %ended, %own, %at, %lines, %step, %word;");
    line(".reg .b32 %da<8>, %fa<8>, %db<8>, %fb<8>;");
    line(".reg .b64 %region<8>;");
    line(".reg .", form_.bits, " %sum<4>;");
    line("ld.param.u64 %source, [source];");
    line("ld.param.u64 %target, [target];");
    line("ld.param.u32 %count, [count];");
    line("ld.param.u32 %rank, [rank];");
    line("ld.param.u64 %ended, [ended];");
    for (uint32_t rank = 0; rank < ranks_; ++rank) line("ld.param.u64 %region", rank, ", [region", rank, "];");
    line("mov.u64 %own, %region0;");
    for (uint32_t rank = 1; rank < ranks_; ++rank) {
      line("setp.eq.u32 %some, %rank, ", rank, ";");
      line("@%some mov.u64 %own, %region", rank, ";");
    }
    line("mov.u32 %group, %ctaid.x;");
    line("mov.u32 %thread, %tid.x;");
    line("mad.lo.u32 %index, %group, ", Shape::kThreads, ", %thread;");
    line("mul.lo.u32 %first, %index, ", lanes_, ";");
    // The number of this reduction.
    line("ld.global.u32 %flag, [%own];");
    line("add.u32 %flag, %flag, 1;");
    line("and.b32 %half, %flag, 1;");
    line("setp.ge.u32 %done, %first, %count;");
    line("@%done bra done;");
    // Where this thread's line of rank 0 lies in a region.
    line("mul.wide.u32 %lines, %half, ", ranks_ * Shape::kRankBytes, ";");
    line("mul.wide.u32 %step, %index, ", Shape::kLineBytes, ";");
    line("add.u64 %lines, %lines, %step;");
    line("add.u64 %lines, %lines, ", Shape::kHeadBytes, ";");
    // What lies at multiples of 8 and has no end here is read and written at once.
    line("mul.wide.u32 %step, %index, ", Shape::kLineDataBytes, ";");
    line("add.u64 %source, %source, %step;");
    line("add.u64 %target, %target, %step;");
    line("or.b64 %at, %source, %target;");
    line("and.b64 %at, %at, 7;");
    line("setp.eq.u64 %whole, %at, 0;");
    line("add.u32 %x, %first, ", lanes_, ";");
    line("setp.le.and.u32 %whole, %x, %count, %whole;");
  }

  // Does the same for each element that there is.
  template <typename OfLane>
  void each_lane(std::string_view skip, const OfLane& of_lane) {
    for (uint32_t lane = 0; lane < lanes_; ++lane) {
      line("add.u32 %x, %first, ", lane, ";");
      line("setp.ge.u32 %done, %x, %count;");
      line("@%done bra ", skip, ";");
      of_lane(lane);
    }
  }

  void load_source() {
    line("mov.b32 %a, 0;");
    line("mov.b32 %b, 0;");
    line("@%whole bra load_whole;");
    each_lane("loaded", [&](uint32_t lane) {
      const uint32_t byte = lane * form_.bytes;
      const std::string_view word = byte < 4 ? "%a" : "%b";
      if (form_.bytes == 2) {
        line("ld.global.u16 %x, [%source+", byte, "];");
        line("shl.b32 %x, %x, ", byte % 4 * 8, ";");
        line("or.b32 ", word, ", ", word, ", %x;");
      } else if (form_.bytes == 4) {
        line("ld.global.b32 ", word, ", [%source+", byte, "];");
      } else {
        line("ld.global.b64 %word, [%source];");
        line("mov.b64 {%a, %b}, %word;");
      }
    });
    line("bra loaded;");
    out_ += "load_whole:\n";
    line("ld.global.v2.b32 {%a, %b}, [%source];");
    out_ += "loaded:\n";
  }

  void tell_all() {
    line("mul.wide.u32 %step, %rank, ", Shape::kRankBytes, ";");
    line("add.u64 %step, %step, %lines;");
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      line("add.u64 %at, %region", rank, ", %step;");
      line("st.volatile.global.v4.u32 [%at], {%a, %flag, %b, %flag};");
    }
  }

  void wait_for_all() {
    constexpr uint32_t kSpinsBetweenLooks = 4096;
    line("add.u64 %lines, %lines, %own;");
    line("mov.u32 %spins, 0;");
    out_ += "wait:\n";
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      line("ld.volatile.global.v4.u32 {%da", rank, ", %fa", rank, ", %db", rank, ", %fb", rank, "}, [%lines+",
           rank * Shape::kRankBytes, "];");
    }
    line("mov.u32 %x, 0;");
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      for (const std::string_view flag : {"%fa", "%fb"}) {
        line("xor.b32 %y, %flag, ", flag, rank, ";");
        line("or.b32 %x, %x, %y;");
      }
    }
    line("setp.eq.u32 %there, %x, 0;");
    line("@%there bra have_all;");
    line("add.u32 %spins, %spins, 1;");
    line("and.b32 %x, %spins, ", kSpinsBetweenLooks - 1, ";");
    line("setp.ne.u32 %some, %x, 0;");
    line("@%some bra wait;");
    line("ld.volatile.global.u32 %x, [%ended];");
    line("setp.ne.u32 %some, %x, 0;");
    line("@%some bra done;");
    line("bra wait;");
    out_ += "have_all:\n";
  }

  // Puts the element of one rank's line into `into`.
  void take(std::string_view into, uint32_t rank, uint32_t lane) {
    const std::string word = text(lane * form_.bytes < 4 ? "%da" : "%db", rank);
    const bool upper = lane % 2 != 0;
    if (as_.type == kNcclFloat16) {
      line("{ .reg .b16 %low, %high;");
      line("mov.b32 {%low, %high}, ", word, ";");
      line("cvt.f32.f16 ", into, ", ", upper ? "%high" : "%low", "; }");
    } else if (as_.type == kNcclBfloat16) {
      line(upper ? "and.b32 %x, " : "shl.b32 %x, ", word, upper ? ", 0xffff0000;" : ", 16;");
      line("mov.b32 ", into, ", %x;");
    } else if (form_.bytes == 8) {
      line("mov.b64 ", into, ", {%da", rank, ", %db", rank, "};");
    } else {
      line("mov.b32 ", into, ", ", word, ";");
    }
  }

  void reduce_lane(uint32_t lane, std::string_view combine) {
    const std::string sum = text("%sum", lane);
    take(sum, 0, lane);
    line("{ .reg .", form_.bits, " %next;");
    for (uint32_t rank = 1; rank < ranks_; ++rank) {
      take("%next", rank, lane);
      line(combine, " ", sum, ", ", sum, ", %next;");
    }
    if (as_.reduction == kNcclAverage) {
      line("cvt.rn.", form_.combined, ".u32 %next, ", ranks_, ";");
      line("div.rn.", form_.combined, " ", sum, ", ", sum, ", %next;");
    }
    line("}");
  }

  // The elements, as they lie in memory, into %a and %b.
  void pack() {
    if (form_.bytes == 2) {
      const std::string_view type = as_.type == kNcclFloat16 ? "f16x2" : "bf16x2";
      line("cvt.rn.", type, ".f32 %a, %sum1, %sum0;");
      line("cvt.rn.", type, ".f32 %b, %sum3, %sum2;");
    } else if (form_.bytes == 4) {
      line("mov.b32 %a, %sum0;");
      line("mov.b32 %b, %sum1;");
    } else {
      line("mov.b64 {%a, %b}, %sum0;");
    }
  }

  void store_target() {
    line("@%whole bra store_whole;");
    each_lane("done", [&](uint32_t lane) {
      const uint32_t byte = lane * form_.bytes;
      const std::string_view word = byte < 4 ? "%a" : "%b";
      if (form_.bytes == 2) {
        line("shr.b32 %x, ", word, ", ", byte % 4 * 8, ";");
        line("st.global.u16 [%target+", byte, "], %x;");
      } else if (form_.bytes == 4) {
        line("st.global.b32 [%target+", byte, "], ", word, ";");
      } else {
        line("mov.b64 %word, {%a, %b};");
        line("st.global.b64 [%target], %word;");
      }
    });
    line("bra done;");
    out_ += "store_whole:\n";
    line("st.global.v2.b32 [%target], {%a, %b};");
  }

  // The last workgroup counts the reduction.
  void end() {
    out_ += "done:\n";
    line("bar.sync 0;");
    line("setp.ne.u32 %some, %thread, 0;");
    line("@%some bra leave;");
    line("atom.global.add.u32 %x, [%own+4], 1;");
    line("mov.u32 %y, %nctaid.x;");
    line("sub.u32 %y, %y, 1;");
    line("setp.ne.u32 %some, %x, %y;");
    line("@%some bra leave;");
    line("mov.u32 %x, 0;");
    line("st.global.u32 [%own+4], %x;");
    line("st.global.u32 [%own], %flag;");
    out_ += "leave:\n";
    line("ret;");
    out_ += "}\n";
  }

  const NcclType as_;
  const Form form_;
  const uint32_t ranks_;
  const uint32_t lanes_;  // Elements of a line.
  std::string out_;
};

}  // namespace

std::string peer_reduction_code(const NcclType& as, uint32_t ranks) {
  const Form form = form_of(as.type);
  if (form.bytes == 0 || ranks < 2 || ranks > Shape::kRanksMax) return "";
  const std::string combine = combining(form, as.reduction);
  return combine.empty() ? "" : Writer(as, form, ranks).write(combine);
}

}  // namespace baton::hal::drivers::cuda
