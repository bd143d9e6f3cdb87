#include "tools.c"
