/* Prints what was embedded: format, whether the blob is aligned and what it begins with. */
#include <stdio.h>
#include <string.h>

#include "modules/sdk/kernel_library.h"
#if defined(WITH_TOOLKIT)
#include "fat_kernels.h"
#include "machine_kernels.h"
#include "older_kernels.h"
#endif
#if defined(WITH_SHADERS)
#include "shader_kernels.h"
#include "shaders_kernels.h"
#endif

const baton_embedded_kernels* first(void);
const baton_embedded_kernels* second(void);

/* The names of a module's entry points, in order. */
static void tell_entries(const uint32_t* words, size_t count) {
  printf("SPIR-V");
  for (size_t at = 5; at < count && words[at] >> 16; at += words[at] >> 16) {
    if ((words[at] & 0xffff) == 15) printf(" %s", (const char*)&words[at + 3]);
  }
}

static void tell(const char* owner, const baton_embedded_kernels* kernels) {
  for (uint32_t i = 0; i < kernels->variant_count; ++i) {
    const baton_embedded_variant* one = &kernels->variants[i];
    const char* bytes = one->begin;
    const size_t size = (size_t)((const char*)one->end - bytes);
    const char* kind = size > 4 && memcmp(bytes, "\177ELF", 4) == 0                      ? "ELF"
                       : size > 4 && memcmp(bytes, "\x50\xed\x55\xba", 4) == 0           ? "fatbin"
                       : strstr(bytes, ".entry blur") && strstr(bytes, ".entry sharpen") ? "blur and sharpen"
                                                                                         : "something";
    printf("%s %s %.*s: ", owner, kernels->name, (int)one->format.size, one->format.data);
    if (memcmp(bytes, "\x03\x02\x23\x07", 4) == 0) {
      tell_entries((const uint32_t*)one->begin, size / 4);
    } else {
      printf("%s", kind);
    }
    printf("%s\n", (uintptr_t)bytes % 64 == 0 ? "" : ", not aligned");
  }
}

int main(void) {
  tell("first", first());
  tell("second", second());
#if defined(WITH_SHADERS)
  tell("tell", &BATON_EMBEDDED_LIBRARY(shaders));
  tell("tell", &BATON_EMBEDDED_LIBRARY(shader));
#endif
#if defined(WITH_TOOLKIT)
  tell("tell", &BATON_EMBEDDED_LIBRARY(machine));
  tell("tell", &BATON_EMBEDDED_LIBRARY(fat));
  tell("tell", &BATON_EMBEDDED_LIBRARY(older));
#endif
  return first()->variants[0].begin == second()->variants[0].begin;
}
