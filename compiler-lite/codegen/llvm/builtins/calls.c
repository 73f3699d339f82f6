// Functions that LLVM calls on its own, and that come from a C library elsewhere. Compiled to an object; the linker
// takes what is needed.
#include <stddef.h>
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN void* memcpy(void* restrict target, const void* restrict source, size_t length);
HIDDEN void* memmove(void* target, const void* source, size_t length);
HIDDEN void* memset(void* target, int value, size_t length);
HIDDEN int memcmp(const void* a, const void* b, size_t length);

typedef uint64_t unaligned_word __attribute__((aligned(1), may_alias));

void* memcpy(void* restrict target, const void* restrict source, size_t length) {
  char* to = target;
  const char* from = source;
  for (; length >= 8; length -= 8, to += 8, from += 8) *(unaligned_word*)to = *(const unaligned_word*)from;
  for (; length > 0; --length) *to++ = *from++;
  return target;
}

void* memmove(void* target, const void* source, size_t length) {
  char* to = target;
  const char* from = source;
  if ((uintptr_t)to - (uintptr_t)from >= length) return memcpy(target, source, length);
  while (length-- > 0) to[length] = from[length];
  return target;
}

void* memset(void* target, int value, size_t length) {
  char* to = target;
  const uint64_t word = 0x0101010101010101ull * (uint8_t)value;
  for (; length >= 8; length -= 8, to += 8) *(unaligned_word*)to = word;
  for (; length > 0; --length) *to++ = (char)value;
  return target;
}

int memcmp(const void* a, const void* b, size_t length) {
  const unsigned char *left = a, *right = b;
  for (; length > 0; --length, ++left, ++right) {
    if (*left != *right) return *left - *right;
  }
  return 0;
}

// The larger and the smaller of two numbers, of which one that is none gives way: what remains of llvm.maxnum and
// llvm.minnum where halves are computed in f32 without instructions for halves.
HIDDEN float fmaxf(float a, float b);
HIDDEN float fminf(float a, float b);
HIDDEN double fmax(double a, double b);
HIDDEN double fmin(double a, double b);

float fmaxf(float a, float b) { return a >= b || b != b ? a : b; }
float fminf(float a, float b) { return a <= b || b != b ? a : b; }
double fmax(double a, double b) { return a >= b || b != b ? a : b; }
double fmin(double a, double b) { return a <= b || b != b ? a : b; }

// f16 and bf16 where the processor has no instruction for them. Halves travel in float registers, as clang passes them.
HIDDEN float __extendhfsf2(_Float16 value);
HIDDEN _Float16 __truncsfhf2(float value);
HIDDEN _Float16 __truncdfhf2(double value);
HIDDEN __bf16 __truncsfbf2(float value);
HIDDEN __bf16 __truncdfbf2(double value);

float __extendhfsf2(_Float16 value) {
  const uint32_t half = __builtin_bit_cast(uint16_t, value);
  const uint32_t sign = (half & 0x8000) << 16;
  // Shifted into place the exponent is too small by 112; a product with 2^112 mends it, also for denormals.
  const uint32_t magnitude = (half & 0x7FFF) << 13;
  const float scaled = __builtin_bit_cast(float, magnitude) * 0x1p112f;
  uint32_t bits = __builtin_bit_cast(uint32_t, scaled);
  if ((half & 0x7C00) == 0x7C00) bits = magnitude | 0x7F800000;
  return __builtin_bit_cast(float, bits | sign);
}

// Rounds `bits` of a double to a half, ties to even.
static uint16_t half_of(uint64_t bits) {
  const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
  const uint64_t magnitude = bits & ~(1ull << 63);
  if (magnitude > 0x7FF0000000000000ull) return (uint16_t)(sign | 0x7E00 | (magnitude >> 42 & 0x3FF));
  if (magnitude >= 0x40EFFE0000000000ull) return (uint16_t)(sign | 0x7C00);  // 65520 and above
  if (magnitude < 0x3E60000000000000ull) return sign;                        // Below half of the smallest.
  const int exponent = (int)(magnitude >> 52) - 1023;
  // Bits that fall away: 42, and more for denormals.
  const int shift = exponent < -14 ? 42 + (-14 - exponent) : 42;
  const uint64_t mantissa = (magnitude & 0xFFFFFFFFFFFFFull) | 1ull << 52;
  uint64_t kept = mantissa >> shift;
  const uint64_t rest = mantissa & ((1ull << shift) - 1), middle = 1ull << (shift - 1);
  kept += rest > middle || (rest == middle && (kept & 1));
  // The leading one, where there is one, adds one to the exponent.
  return (uint16_t)(sign | (kept + (exponent < -14 ? 0 : (uint64_t)(exponent + 14) << 10)));
}

_Float16 __truncsfhf2(float value) {
  return __builtin_bit_cast(_Float16, half_of(__builtin_bit_cast(uint64_t, (double)value)));
}
_Float16 __truncdfhf2(double value) {
  return __builtin_bit_cast(_Float16, half_of(__builtin_bit_cast(uint64_t, value)));
}

__bf16 __truncsfbf2(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t rounded = value != value ? bits | 0x400000 : bits + 0x7FFF + (bits >> 16 & 1);
  return __builtin_bit_cast(__bf16, (uint16_t)(rounded >> 16));
}
__bf16 __truncdfbf2(double value) { return __truncsfbf2((float)value); }

// How many turns a loop with checks may take, LLVM computes in 128 bits.
__extension__ typedef unsigned __int128 wide;

wide __udivti3(wide dividend, wide divisor) {
  wide quotient = 0, rest = 0;
  for (int bit = 127; bit >= 0; --bit) {
    const wide carried = rest >> 127;  // The rest is one bit wider while it is shifted.
    rest = rest << 1 | (dividend >> bit & 1);
    if (!carried && rest < divisor) continue;
    rest -= divisor;
    quotient |= (wide)1 << bit;
  }
  return quotient;
}
