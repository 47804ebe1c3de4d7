/*
 * Loans that hold blocks, by the thread that made them.
 *
 * A list of each thread's own, and one for all, under a lock, where the fault
 * engine answers on other threads (adsm_fault_is_remote). An answer may come
 * late there, when the thread has gone on since another answer opened what it
 * wanted, and has made a loan.
 */
#ifndef ADSM_MM_LOAN_OWNER_H
#define ADSM_MM_LOAN_OWNER_H

#include "mm/doors/loan.h"

/** The calling thread's loan begins or ends to hold blocks. Thread: that of the
 *  loan. Signal: never */
void adsm_loan_own(struct adsm_loan *loan);
void adsm_loan_disown(struct adsm_loan *loan);

/**
 * Call `visit` for the loan that holds block `i` and is one of the thread's for
 * which the calling one answers (adsm_fault_thread). It does not end meanwhile.
 *
 * Return: what `visit` returned; false where there is none; true without a
 *         visit where the answer may be a late one: the access comes again if
 *         it is not
 * Thread: any; the object's lock is held shared. Signal: fault path
 */
bool adsm_loan_visit(struct adsm_object *object, uint32_t i,
                     bool (*visit)(struct adsm_loan *loan, uint32_t i));

#endif
