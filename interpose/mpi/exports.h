/*
 * The exported functions: every one of mpi_calls.def, of machine words.
 */
#ifndef INTERPOSE_MPI_EXPORTS_H
#define INTERPOSE_MPI_EXPORTS_H

#include "interpose/mpi/mpi.h"

/* Parameters and arguments by their number. */
#define MPI_P0  void
#define MPI_P1  mpi_word a0
#define MPI_P2  MPI_P1, mpi_word a1
#define MPI_P3  MPI_P2, mpi_word a2
#define MPI_P4  MPI_P3, mpi_word a3
#define MPI_P5  MPI_P4, mpi_word a4
#define MPI_P6  MPI_P5, mpi_word a5
#define MPI_P7  MPI_P6, mpi_word a6
#define MPI_P8  MPI_P7, mpi_word a7
#define MPI_P9  MPI_P8, mpi_word a8
#define MPI_P10 MPI_P9, mpi_word a9
#define MPI_P11 MPI_P10, mpi_word a10
#define MPI_P12 MPI_P11, mpi_word a11
#define MPI_P13 MPI_P12, mpi_word a12
#define MPI_A1  a0
#define MPI_A2  MPI_A1, a1
#define MPI_A3  MPI_A2, a2
#define MPI_A4  MPI_A3, a3
#define MPI_A5  MPI_A4, a4
#define MPI_A6  MPI_A5, a5
#define MPI_A7  MPI_A6, a6
#define MPI_A8  MPI_A7, a7
#define MPI_A9  MPI_A8, a8
#define MPI_A10 MPI_A9, a9
#define MPI_A11 MPI_A10, a10
#define MPI_A12 MPI_A11, a11
#define MPI_A13 MPI_A12, a12

#define MPI_CALL(name, arity, how, ...)                                        \
    HOOK_EXPORT int MPI_##name(MPI_P##arity);
#define MPI_HOOK(name, arity) HOOK_EXPORT int MPI_##name(MPI_P##arity);
#include "interpose/mpi/calls.def"

#endif
