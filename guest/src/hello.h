#ifndef BELLJAR_HELLO_H
#define BELLJAR_HELLO_H

#include "wire.h"

/* Takes what the host says about the service; false where it cannot be understood. */
bool hello_take(const struct frame *frame, uint64_t *lease_ms);
void hello_answer(uint32_t id);

#endif
