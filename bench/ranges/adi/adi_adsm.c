/*
 * adi on every device: each has a share of the rows, then one of the columns.
 * What moves in between nobody says.
 */
#include "adi/adi.h"
#include "common/device.h"

static adsmArg by_rows(adsmArg arg)
{
    return adsmAlong(arg, 1, -1, 0);
}

static adsmArg by_columns(adsmArg arg)
{
    return adsmAlong(arg, -1, 1, 0);
}

static void steps_make(const struct adi *adi, const struct adi_data *data)
{
    adsmKernel *rows = device_kernel("adi_rows"),
               *columns = device_kernel("adi_columns");
    adsmBox all = adsmR1(adi->n);
    for (int step = 0; step < adi->steps; step++) {
        device_call(rows, all, by_rows(adsmInOut(data->x)),
                    by_rows(adsmInOut(data->b)), by_rows(adsmIn(data->a)),
                    adsmVal(adi->n));
        device_call(columns, all, by_columns(adsmInOut(data->x)),
                    by_columns(adsmInOut(data->b)), by_columns(adsmIn(data->a)),
                    adsmVal(adi->n));
    }
}

int main(int argc, char **argv)
{
    struct adi adi;
    adi_open(&adi, argc, argv);
    adsmBox all = adsmR2(adi.n, adi.n);
    const struct adi_data data = {
        .x = device_array(sizeof(float), all),
        .b = device_array(sizeof(float), all),
        .a = device_array(sizeof(float), all),
    };

    adi_make(&adi, &data);
    steps_make(&adi, &data);
    shared_wait();
    adi_finish(&adi, &data);

    shared_free(data.a);
    shared_free(data.b);
    shared_free(data.x);
    return 0;
}
