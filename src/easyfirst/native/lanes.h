// The machine's vectors: how wide they are, and the products of floats and of small integers.
#include "memory.h"
#include "simd.h"

// LANES: columns of a vector. EACH_ROWS: the heights of tiles, the last of which is MAX_ROWS.
#define ROWS_4(f) f(1) f(2) f(3) f(4)
#define ROWS_6(f) ROWS_4(f) f(5) f(6)
#define ROWS_12(f) ROWS_6(f) f(7) f(8) f(9) f(10) f(11) f(12)
#if defined(__AVX512F__)
enum { LANES = 16, MAX_ROWS = 12 };
#define EACH_ROWS ROWS_12
#elif defined(__AVX2__)
enum { LANES = 8, MAX_ROWS = 6 };
#define EACH_ROWS ROWS_6
#elif defined(__ARM_NEON)
enum { LANES = 4, MAX_ROWS = 6 };
#define EACH_ROWS ROWS_6
#else
enum { LANES = 4, MAX_ROWS = 4 };
#define EACH_ROWS ROWS_4
#endif
enum { PANEL = 2 * LANES, MAX_PANELS = 4 };  // columns of a panel; panels of a tile with a single row

typedef float fwide __attribute__((vector_size(4 * LANES)));
typedef int32_t iwide __attribute__((vector_size(4 * LANES)));
typedef float fwide_any __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t iwide_any __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

// a * b + c, fused where the machine can
#if defined(__AVX512F__)
INLINE fwide fused_wide(fwide a, fwide b, fwide c) { return (fwide)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
#elif defined(__FMA__)
INLINE fwide fused_wide(fwide a, fwide b, fwide c) { return (fwide)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
#elif defined(__ARM_NEON)
INLINE fwide fused_wide(fwide a, fwide b, fwide c) { return (fwide)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
#else
INLINE fwide fused_wide(fwide a, fwide b, fwide c) { return a * b + c; }
#endif

// Integer products: `group` consecutive k of a column lie side by side, as do those of the activations.
// pairs_of(w): 8-bit weights as 16-bit ones. dot2: sum + x[0] w[0] + x[1] w[1]. dot4: the same of four unsigned x.
#if defined(__AVX512F__)
INLINE iwide pairs_of(const int8_t *w) { return (iwide)_mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)w)); }
#if defined(__AVX512VNNI__)
INLINE iwide dot2(iwide sum, iwide x, iwide w) { return (iwide)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)x, (__m512i)w); }
INLINE iwide dot4(iwide sum, iwide x, iwide w) { return (iwide)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)x, (__m512i)w); }
#else
INLINE iwide dot2(iwide sum, iwide x, iwide w) { return sum + (iwide)_mm512_madd_epi16((__m512i)x, (__m512i)w); }
INLINE iwide dot4(iwide sum, iwide x, iwide w) {
    return sum + (iwide)_mm512_madd_epi16(_mm512_maddubs_epi16((__m512i)x, (__m512i)w), _mm512_set1_epi16(1));
}
#endif
#define HAS_DOT4 1
#elif defined(__AVX2__)
INLINE iwide pairs_of(const int8_t *w) { return (iwide)_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)w)); }
INLINE iwide dot2(iwide sum, iwide x, iwide w) { return sum + (iwide)_mm256_madd_epi16((__m256i)x, (__m256i)w); }
INLINE iwide dot4(iwide sum, iwide x, iwide w) {
    return sum + (iwide)_mm256_madd_epi16(_mm256_maddubs_epi16((__m256i)x, (__m256i)w), _mm256_set1_epi16(1));
}
#define HAS_DOT4 1
#elif defined(__SSE2__)
INLINE iwide pairs_of(const int8_t *w) {
    __m128i bytes = _mm_loadl_epi64((const __m128i *)w);
    return (iwide)_mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
}
INLINE iwide dot2(iwide sum, iwide x, iwide w) { return sum + (iwide)_mm_madd_epi16((__m128i)x, (__m128i)w); }
#elif defined(__ARM_NEON)
INLINE iwide pairs_of(const int8_t *w) { return (iwide)vmovl_s8(vld1_s8(w)); }
INLINE iwide dot2(iwide sum, iwide x, iwide w) {
    int16x8_t a = (int16x8_t)x, b = (int16x8_t)w;
    return sum + (iwide)vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b));
}
#else
INLINE iwide pairs_of(const int8_t *w) {
    int16_t wide[2 * LANES];
    iwide pairs;
    for (int i = 0; i < 2 * LANES; i++) wide[i] = w[i];
    memcpy(&pairs, wide, sizeof pairs);
    return pairs;
}
INLINE iwide dot2(iwide sum, iwide x, iwide w) { return sum + (x << 16 >> 16) * (w << 16 >> 16) + (x >> 16) * (w >> 16); }
#endif
#ifndef HAS_DOT4  // 7-bit activations are stored like 14-bit ones, with the same result
#define HAS_DOT4 0
INLINE iwide dot4(iwide sum, iwide x, iwide w) { return dot2(sum, x, w); }
#endif
