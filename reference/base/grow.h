/* Arrays that grow by one item at a time. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more item behind the `count` of `*array`, all of which were added so; their
 * room doubles at each power of two. `array` is the address of a pointer to items of `size` bytes.
 * False where memory is short: the array stays as it was. */
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
