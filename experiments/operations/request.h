/* A request to a program (experiments/subjects/wire.h): what every operation is asked for, and what
 * some are beside that. */
#pragma once

#include "kernels/method/method.h"

struct wire_request {
    const struct operation *operation;
    size_t n;
    enum format storage, accumulator;
    enum format output; /* of scans and matrix products; else the accumulator's */
    bool exclusive;
    size_t bins;   /* of scatter-adds; of a matrix its rows; of a product elements of D; else 0 */
    size_t stride; /* of a matrix (kernels/method/matrix.h); else 0 */
    struct gemm_shape gemm; /* of a matrix product, whose n elements are A and B as they lie */
};

/* What is asked for by a task. */
struct wire_request request_asked(const struct task *t);
/* Behind the n elements: how many follow of a second array, of keys or of C; and their bytes. */
size_t request_behind(const struct wire_request *r);
size_t request_behind_bytes(const struct wire_request *r);

/* What follows the formats, "BINS"; "" where nothing does. */
const char *request_rest(const struct operation *o);
/* Writes it, a blank before each word. */
enum { REQUEST_TEXT = 192 };
void request_write(char to[REQUEST_TEXT], const struct wire_request *r);
/* Reads it, from as many words as there are; n is known. */
bool request_read(struct wire_request *r, char *const word[], size_t words);

/* For operations: reads a word that is a number of elements. */
bool request_number(size_t *n, const char *word);
/* What is said of matrices: rows, which divide n, and their stride. */
#define REQUEST_OF_ROWS "ROWS STRIDE"
void request_write_rows(char to[REQUEST_TEXT], const struct wire_request *r);
bool request_read_rows(struct wire_request *r, char *const word[]);
