/*
 * Sockets, with pointers as the types of their addresses.
 *
 * In C, glibc's header declares the functions that take addresses with a
 * transparent union for them. The list of hooks has the pointers that callers
 * pass; so these declarations get other names.
 */
#ifndef INTERPOSE_LIBC_SOCKETS_H
#define INTERPOSE_LIBC_SOCKETS_H

#define accept      accept_of_header
#define accept4     accept4_of_header
#define bind        bind_of_header
#define connect     connect_of_header
#define getsockname getsockname_of_header
#define getpeername getpeername_of_header
#define recvfrom    recvfrom_of_header
#define sendto      sendto_of_header
#include <sys/socket.h>
#undef accept
#undef accept4
#undef bind
#undef connect
#undef getsockname
#undef getpeername
#undef recvfrom
#undef sendto

#endif
