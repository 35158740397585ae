/* What an exact value is of. */
#ifndef ULPSCOPE_EXACT_VALUE_H
#define ULPSCOPE_EXACT_VALUE_H

enum exact_value {
    EXACT_SUM, /* of the elements x of an array; beside it sum|x| */
    EXACT_DOT, /* of the products x y of the elements of two arrays, whole; beside it sum|x y| */
    EXACT_VALUES
};

#endif
