#!/bin/sh
# Run an MPI program as ranks of this machine, however few processors it has.
#
#   run.sh openmpi|mpich RANKS program [argument ...]
#
# TMPDIR is a folder of its own that goes away afterwards.
set -u
library=$1
ranks=$2
shift 2
launcher=mpirun.$library
if ! command -v "$launcher" >/dev/null; then
    echo "SKIP: there is no $launcher"
    exit 77
fi
# Ranks are more than processors: those that wait must let others go on.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl=vader,self OMPI_MCA_btl_base_warn_component_unused=0
TMPDIR=$(mktemp -d) || exit 1
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
"$launcher" -n "$ranks" "$@"
