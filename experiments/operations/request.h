/* A request to a program (experiments/subjects/wire.h): what every operation is asked for, and what
 * some are beside that. */
#pragma once

#include "kernels/method/method.h"

struct wire_request {
    const struct operation *operation;
    size_t n;
    enum format storage, accumulator;
    enum format output; /* of scans alone; else the accumulator's */
    bool exclusive;
    size_t bins;   /* of scatter-adds; of a matrix its rows; else 0 */
    size_t stride; /* of a matrix (kernels/method/matrix.h); else 0 */
};

/* What follows the formats, "BINS"; "" where nothing does. */
const char *request_rest(const struct operation *o);
/* Writes it, a blank before each word. */
enum { REQUEST_TEXT = 64 };
void request_write(char to[REQUEST_TEXT], const struct wire_request *r);
/* Reads it, from as many words as there are; n is known. */
bool request_read(struct wire_request *r, char *const word[], size_t words);

/* For operations: reads a word that is a number of elements. */
bool request_number(size_t *n, const char *word);
/* What is said of matrices: rows, which divide n, and their stride. */
#define REQUEST_OF_ROWS "ROWS STRIDE"
void request_write_rows(char to[REQUEST_TEXT], const struct wire_request *r);
bool request_read_rows(struct wire_request *r, char *const word[]);
