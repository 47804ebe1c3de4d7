/*
 * fdtd on every device: of a field that a part reads beside its own rows, it
 * gets the row on the one side where it looks.
 */
#include "common/device.h"
#include "fdtd/fdtd.h"

/* How many rows before and behind the part's a kernel reads. */
struct beside {
    long before, behind;
};

static int rows_beside(const adsmPart *part, void *user, adsmBox *out, int most)
{
    const struct beside *beside = user;
    (void)most; /* one is enough */
    *out = part->box;
    out->lo[0] -= part->box.lo[0] > part->whole.lo[0] ? beside->before : 0;
    out->hi[0] += part->box.hi[0] < part->whole.hi[0] ? beside->behind : 0;
    return 1;
}

static void steps_make(const struct fdtd *fdtd, const struct fields *f)
{
    adsmKernel *ey = device_kernel("fdtd_ey"), *ex = device_kernel("fdtd_ex"),
               *hz = device_kernel("fdtd_hz");
    adsmBox all = adsmR2(fdtd->ny, fdtd->nx);
    struct beside before = {.before = 1}, behind = {.behind = 1};
    for (int step = 0; step < fdtd->steps; step++) {
        float source = fdtd_source(step);
        device_call(ey, all, adsmInOut(f->ey),
                    adsmBoxedBy(f->hz, ADSM_IN, rows_beside, &before),
                    adsmVal(fdtd->nx), adsmVal(source));
        device_call(ex, all, adsmInOut(f->ex), adsmIn(f->hz),
                    adsmVal(fdtd->nx));
        device_call(hz, all, adsmInOut(f->hz), adsmIn(f->ex),
                    adsmBoxedBy(f->ey, ADSM_IN, rows_beside, &behind),
                    adsmVal(fdtd->ny), adsmVal(fdtd->nx));
    }
}

int main(int argc, char **argv)
{
    struct fdtd fdtd;
    fdtd_open(&fdtd, argc, argv);
    adsmBox all = adsmR2(fdtd.ny, fdtd.nx);
    struct fields fields = {
        .ex = device_array(sizeof(float), all),
        .ey = device_array(sizeof(float), all),
        .hz = device_array(sizeof(float), all),
    };

    fdtd_make(&fdtd, &fields);
    steps_make(&fdtd, &fields);
    shared_wait();
    fdtd_finish(&fdtd, &fields);

    shared_free(fields.hz);
    shared_free(fields.ey);
    shared_free(fields.ex);
    return 0;
}
