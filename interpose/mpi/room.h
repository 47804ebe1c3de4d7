/*
 * Plain memory for images.
 *
 * Memory that the system has just given costs more than copying into it, so a
 * few pieces of the middle sizes are kept for the next message.
 */
#ifndef INTERPOSE_MPI_ROOM_H
#define INTERPOSE_MPI_ROOM_H

#include <stddef.h>
#include <stdint.h>

/**
 * Room for `bytes`, as far from a cache line's begin as `like`. Pages that are
 * never touched cost nothing, so `bytes` may be far more than there is.
 *
 * Return: NULL when there is none
 * Thread: any. Signal: never
 */
char *mpi_room_get(uintptr_t like, size_t bytes);

/** Give it back. */
void mpi_room_put(char *room, size_t bytes);

#endif
