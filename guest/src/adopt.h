#ifndef BELLJAR_ADOPT_H
#define BELLJAR_ADOPT_H

#include <sys/types.h>

/*
 * A supervisor was killed from inside: its children are now the guest's own. Kills every child that the guest does
 * not know, until none is left; then the commands whose supervisors are lost go on.
 */
void adopt_begin(void);
void adopt_reaped(pid_t pid, int status);

#endif
