#ifndef BELLJAR_COMMAND_INTERNAL_H
#define BELLJAR_COMMAND_INTERNAL_H

short command_control_interest(void *owner);
void command_control_ready(void *owner, short events);
void command_deadline(void *owner);
void command_output_changed(void *owner);
void command_quiet(void *owner);

#endif
