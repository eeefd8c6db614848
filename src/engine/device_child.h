/* The process of a device: this program started again by device_process.c, which opens the device and does what its
 * channels ask.  Its main is engine_device_main (engine.h). */
#ifndef CUZK_ENGINE_DEVICE_CHILD_H
#define CUZK_ENGINE_DEVICE_CHILD_H

#define DEVICE_CHILD_ARGUMENT "--device-process" /* and the number of the control socket */

#endif
