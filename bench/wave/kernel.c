/*
 * The compiled kernel inside the program. The build turns wave.ptx into lines
 * of string literals; nobody edits them.
 */
#include "wave.h"

const char wave_ptx[] =
#include "wave_ptx.inc"
    ;
