/* Names, arguments and environments. */
#include "interpose/calls/words.h"
#include "interpose/calls/copy.h"
#include "interpose/calls/shape.h"
#include "os/fault.h"
#include "os/look.h"

#include <alloca.h>
#include <errno.h>
#include <string.h>

enum {
    FEW_BYTES = 16 << 10, /* on the stack, which a child of vfork gives back  */
    WORDS_MOST = 1 << 20, /* more than the kernel takes                       */
};

/* Room for a text with its byte 0; 0: it is plain, or the kernel is to find that
 * it does not end. */
static size_t text_room(const char *text)
{
    if (hook_likely(hook_is_plain(text, 1)))
        return 0;
    size_t there = call_reach(text, CALL_TEXT_MOST);
    size_t bytes = strnlen(text, there);
    return bytes < there ? bytes + 1 : 0;
}

/* The next word of a list, NULL at its end. Return: false there, and where none
 * can be read, with the word before. */
static bool word_at(char *const *list, size_t i, char **word)
{
    char *found;
    if (i >= WORDS_MOST || !adsm_look(&found, &list[i], sizeof found))
        return false;
    *word = found;
    return found;
}

/* Room for a list and what it names; 0: all of that is plain, or the kernel is
 * to find that the list does not end. */
static size_t list_room(char *const *list)
{
    size_t count = 0, room = 0;
    char *word = NULL;
    for (; list && word_at(list, count, &word); count++)
        room += text_room(word);
    size_t bytes = (count + 1) * sizeof *list;
    if (word)
        return 0;
    return room || (list && !hook_is_plain(list, bytes)) ? bytes + room : 0;
}

static char *copy_text(const char *text, char **room)
{
    size_t bytes = text_room(text);
    char *copy = *room;
    if (bytes == 0)
        return (char *)text;
    memcpy(copy, text, bytes);
    copy[bytes - 1] = '\0';
    *room += bytes;
    return copy;
}

/* The list first, for its alignment, then what it names. `bytes` is its room: what
 * others make of it meanwhile has to fit. */
static char *const *copy_list(char *const *list, size_t bytes, char *room)
{
    char **copy = (char **)room, *end = room + bytes, *word;
    size_t count = 0;
    if (bytes == 0)
        return list;
    while ((count + 1) * sizeof *copy < bytes && word_at(list, count, &word))
        copy[count++] = word;
    room += (count + 1) * sizeof *copy;
    for (size_t i = 0; i < count; i++)
        if (text_room(copy[i]) <= (size_t)(end - room))
            copy[i] = copy_text(copy[i], &room);
    copy[count] = NULL;
    return copy;
}

static size_t aligned(size_t bytes)
{
    return (bytes + sizeof(char *) - 1) / sizeof(char *) * sizeof(char *);
}

int words_issue(words_issue_fn *issue, void *context, const char *path,
                char *const *argv, char *const *envp)
{
    if (!adsm_fault_is_installed())
        return issue(context, path, argv, envp);
    size_t arguments = aligned(list_room(argv));
    size_t environment = aligned(list_room(envp)), name = text_room(path);
    size_t bytes = arguments + environment + name;
    if (hook_likely(bytes == 0))
        return issue(context, path, argv, envp);
    struct call_buffer buffer = {0};
    char *room = NULL;
    if (bytes <= FEW_BYTES)
        room = alloca(bytes);
    else if (call_buffer_take(&buffer, bytes, false))
        room = buffer.at;
    if (!room) {
        errno = ENOMEM;
        return -1;
    }
    char *text = room + arguments + environment;
    argv = copy_list(argv, arguments, room);
    envp = copy_list(envp, environment, room + arguments);
    int result = issue(context, copy_text(path, &text), argv, envp);
    call_buffer_give(&buffer);
    return result;
}
