#include <stdio.h>

#include "modules/sdk/embed.h"
#include "modules/sdk/kernel_library.h"
#include "numbers_kernels.h"

int triple_in_c(baton_device* device, baton_buffer* numbers);

int triple_in_c(baton_device* device, baton_buffer* numbers) {
  baton_status* status = NULL;
  const baton_library_kernel* kernel = BATON_EMBEDDED_KERNEL(numbers, "triple", &status);
  if (kernel) {
    const baton_binding all = {numbers, 0, BATON_ACCESS_READ_WRITE, 0, BATON_WHOLE_LENGTH};
    const baton_kernel_argument argument = {&all, BATON_KERNEL_BINDING};
    const baton_kernel_launch launch = {
        .struct_size = sizeof(launch), .grid = {3, 1, 1}, .block = {1, 1, 1}, .device = device};
    status = baton_kernel_launch_on(kernel, &launch, &argument, 1);
  }
  if (!status) return 0;
  printf("%s\n", baton_status_get_message(status));
  baton_status_free(status);
  return 1;
}
