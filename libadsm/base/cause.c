/* Words of causes; see cause.h. */
#include "base/cause.h"

static const char *const cause_words[ADSM_WHYS] = {
#define CAUSE(name, help) #name,
#include "base/causes.def"
#undef CAUSE
};

const char *adsm_cause_word(enum adsm_why why)
{
    return (unsigned)why < ADSM_WHYS ? cause_words[why] : "?";
}
