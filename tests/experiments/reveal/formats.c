/* Which formats reveal takes where they are left open. */
#include <criterion/criterion.h>

#include "experiments/reveal/method.h"

/* What is asked for stays; what is left open is something that the method supports. */
Test(reveal_formats, are_supported)
{
    size_t open = 0;
    struct method m = *method_named("sum/double_word"); /* fp32 and fp64 alone */
    for (size_t i = 0; i < method_count; i++) {
        const struct method *any = method_registry[i];
        for (enum format s = 0; s <= FORMATS; s++) {
            struct format_pair p = reveal_formats(any, DEVICE_CPU, s, FORMATS);
            bool some = false;
            for (enum format a = 0; a < (enum format)ACCUMULATORS; a++)
                for (enum format t = 0; t < FORMATS; t++)
                    some |= (s == FORMATS || s == t) && method_supports(any, DEVICE_CPU, t, a);
            cr_expect(s == FORMATS || p.storage == s, "%s", any->name);
            cr_expect(!some || method_supports(any, DEVICE_CPU, p.storage, p.accumulator), "%s, %d",
                      any->name, (int)s);
            open += some;
        }
    }
    cr_expect(open > 100);
    struct format_pair p = reveal_formats(&m, DEVICE_CPU, FP16, FORMATS);
    cr_expect(p.storage == FP16 && p.accumulator == FP32);
    p = reveal_formats(&m, DEVICE_CPU, FORMATS, FP64);
    cr_expect(p.accumulator == FP64);
    p = reveal_formats(&m, DEVICE_CPU, FP16, FP16); /* as asked, to be refused */
    cr_expect(p.storage == FP16 && p.accumulator == FP16);
    p = reveal_formats(method_named("sum/tiled"), DEVICE_CPU, FORMATS, FORMATS);
    cr_expect(p.storage == FP32 && p.accumulator == FP32);
}
