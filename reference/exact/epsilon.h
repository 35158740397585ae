/* What is added under the root of a norm of rows: PyTorch's default of a layer norm, and that of
 * Llama's RMS norm. Included by C and by CUDA. */
#pragma once

#define EPSILON_RMSNORM   1e-6
#define EPSILON_LAYERNORM 1e-5
