/*
 * Requests that become complete, for the files that also complete some.
 */
#ifndef INTERPOSE_MPI_WAIT_H
#define INTERPOSE_MPI_WAIT_H

#include "interpose/mpi/use.h"

/**
 * The request of a use that was taken is complete: bring its data; that of a
 * persistent one goes back into the list.
 *
 * @key  the request, as it was; @status  MPI's
 * Return: MPI_SUCCESS or MPI's number of a failure
 * Thread: any. Signal: never
 */
int mpi_wait_complete(struct mpi_use *use, mpi_word key, const void *status);

/** Complete requests that the program freed before their end (start.c).
 *  @all  wait for those that are not yet there */
void mpi_wait_orphans(bool all);

#endif
