#ifndef BELLJAR_SESSION_H
#define BELLJAR_SESSION_H

/* The conversation with the host, from its hello to its end. */
_Noreturn void session_begin(int input, int output);
/* Collects every child that has ended. */
void session_reap(void);

#endif
