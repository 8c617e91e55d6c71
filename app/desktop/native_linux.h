#include <stdint.h>

int carrel_prefers_dark(void);
void carrel_fix_signals(void);
void carrel_watch(uintptr_t window, int known, int x, int y);
