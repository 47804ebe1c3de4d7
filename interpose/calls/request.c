/*
 * Structures of ioctl.
 *
 * Most requests say their size. The older ones do not, and those that
 * programs use are listed here. Pointers inside such structures are not
 * followed.
 */
#include "interpose/calls/request.h"

#include <asm/ioctls.h>
#include <linux/fs.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <net/route.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/time.h>

/* The kernel's, which libc's structures of these names are not. */
enum { TERMIOS_BYTES = 36, TERMIO_BYTES = 18 };

/* Requests from `first` to `last`. */
static const struct old_request {
    unsigned long first, last;
    size_t bytes;
} old_requests[] = {
    {FIBMAP, FIGETBSZ, sizeof(int)},
    {BLKROSET, BLKROGET, sizeof(int)},
    {BLKGETSIZE, BLKGETSIZE, sizeof(long)},
    {BLKRAGET, BLKRAGET, sizeof(long)},
    {BLKSECTGET, BLKSECTGET, sizeof(short)},
    {BLKSSZGET, BLKSSZGET, sizeof(int)},
    {BLKIOMIN, BLKPBSZGET, sizeof(int)},
    {TCGETS, TCSETSF, TERMIOS_BYTES},
    {TCGETA, TCSETAF, TERMIO_BYTES},
    {TIOCGPGRP, TIOCOUTQ, sizeof(int)},
    {TIOCSTI, TIOCSTI, sizeof(char)},
    {TIOCGWINSZ, TIOCSWINSZ, sizeof(struct winsize)},
    {TIOCMGET, TIOCSSOFTCAR, sizeof(int)},
    {FIONREAD, FIONREAD, sizeof(int)},
    {TIOCPKT, FIONBIO, sizeof(int)},
    {TIOCSETD, TIOCGETD, sizeof(int)},
    {TIOCGSID, TIOCGSID, sizeof(int)},
    {FIOASYNC, FIOASYNC, sizeof(int)},
    {FIOSETOWN, SIOCATMARK, sizeof(int)},
    {SIOCGSTAMP_OLD, SIOCGSTAMPNS_OLD, sizeof(struct timeval)},
    {SIOCADDRT, SIOCDELRT, sizeof(struct rtentry)},
    {SIOCGIFNAME, SIOCSIFLINK, sizeof(struct ifreq)},
    {SIOCGIFCONF, SIOCGIFCONF, sizeof(struct ifconf)},
    {SIOCGIFFLAGS, SIOCGIFTXQLEN + 1, sizeof(struct ifreq)},
    {SIOCDARP, SIOCSARP, sizeof(struct arpreq)},
};

size_t call_ioctl_bytes(unsigned long request)
{
    request = (uint32_t)request; /* as the kernel takes it */
    if (_IOC_DIR(request) != _IOC_NONE)
        return _IOC_SIZE(request);
    for (size_t i = 0; i < sizeof old_requests / sizeof *old_requests; i++)
        if (request >= old_requests[i].first && request <= old_requests[i].last)
            return old_requests[i].bytes;
    return 0;
}
