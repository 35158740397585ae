/* product/serial: one after the other, exponents kept apart.
 *
 * One thread multiplies each element to what it has so far (kernels/blocks/serial.cuh). */
#include "kernels/product/scaled.cuh"
#include "kernels/blocks/serial.cuh"

namespace
{

template <typename A> struct running_product {
    wide<A> m = 1;
    long long exponent = 0;
    template <typename S> __device__ void step(S x, size_t)
    {
        factor<A> f = factor_of<A>(x);
        m = multiply_in<A>(m, f.m);
        exponent += f.exponent + take_exponent(&m);
    }
    __device__ A result(size_t) const { return scaled_value<A>(m, exponent); }
};

} // namespace

extern "C" const struct cuda_method product_serial_cuda = {
    no_workspace, no_workspace, serial_order::method<running_product>::enqueue};
