#include "reference/base/problem.h"

#include <stdarg.h>
#include <stdio.h>

#include "reference/base/visible.h"

enum status problem(struct problem *p, enum status status, const char *format, ...)
{
    if (!p || p->status != STATUS_OK)
        return status;
    p->status = status;
    va_list arguments;
    va_start(arguments, format);
    char text[sizeof p->text];
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    visible_text(p->text, sizeof p->text, text);
    return status;
}

int status_exit(enum status status)
{
    return (int)(status == STATUS_MEMORY ? STATUS_DEVICE : status);
}
