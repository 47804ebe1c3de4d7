/* What the files of public entry points share. */
#ifndef ADSM_API_PARTS_H
#define ADSM_API_PARTS_H

#include "accel/accel.h"

/** Keep what adsmLastStatus says of a call, and return it. */
adsmStatus adsm_api_done(int status);

/** Not from inside a function that stands for a kernel. */
int adsm_api_may_enter(void);

/** The runtime, brought up; failures set the error detail. */
int adsm_api_bring_up(void);

/** May a call be made, with these arguments? */
int adsm_api_may_call(int count, const adsmArg *args);

/** The accel of the thread's device, and its number. */
int adsm_api_current(struct adsm_accel **accel);
int adsm_api_device(void);

/** The options that hold for a call: what is given, in `room`; else those of
 *  adsmDefaults, or NULL. ADSM_OK; ADSM_E_INVALID: what is given is not known */
int adsm_api_options(const adsmOpts *given, adsmOpts *room,
                     const adsmOpts **opts);

#endif
