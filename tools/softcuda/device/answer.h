/*
 * The answer to a module load, written into the image file for the driver.
 */
#ifndef SOFTCUDA_DEVICE_ANSWER_H
#define SOFTCUDA_DEVICE_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/exec.h"

/**
 * Write what was loaded, or why it was not, over the image.
 *
 * @fd     the image file; @status of the load; @module NULL when it failed
 * @number the module's number in later commands; @log of the front end
 * Return: false when memory or the file system refused
 * Thread: the serving thread
 */
bool sc_answer_write(int fd, enum sc_exec_status status,
                     const struct sc_module *module, uint64_t number,
                     const char *log);

#endif
