#include "reference/problem.h"

#include <stdarg.h>
#include <stdio.h>

enum status problem(struct problem *p, enum status status, const char *format, ...)
{
    if (!p || p->status != STATUS_OK)
        return status;
    p->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->text, sizeof p->text, format, arguments);
    va_end(arguments);
    for (char *c = p->text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    return status;
}
