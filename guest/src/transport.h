#ifndef BELLJAR_TRANSPORT_H
#define BELLJAR_TRANSPORT_H

#include <stdbool.h>

#include "wire.h"

struct transport_events {
    void (*frame)(const struct frame *frame);
    void (*ended)(void);
};

void transport_open(int input, int output, const struct transport_events *events);
/* Takes the nonce that every later frame must carry. */
void transport_accept(const uint8_t nonce[NONCE_LENGTH]);
void transport_send(uint8_t type, uint32_t id, const void *payload, size_t length);
void transport_send_fields(uint8_t type, uint32_t id, struct writer *writer);
/* As DATA: one byte of channel, then the bytes. */
void transport_send_data(uint32_t id, uint8_t channel, const void *bytes, size_t length);
void transport_send_credit(uint32_t id, uint8_t channel, uint64_t bytes);
/* False while so much is waiting that sources of data should hold back. */
bool transport_room(void);
bool transport_closed(void);
void transport_flush(void);
void transport_close(void);
/* In a forked child: forgets the nonce and what was received. */
void transport_wipe(void);

#endif
