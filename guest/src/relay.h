#ifndef BELLJAR_RELAY_H
#define BELLJAR_RELAY_H

/* Listens on a loopback port (0: any free one) and carries its connections over stdin and stdout. Returns an exit status where it cannot. */
int relay_run(int port);

#endif
