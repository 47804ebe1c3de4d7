/* Whose loans hold what; see loan_owner.h. */
#include "mm/doors/loan_owner.h"

/* Answers to a loan's thread that are taken for late ones. */
enum { LATE = 2 };

/* Those of this thread, the newest first. */
static __thread struct adsm_loan *volatile own
    __attribute__((tls_model("initial-exec")));

/* Those of all threads, where others answer for them. */
static struct {
    struct adsm_lock lock;
    struct adsm_loan *first; /* lock */
} loans = {.lock = ADSM_LOCK_INIT(ADSM_RANK_STORE)};

static struct adsm_loan *without(struct adsm_loan *first,
                                 struct adsm_loan *loan)
{
    if (first == loan)
        return loan->outer;
    for (struct adsm_loan *p = first; p; p = p->outer)
        if (p->outer == loan)
            p->outer = loan->outer;
    return first;
}

void adsm_loan_own(struct adsm_loan *loan)
{
    if (!adsm_fault_is_remote()) {
        loan->outer = own;
        own = loan;
        return;
    }
    loan->owner = adsm_fault_self();
    loan->asked = 0;
    adsm_lock_acquire(&loans.lock);
    loan->outer = loans.first;
    loans.first = loan;
    adsm_lock_release(&loans.lock);
}

void adsm_loan_disown(struct adsm_loan *loan)
{
    if (!adsm_fault_is_remote()) {
        own = without(own, loan);
        return;
    }
    adsm_lock_acquire(&loans.lock);
    loans.first = without(loans.first, loan);
    adsm_lock_release(&loans.lock);
}

/* Of loans [first, ...) the one of `owner` that holds the block. */
static struct adsm_loan *holder(struct adsm_loan *first, pid_t owner,
                                const struct adsm_object *object, uint32_t i)
{
    struct adsm_loan *loan = first;
    while (loan && (loan->object != object || loan->owner != owner ||
                    i - loan->held_first >= loan->held_count))
        loan = loan->outer;
    return loan;
}

bool adsm_loan_visit(struct adsm_object *object, uint32_t i,
                     bool (*visit)(struct adsm_loan *loan, uint32_t i))
{
    if (!adsm_fault_is_remote()) {
        struct adsm_loan *loan = holder(own, 0, object, i);
        return loan && visit(loan, i);
    }
    adsm_lock_acquire(&loans.lock);
    struct adsm_loan *loan =
        holder(loans.first, adsm_fault_thread(), object, i);
    bool is_late = loan && loan->asked++ < LATE;
    bool done = loan && (is_late || visit(loan, i));
    adsm_lock_release(&loans.lock);
    return done;
}
