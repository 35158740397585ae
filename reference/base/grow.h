/* Arrays that grow by one item at a time. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more item after the `count` items of `*array`, which must all have been added
 * this way: capacity doubles at each power of two. `array` is the address of a pointer to items of
 * `size` bytes. Returns false if memory is short; the array is then unchanged. */
static inline bool grow(void *array, size_t count, size_t size)
{
    void *items;
    if ((count & (count - 1)) != 0)
        return true;
    memcpy(&items, array, sizeof items);
    items = realloc(items, (count ? 2 * count : 1) * size);
    if (items)
        memcpy(array, &items, sizeof items);
    return items != NULL;
}
