/*
 * Door 2: somebody else than the CPU's loads and stores uses a host range:
 * a system call, stdio, or a bulk copy. It gets the shadow address.
 *
 * For reading, every block of the range is made readable, and nothing is held
 * afterwards, unless the device shares the memory: there is no S then, and what
 * is lent stays open at A until the end. For writing, every block of the range is held BUSY until the end,
 * so that nobody fetches over bytes that have arrived: threads that may touch
 * those blocks without a fault still do, others wait. Blocks that are only
 * partly covered are made current first, INVALID ones that are covered whole
 * are not. `end` commits what was really written: blocks reached become DIRTY,
 * blocks not reached keep their state. Where an adopted object ends meanwhile,
 * because others come or go on its pages, S stays for the loan, and `end` brings
 * what was written to the memory, if that is still there.
 *
 * Locks: callers hold none of rank GATE or later. A loan holds BUSY blocks and
 * no lock between its two ends; of two of one thread either may end first.
 */
#ifndef ADSM_MM_LOAN_H
#define ADSM_MM_LOAN_H

#include "mm/object/object.h"
#include "os/fault.h"

struct adsm_loan {
    struct adsm_object *object; /* NULL: nothing to end                      */
    uint32_t generation;
    uint32_t gate; /* of the object's home                                   */
    enum adsm_access access;
    size_t offset; /* of the first byte in the object                        */
    size_t bytes;  /* covered by this loan                                    */
    void *address; /* what to hand to the kernel: shadow, or the original    */
    uint32_t held_first, held_count; /* blocks held BUSY                     */
    struct adsm_loan *outer; /* loan_owner.h: the next one of the list       */
    pid_t owner;             /* and whose it is, where all are in one        */
    uint32_t asked;          /* accesses of its thread to its blocks, there  */
    bool counted; /* in the object's loans                                   */
    bool exposed; /* a held block was opened for a signal handler            */
    struct adsm_cause cause; /* of what moves for it                         */
};

/** True when no byte of the range can be shared: the fast path of every
 *  interposed call. Checks first and last byte's tract and those between.
 *  Thread: any. Signal: any handler */
bool adsm_loan_unneeded(const void *address, size_t bytes);

/**
 * Begin to use up to `bytes` at `address`.
 *
 * Covers the longest prefix that is uniformly plain memory or lies in one
 * object; loan->bytes says how much (0 only when `bytes` is 0). Plain memory:
 * loan->address is the address itself. @cause  of what moves for it
 * Return: ADSM_OK; ADSM_E_DEVICE(_LOST), ADSM_E_NOMEM: nothing is held
 * Thread: any. Signal: never
 */
int adsm_loan_begin_for(const void *address, size_t bytes,
                        enum adsm_access access, struct adsm_loan *loan,
                        const struct adsm_cause *cause) ADSM_MUST_CHECK;

/** The same, to a system call or a function of libc. */
static inline ADSM_MUST_CHECK int adsm_loan_begin(const void *address,
                                                  size_t bytes,
                                                  enum adsm_access access,
                                                  struct adsm_loan *loan)
{
    return adsm_loan_begin_for(address, bytes, access, loan, ADSM_CAUSE(loan));
}

/**
 * End the use; the first `done` bytes were really transferred (<= loan->bytes).
 * errno is kept. Return: ADSM_OK; ADSM_E_DEVICE when a partly written block
 * could not be completed (its unwritten bytes are then undefined)
 * Thread: that of the loan. Signal: never
 */
int adsm_loan_end(struct adsm_loan *loan, size_t done);

/**
 * A thread faulted on block `i` (adsm_fault_thread): when one of its own loans
 * holds the block, a signal handler has interrupted the call and would wait for
 * itself. The block is opened as it is; adsm_loan_end closes it again.
 *
 * Asynchronous signals are held while blocks are, so the handler is one of a
 * fault: a copy by the CPU reads or writes plain memory that another thread of
 * the program took away a moment ago, and the handler that gives it back uses
 * what the copy writes (a collector with barriers that counts in there).
 *
 * Return: true when that was the case
 * Thread: any; the object's lock is held shared. Signal: fault path
 */
bool adsm_loan_expose(struct adsm_object *object, uint32_t i);

#endif
