/* Chunks of calls that leave them to the library; see task.h. */
#include "call/task.h"

#include "accel/rate.h"
#include "range/box.h"
#include "call/chunks.h"

enum {
    LEAST_BYTES = 1 << 20,  /* less is not worth to be cut             */
    CHUNK_BYTES = 64 << 10, /* of a chunk, at least                    */
    LAUNCH_NS = 10 * 1000,  /* of a kernel more, issued and begun      */
};

bool adsm_task_may_chunk(const struct adsm_task *task)
{
    if (task->opts.chunks > 0 || adsm_task_has_parts(&task->opts))
        return false;
    double indices = adsm_split_indices(&task->range) / task->devices;
    for (int d = 0; d < task->devices; d++)
        if (adsm_speed_brought(task->kernel.speed, task->numbers[d]) *
                indices >=
            LEAST_BYTES)
            return true;
    return false;
}

/* What a part writes, and by how many arguments it reads and writes. */
static double written(const struct adsm_task *task,
                      const struct adsm_split_part *part, int *ins, int *outs)
{
    double bytes = 0;
    *ins = *outs = 0;
    for (int i = 0; i < task->operand_count; i++) {
        const struct adsm_operand *operand = &task->operands[i];
        struct adsm_want wants[ADSM_OPERAND_WANTS];
        int n = adsm_operand_want(operand, part, wants);
        *ins += operand->reads ? n : 0;
        *outs += operand->writes ? n : 0;
        for (int k = 0; k < n && operand->writes; k++)
            bytes += (double)adsm_box_bytes(&wants[k].write);
    }
    return bytes;
}

static int best_of(const struct adsm_task *task,
                   const struct adsm_split_part *part)
{
    struct adsm_speed *speed = task->kernel.speed;
    int number = task->numbers[part->device], ins, outs;
    double indices = adsm_split_indices(&part->box);
    double up_bytes = adsm_speed_brought(speed, number) * indices;
    double ns = adsm_speed_ns(speed, number, adsm_split_indices(&task->range));
    struct adsm_rate up, down;
    if (up_bytes < LEAST_BYTES || ns <= 0 ||
        !adsm_rates_get(task->accels[part->device], &up, &down))
        return 1;
    double down_bytes = written(task, part, &ins, &outs);
    const struct adsm_stage_cost stage[3] = {
        {up_bytes * up.byte_ns, ins * up.copy_ns},
        {ns * indices, LAUNCH_NS},
        {task->opts.fetch ? down_bytes * down.byte_ns : 0, outs * down.copy_ns},
    };
    return adsm_chunks_best(stage, (int)(up_bytes / CHUNK_BYTES));
}

int adsm_task_chunks(const struct adsm_task *task)
{
    int most = 1;
    if (!task->may_chunk)
        return task->opts.chunks;
    for (int i = 0; i < task->part_count; i++) {
        int best = best_of(task, &task->parts[i]);
        most = best > most ? best : most;
    }
    return most;
}
