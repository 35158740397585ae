#include "kernels/method/operands.h"

const char *const operand_name[OPERANDS] = {"an input",          "a second input", "keys",
                                            "an array of heads", "a mask",         "C"};

const void *operand_data(const struct operands *of, enum operand which)
{
    const void *const data[OPERANDS] = {of->in.data, of->in2.data, of->keys,
                                        of->heads,   of->mask,     of->c.data};
    return data[which];
}

void operand_set(struct operands *of, enum operand which, const void *data)
{
    switch (which) {
    case OPERAND_IN:
        of->in.data = (void *)data;
        return;
    case OPERAND_IN2:
        of->in2 = (struct array){of->in.format, of->in.n, (void *)data};
        return;
    case OPERAND_KEYS:
        of->keys = data;
        return;
    case OPERAND_HEADS:
        of->heads = data;
        return;
    case OPERAND_MASK:
        of->mask = data;
        return;
    case OPERAND_C:
        of->c.data = (void *)data;
        return;
    case OPERANDS:
        return;
    }
}

size_t operand_width(const struct operands *of, enum operand which)
{
    return which <= OPERAND_IN2    ? (size_t)format_facts[of->in.format].bytes
           : which == OPERAND_KEYS ? sizeof *of->keys
           : which == OPERAND_C    ? (size_t)format_facts[of->c.format].bytes
                                   : 1;
}

size_t operand_bytes(const struct operands *of, enum operand which)
{
    size_t width = operand_width(of, which), n = which == OPERAND_C ? of->c.n : of->in.n;
    return n > SIZE_MAX / width ? SIZE_MAX : n * width;
}
