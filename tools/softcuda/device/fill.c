/*
 * Owns: element fills and row copies inside the window.
 * Does not own: address checks (the driver's).  No lock.
 */
#include "device/fill.h"

#include <string.h>

static void fill_row(uint64_t address, uint64_t width, uint32_t element_bytes,
                     uint64_t value)
{
    void *row = (void *)(uintptr_t)address;
    switch (element_bytes) {
    case 1:
        memset(row, (int)value, width);
        break;
    case 2:
        for (uint64_t i = 0; i < width; i++)
            ((uint16_t *)row)[i] = (uint16_t)value;
        break;
    case 8:
        for (uint64_t i = 0; i < width; i++)
            ((uint64_t *)row)[i] = value;
        break;
    default:
        for (uint64_t i = 0; i < width; i++)
            ((uint32_t *)row)[i] = (uint32_t)value;
        break;
    }
}

void sc_fill_run(const struct sc_command_fill *command)
{
    for (uint64_t y = 0; y < command->height; y++)
        fill_row(command->address + y * command->pitch, command->width,
                 command->element_bytes,
                 (uint64_t)command->high << 32 | command->value);
}

void sc_copy_run(const struct sc_command_copy *command)
{
    for (uint64_t z = 0; z < command->depth; z++)
        for (uint64_t y = 0; y < command->height; y++) {
            uint64_t dst =
                command->dst + z * command->dst_slice + y * command->dst_pitch;
            uint64_t src =
                command->src + z * command->src_slice + y * command->src_pitch;
            memmove((void *)(uintptr_t)dst, (const void *)(uintptr_t)src,
                    command->width);
        }
}
