// What Go's runtime asks Windows for at its start and wine 8 does not have.
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID data, ULONG length);

BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) { return SystemFunction036(data, length); }
