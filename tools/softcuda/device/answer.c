/*
 * Owns: the layout of a load answer (struct sc_load_answer, then kernels,
 * parameters, variables, log, names).
 * Does not own: the module or the file.  No lock.
 */
#include "device/answer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/protocol.h"
#include "device/space.h"

struct writer {
    uint8_t *start;
    struct sc_load_kernel *kernels;
    struct sc_load_param *params;
    struct sc_load_variable *variables;
    char *log, *names;
    uint32_t params_used, names_used;
};

static void measure(struct sc_load_answer *head, const struct sc_module *module,
                    const char *log)
{
    head->log_bytes = (uint32_t)strlen(log) + 1;
    if (module) {
        head->target = sc_module_target(module);
        head->kernels = (uint32_t)sc_module_kernels(module);
        head->variables = (uint32_t)sc_module_variables(module);
    }
    for (uint32_t i = 0; i < head->kernels; i++) {
        const struct sc_kernel_info *k = sc_module_kernel(module, i);
        head->params += k->param_count;
        head->name_bytes += (uint32_t)strlen(k->name) + 1;
    }
    for (uint32_t i = 0; i < head->variables; i++)
        head->name_bytes +=
            (uint32_t)strlen(sc_module_variable(module, i)->name) + 1;
    head->total_bytes = sizeof *head +
                        head->kernels * sizeof(struct sc_load_kernel) +
                        head->params * sizeof(struct sc_load_param) +
                        head->variables * sizeof(struct sc_load_variable) +
                        head->log_bytes + head->name_bytes;
}

static uint32_t put_name(struct writer *w, const char *name)
{
    uint32_t at = w->names_used;
    size_t bytes = strlen(name) + 1;
    memcpy(w->names + at, name, bytes);
    w->names_used += (uint32_t)bytes;
    return at;
}

static void put_kernel(struct writer *w, uint32_t i,
                       const struct sc_kernel_info *k)
{
    struct sc_load_kernel out = {
        .name = put_name(w, k->name),
        .first_param = w->params_used,
        .param_count = k->param_count,
        .param_bytes = k->param_bytes,
        .static_shared_bytes = k->static_shared_bytes,
        .local_bytes = k->local_bytes,
        .const_bytes = k->const_bytes,
        .registers = k->registers,
        .max_threads = k->max_threads,
        .required_block = {k->required_block[0], k->required_block[1],
                           k->required_block[2]},
    };
    memcpy(&w->kernels[i], &out, sizeof out);
    for (uint32_t p = 0; p < k->param_count; p++) {
        struct sc_load_param param = {k->params[p].offset, k->params[p].bytes};
        memcpy(&w->params[w->params_used++], &param, sizeof param);
    }
}

static void fill(struct writer *w, const struct sc_load_answer *head,
                 const struct sc_module *module, const char *log)
{
    w->kernels = (void *)(w->start + sizeof *head);
    w->params = (void *)(w->kernels + head->kernels);
    w->variables = (void *)(w->params + head->params);
    w->log = (void *)(w->variables + head->variables);
    w->names = w->log + head->log_bytes;
    memcpy(w->start, head, sizeof *head);
    memcpy(w->log, log, head->log_bytes);
    for (uint32_t i = 0; i < head->kernels; i++)
        put_kernel(w, i, sc_module_kernel(module, i));
    for (uint32_t i = 0; i < head->variables; i++) {
        const struct sc_variable_info *v = sc_module_variable(module, i);
        struct sc_load_variable out = {v->address, v->bytes,
                                       put_name(w, v->name), v->is_managed};
        memcpy(&w->variables[i], &out, sizeof out);
    }
}

bool sc_answer_write(int fd, enum sc_exec_status status,
                     const struct sc_module *module, uint64_t number,
                     const char *log)
{
    struct sc_load_answer head = {.status = (uint32_t)status,
                                  .module = number,
                                  .heap_bytes = sc_space_heap_bytes()};
    measure(&head, module, log);
    struct writer w = {.start = malloc(head.total_bytes)};
    if (!w.start)
        return false;
    fill(&w, &head, module, log);
    uint64_t done = 0;
    while (done < head.total_bytes) {
        ssize_t n =
            pwrite(fd, w.start + done, head.total_bytes - done, (off_t)done);
        if (n <= 0)
            break;
        done += (uint64_t)n;
    }
    free(w.start);
    return done == head.total_bytes;
}
