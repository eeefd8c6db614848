/* The interlock bench on a GPU.  Private to backend/cuda. */
#ifndef CUZK_BACKEND_CUDA_CUDA_INTERLOCK_H
#define CUZK_BACKEND_CUDA_CUDA_INTERLOCK_H

#include "backend/interlock.h"

interlock_run cuda_interlock;
interlock_calls cuda_interlock_calls;

#endif
