/*
 * The words behind a status: what adsmErrorDetail returns. Per thread.
 */
#ifndef ADSM_SCHED_DETAIL_H
#define ADSM_SCHED_DETAIL_H

/** Keep one formatted sentence for the calling thread and return `status`.
 *  Signal: never */
int adsm_detail(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The sentence kept last; "" at first. */
const char *adsm_detail_text(void);

#endif
