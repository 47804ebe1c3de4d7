/*
 * Is this an address- or thread-sanitized build? 0 or 1, for the few cases
 * that a sanitizer's own mappings or handlers make impossible.
 */
#ifndef TESTS_BASE_SANITIZED_H
#define TESTS_BASE_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
