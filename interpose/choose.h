/*
 * Which form of a driver function a request means.
 */
#ifndef INTERPOSE_CHOOSE_H
#define INTERPOSE_CHOOSE_H

#include "interpose/hooks_list.h"

#include <stdint.h>

/**
 * Row for what cuGetProcAddress was asked: the newest form of `api` that
 * `version` knows; its per-thread form when bit 1 of `flags` is set and that
 * version has one.
 *
 * @hooks  rows; @count  how many
 * Return: the row, or NULL when nothing hooked is meant
 * Thread: any. Signal: any handler
 */
const struct adsm_hook *hook_choose(const struct adsm_hook *hooks, size_t count,
                                    const char *api, int version,
                                    uint64_t flags);

#endif
