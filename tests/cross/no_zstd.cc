// Stands in for zstd where there is no library for the architecture: a continuous trace cannot
// start, which the engine reports like any lack of memory, and a compressed one cannot be read.
#include <zstd.h>

extern "C" {

struct ZSTD_CCtx_s {};

ZSTD_CCtx* ZSTD_createCCtx(void) { return nullptr; }
size_t ZSTD_freeCCtx(ZSTD_CCtx*) { return 0; }
size_t ZSTD_compressBound(size_t size) { return size; }
size_t ZSTD_compressCCtx(ZSTD_CCtx*, void*, size_t, const void*, size_t, int) {
  return static_cast<size_t>(-1);
}
size_t ZSTD_compress(void*, size_t, const void*, size_t, int) { return 0; }
unsigned ZSTD_isError(size_t) { return 1; }
const char* ZSTD_getErrorName(size_t) { return "no zstd in this build"; }

ZSTD_DStream* ZSTD_createDStream(void) { return nullptr; }
size_t ZSTD_freeDStream(ZSTD_DStream*) { return 0; }
size_t ZSTD_DStreamInSize(void) { return 1; }
size_t ZSTD_decompressStream(ZSTD_DStream*, ZSTD_outBuffer*, ZSTD_inBuffer*) {
  return static_cast<size_t>(-1);
}

}  // extern "C"
