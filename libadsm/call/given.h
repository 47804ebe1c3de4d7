/*
 * Structures of the public headers that grow: adsmOpts and adsmArg, of the size
 * that the program's header has.
 *
 * A smaller one is an older program's, which asks for nothing that came since. A
 * larger one is a newer program's: what this library does not know of it must be
 * 0. Failures set the error detail. Thread: any. Signal: never
 */
#ifndef ADSM_CALL_GIVEN_H
#define ADSM_CALL_GIVEN_H

#include "adsm.h"

/** Options as this library has them. ADSM_OK; ADSM_E_INVALID: the size is none,
 *  or they ask for what is not known */
int adsm_given_opts(const adsmOpts *given, adsmOpts *opts);

/** The same for all of an array. @args  room for `count`, 0 or more */
int adsm_given_args(int count, const adsmArg *given, adsmArg *args);

#endif
