/* The CPU as a device: worker threads, the instruction set chosen at open, cached twiddle tables. */
#ifndef CUZK_BACKEND_CPU_CPU_DEVICE_H
#define CUZK_BACKEND_CPU_CPU_DEVICE_H

#include "backend/backend.h"

extern const struct backend backend_cpu;

#endif
