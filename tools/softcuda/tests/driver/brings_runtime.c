/* A library that asks what NVIDIA's runtime inside of it would ask. */
#include <cuda.h>

__attribute__((visibility("default"))) CUresult ask(void);

CUresult ask(void)
{
    const void *table;
    CUresult result = cuGetExportTable(&table, NULL);
    __asm__ volatile("" ::
                         : "memory"); /* no tail call: who asks is told apart */
    return result;
}
