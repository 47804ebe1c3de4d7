/* The export map of libadsm-mpi.so, made by the preprocessor. */
{
global:
#define MPI_CALL(name, arity, how, ...) MPI_##name;
#define MPI_HOOK(name, arity)           MPI_##name;
#include "interpose/mpi/calls.def"

local:
    *;
};
