/*
 * What did not fit the limits of the compiler, remembered beside the cache:
 * no run of a program begins again with what an earlier one gave up.
 *
 * A note lies beside the object there would be, under the same name, so it is
 * for one text, one compiler and its flags; other limits make it void.
 * Lock: none; any number of threads and processes may use one folder.
 */
#ifndef SOFTCUDA_NATIVE_BUILD_NOTE_H
#define SOFTCUDA_NATIVE_BUILD_NOTE_H

#include "native/build_cc.h"

/** What is known. */
enum sc_build_note {
    SC_BUILD_NOTE_NONE,
    SC_BUILD_NOTE_LESS,  /* only the least effort may fit */
    SC_BUILD_NOTE_NEVER, /* the interpreter runs it */
};

/**
 * @object path of the object in the cache
 * @why    receives one sentence when it is NEVER
 * Thread: any
 * Signal: never
 */
enum sc_build_note sc_build_note_read(const char *object,
                                      const struct sc_build_limits *limits,
                                      char *why, size_t why_bytes);

/**
 * Remember it: for good, or for a day where only the clock said so.  Where
 * there is no room, it is not remembered.
 *
 * @end OVER or LATE; @why one sentence
 * Thread: any
 * Signal: never
 */
void sc_build_note_write(const char *object,
                         const struct sc_build_limits *limits,
                         enum sc_build_note note, enum sc_build_cc_end end,
                         const char *why);

#endif
