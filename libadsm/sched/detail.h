/*
 * The words behind a status: what adsmErrorDetail returns.
 *
 * Owns one text per thread, which whoever decides what a failure means writes;
 * that of the device's last refusal is another, accel/error.h, which it may
 * quote. No lock. Thread: any. Signal: never.
 */
#ifndef ADSM_SCHED_DETAIL_H
#define ADSM_SCHED_DETAIL_H

/** Keep one formatted sentence for the calling thread. Return: `status` */
int adsm_detail(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The sentence kept last; "" at first. */
const char *adsm_detail_text(void);

#endif
