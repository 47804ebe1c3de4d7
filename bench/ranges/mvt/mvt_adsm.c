/*
 * mvt on every device: each has a share of the rows for one product, and one of
 * the columns for the other.
 */
#include "common/device.h"
#include "mvt/mvt.h"

static void turns_make(const struct mvt *mvt, const struct mvt_data *data)
{
    adsmKernel *rows = device_kernel("mvt_rows"),
               *columns = device_kernel("mvt_columns");
    for (int turn = 0; turn < mvt->turns; turn++) {
        device_call(rows, adsmR1(mvt->ny), adsmInOut(data->x1),
                    adsmAlong(adsmIn(data->a), 1, -1, 0), adsmAll(data->y1),
                    adsmVal(mvt->nx));
        device_call(columns, adsmR1(mvt->nx), adsmInOut(data->x2),
                    adsmAlong(adsmIn(data->a), -1, 1, 0), adsmAll(data->y2),
                    adsmVal(mvt->ny));
    }
}

int main(int argc, char **argv)
{
    struct mvt mvt;
    mvt_open(&mvt, argc, argv);
    const struct mvt_data data = {
        .a = device_array(sizeof(float), adsmR2(mvt.ny, mvt.nx)),
        .x1 = device_array(sizeof(float), adsmR1(mvt.ny)),
        .x2 = device_array(sizeof(float), adsmR1(mvt.nx)),
        .y1 = device_array(sizeof(float), adsmR1(mvt.nx)),
        .y2 = device_array(sizeof(float), adsmR1(mvt.ny)),
    };

    mvt_make(&mvt, &data);
    turns_make(&mvt, &data);
    shared_wait();
    mvt_finish(&mvt, &data);

    shared_free(data.y2);
    shared_free(data.y1);
    shared_free(data.x2);
    shared_free(data.x1);
    shared_free(data.a);
    return 0;
}
