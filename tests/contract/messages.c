/* Rows: messages in headers and lists, of which any part is in the memory. */
#include "contract.h"

#include <stdio.h>
#include <sys/uio.h>
#include <sys/un.h>

static uint8_t here[8][256];

static uint8_t control[256];
static struct iovec few[3];
static struct msghdr header;

/* A sum of what plain parts have got, beside the result. */
static long with(long result)
{
    long sum = 0;
    int error = errno;
    for (size_t i = 0; i < sizeof here; i++)
        sum = sum * 31 + ((uint8_t *)here)[i];
    for (size_t i = 0; i < sizeof control; i++)
        sum = sum * 31 + control[i];
    memset(here, 0, sizeof here);
    memset(control, 0, sizeof control);
    sum += header.msg_flags + (long)header.msg_namelen;
    errno = error;
    return result < 0 ? result : result + (sum & 0xffffff) * 10000;
}

/* A header of two plain parts with `data`, if any, between them. */
static struct msghdr *around(uint8_t *data, size_t bytes)
{
    few[0] = (struct iovec){here[0], 30};
    few[1] = data ? (struct iovec){data, bytes} : (struct iovec){here[1], 40};
    few[2] = (struct iovec){here[2], 50};
    header = (struct msghdr){.msg_iov = few, .msg_iovlen = 3};
    return &header;
}

static struct msghdr *with_name(void *name, void *rights, size_t bytes)
{
    around(NULL, 0);
    header.msg_name = name;
    header.msg_namelen = name ? sizeof(struct sockaddr_un) : 0;
    header.msg_control = rights;
    header.msg_controllen = bytes;
    return &header;
}

/* Send a file over the stream. */
static void send_rights(void)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } rights = {.head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_CREDENTIALS}};
    struct iovec one = {"x", 1};
    struct msghdr out = {.msg_iov = &one,
                         .msg_iovlen = 1,
                         .msg_control = &rights,
                         .msg_controllen = sizeof rights};
    rights.head.cmsg_type = SCM_RIGHTS;
    memcpy(CMSG_DATA(&rights.head), &now.file, sizeof(int));
    recv(now.stream[0], here[7], 256, 0);
    recv(now.stream[0], here[7], 256, 0);
    sendmsg(now.stream[1], &out, 0);
}

/* Receive it, and close what came. */
static long receive_rights(uint8_t *at, size_t bytes)
{
    send_rights();
    memset(control, 0, sizeof control);
    long result = recvmsg(now.stream[0], with_name(NULL, at, bytes), 0);
    int error = errno;
    for (int fd = now.poll + 1; fd < now.poll + 10; fd++)
        close(fd);
    memset(control, 0, sizeof control);
    errno = error;
    return with(result);
}

static long send_control(uint8_t *p)
{
    return with(sendmsg(now.stream[0], with_name(NULL, p, CMSG_SPACE(4)), 0));
}

static struct mmsghdr two[2];

static struct mmsghdr *pair_of(uint8_t *data, size_t bytes)
{
    two[0].msg_hdr = *around(data, bytes);
    two[1].msg_hdr = (struct msghdr){.msg_iov = few, .msg_iovlen = 1};
    return two;
}

static long many(struct mmsghdr *list, struct timespec *wait)
{
    long result = recvmmsg(now.packets[0], list, 2, MSG_DONTWAIT, wait);
    int error = errno;
    if (result > 0)
        result += 10 * (long)two[0].msg_len + 1000 * (long)two[1].msg_len;
    errno = error;
    return with(result);
}

static uint8_t *list_at(uint8_t *p)
{
    around(NULL, 0);
    (void)p;
    return p;
}

static struct msghdr *listing(uint8_t *p)
{
    header =
        (struct msghdr){.msg_iov = (struct iovec *)list_at(p), .msg_iovlen = 3};
    return &header;
}

static long process_data(uint8_t *p, bool in)
{
    struct iovec other = {here[3], 256};
    struct iovec mine[2] = {{here[4], 10}, {p, 200}};
    for (int i = 0; i < 256; i++)
        here[3][i] = (uint8_t)(i * 3);
    return with(in ? process_vm_readv(getpid(), mine, 2, &other, 1, 0)
                   : process_vm_writev(getpid(), mine, 2, &other, 1, 0));
}

static long process_other(uint8_t *p, bool in)
{
    struct iovec mine = {here[3], 200}, other = {p, 200};
    for (int i = 0; i < 256; i++)
        here[3][i] = (uint8_t)(i * 3);
    return with(in ? process_vm_readv(getpid(), &mine, 1, &other, 1, 0)
                   : process_vm_writev(getpid(), &mine, 1, &other, 1, 0));
}

RUN(data, with(recvmsg(now.stream[0], around(p, 100), 0)))
RUN(data_large, with(recvmsg(now.stream[0], around(p, 20000), 0)))
RUN(header, with(recvmsg(now.stream[0], (struct msghdr *)p, 0)))
RUN(list, with(recvmsg(now.stream[0], listing(p), 0)))
RUN(name, with(recvmsg(now.packets[0], with_name(p, NULL, 0), 0)))
RUN(cut, with(recvmsg(now.packets[0], around(p, 5), 0)))
RUN(control, receive_rights(p, 64))
RUN(control_cut, receive_rights(p, 17))
RUN(bad, with(recvmsg(-1, around(p, 100), 0)))
RUN(bad_header, with(recvmsg(-1, (struct msghdr *)p, 0)))
RUN(again, with(recvmsg(now.stream[1], (struct msghdr *)p, MSG_DONTWAIT)))
RUN(out, with(sendmsg(now.stream[0], around(p, 100), 0)))
RUN(out_header, with(sendmsg(now.stream[0], (struct msghdr *)p, 0)))
RUN(out_list, with(sendmsg(now.stream[0], listing(p), 0)))
RUN(out_name, with(sendmsg(now.packets[0], with_name(p, NULL, 0), 0)))
RUN(out_control, send_control(p))
RUN(many_data, many(pair_of(p, 60), NULL))
RUN(many_headers, many((struct mmsghdr *)p, NULL))
RUN(many_time, many(pair_of(NULL, 0), (struct timespec *)p))
RUN(many_out, with(sendmmsg(now.packets[0], pair_of(p, 60), 2, 0)))
RUN(many_out_headers, with(sendmmsg(now.packets[0], (struct mmsghdr *)p, 2, 0)))
RUN(readv, with(readv(now.pipe[0], (struct iovec *)list_at(p), 3)))
RUN(readv_data, with(readv(now.pipe[0], around(p, 100)->msg_iov, 3)))
RUN(writev, with(writev(now.pipe[1], (struct iovec *)list_at(p), 3)))
RUN(vm_read, process_data(p, true))
RUN(vm_write, process_data(p, false))
RUN(vm_read_other, process_other(p, true))
RUN(vm_write_other, process_other(p, false))

static void fill_header(uint8_t *init)
{
    memcpy(init, around(NULL, 0), sizeof header);
}

static void fill_list(uint8_t *init)
{
    around(NULL, 0);
    memcpy(init, few, sizeof few);
}

static void fill_pair(uint8_t *init)
{
    memcpy(init, pair_of(NULL, 0), sizeof two);
}

static void fill_rights(uint8_t *init)
{
    struct cmsghdr head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(init, &head, sizeof head);
    memcpy(init + sizeof head, &(int){0}, sizeof(int));
}

FILL(time, struct timespec, 3, 7)
FILL(name, struct sockaddr_un, AF_UNIX, "/tmp/nobody/is/here")

const struct contract_row rows_messages[] = {
    {"recvmsg", 100, NULL, run_data, 0},
    {"recvmsg large", 20000, NULL, run_data_large, 0},
    {"recvmsg header", sizeof header, fill_header, run_header, 0},
    {"recvmsg list", sizeof few, fill_list, run_list, 0},
    {"recvmsg name", sizeof(struct sockaddr_un), NULL, run_name, 0},
    {"recvmsg cut packet", 5, NULL, run_cut, 0},
    {"recvmsg control", 64, NULL, run_control, CONTRACT_LOOSE},
    {"recvmsg cut control", 17, NULL, run_control_cut, CONTRACT_LOOSE},
    {"recvmsg bad file", 100, NULL, run_bad, 0},
    {"recvmsg header, bad file", sizeof header, fill_header, run_bad_header, 0},
    {"recvmsg header, again", sizeof header, fill_header, run_again, 0},
    {"sendmsg", 100, NULL, run_out, 0},
    {"sendmsg header", sizeof header, fill_header, run_out_header, 0},
    {"sendmsg list", sizeof few, fill_list, run_out_list, 0},
    {"sendmsg name", sizeof(struct sockaddr_un), fill_name, run_out_name, 0},
    {"sendmsg control", CMSG_SPACE(4), fill_rights, run_out_control, 0},
    {"recvmmsg", 60, NULL, run_many_data, 0},
    {"recvmmsg headers", sizeof two, fill_pair, run_many_headers, 0},
    {"recvmmsg time", 16, fill_time, run_many_time, CONTRACT_LOOSE},
    {"sendmmsg", 60, NULL, run_many_out, 0},
    {"sendmmsg headers", sizeof two, fill_pair, run_many_out_headers, 0},
    {"readv list", sizeof few, fill_list, run_readv, 0},
    {"readv", 100, NULL, run_readv_data, 0},
    {"writev list", sizeof few, fill_list, run_writev, 0},
    {"process_vm_readv", 200, NULL, run_vm_read, 0},
    {"process_vm_writev", 200, NULL, run_vm_write, 0},
    {"process_vm_readv of itself", 200, NULL, run_vm_read_other, 0},
    {"process_vm_writev to itself", 200, NULL, run_vm_write_other, 0},
};
const size_t rows_messages_count = sizeof rows_messages / sizeof *rows_messages;
