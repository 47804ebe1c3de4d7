/*
 * Lists that grow: malloc()ed, twice as long each time.
 */
#ifndef ADSM_BASE_GROW_H
#define ADSM_BASE_GROW_H

#include <stddef.h>
#include <stdlib.h>

/**
 * Room for one more.
 *
 * @list   of `count` elements of `size` bytes; NULL at first
 * @room   how many fit, 0 at first
 * Return: the list, which may have moved; NULL: no memory, all is as it was
 * Thread: the list's owner. Signal: never
 */
static inline void *adsm_grow(void *list, size_t *room, size_t count,
                              size_t size)
{
    enum { FIRST = 16 };
    if (count < *room)
        return list;
    size_t more = *room ? 2 * *room : FIRST;
    void *larger = realloc(list, more * size);
    if (larger)
        *room = more;
    return larger;
}

#endif
