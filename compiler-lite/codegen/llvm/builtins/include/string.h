/* Functions of string.h that kernels for the CPU have without a C library (../calls.c). For kernels alone. */
#ifndef BATON_BUILTINS_STRING_H_
#define BATON_BUILTINS_STRING_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
int memcmp(const void* a, const void* b, size_t length);
void* memcpy(void* target, const void* source, size_t length);
void* memmove(void* target, const void* source, size_t length);
void* memset(void* target, int value, size_t length);
#ifdef __cplusplus
}
#endif

#endif /* BATON_BUILTINS_STRING_H_ */
