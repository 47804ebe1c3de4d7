/*
 * The words behind a status: what adsmErrorDetail returns.
 *
 * Owns one text per thread. Whoever decides what a failure means writes it: what
 * was asked for, and where that is not the reason itself, the reason behind it.
 * The device's and the driver's own words are another text (accel/error.h),
 * which only this module reads. No lock. Thread: any. Signal: never.
 */
#ifndef ADSM_CALL_DETAIL_H
#define ADSM_CALL_DETAIL_H

/** Keep one formatted sentence for the calling thread. Return: `status` */
int adsm_detail(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The same, and behind a colon why: in the words of the device, its driver or
 *  the layers that use them if they said what has this status in this call, else
 *  in the status's own. Return: `status` */
int adsm_detail_cause(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** A public call that is made of others failed as one of these did: what that
 *  one said last is its sentence. */
void adsm_detail_of_inner(void);

/** A public call ends with a status: one that failed without a sentence gets
 *  that of its cause, and what is said from here on is the next one's. */
void adsm_detail_end(int status);

/** The sentence kept last; "" at first. */
const char *adsm_detail_text(void);

#endif
