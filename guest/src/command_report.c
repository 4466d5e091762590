#include <sys/wait.h>

#include "command.h"
#include "kinds.h"
#include "oom.h"
#include "transport.h"

static void write_status(struct writer *writer, const struct command *command) {
    if (!command->main_done)
        return;
    if (command->failed) {
        writer_number(writer, FIELD_ERROR, (uint64_t)kind_of_launch_failure(&command->failure));
        writer_number(writer, FIELD_ERRNO, (uint64_t)command->failure.error);
    } else if (WIFSIGNALED(command->status)) {
        writer_number(writer, FIELD_EXIT_SIGNAL, (uint64_t)WTERMSIG(command->status));
    } else {
        writer_number(writer, FIELD_EXIT_CODE, (uint64_t)WEXITSTATUS(command->status));
    }
}

static void write_flags(struct writer *writer, const struct command *command) {
    const struct {
        enum field_tag tag;
        uint64_t value;
    } flags[] = {{FIELD_TIMED_OUT, command->timed_out},
                 {FIELD_KILLED, command->killing},
                 {FIELD_UNKILLABLE, command->unkillable},
                 {FIELD_BACKGROUND, command->remaining && !command->tree_gone},
                 {FIELD_SUPERVISOR_LOST, command->lost}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].value)
            writer_number(writer, flags[i].tag, flags[i].value);
    uint64_t kills = oom_check(); /* of version 1 there is no notice */
    if (kills > command->oom_kills_before)
        writer_number(writer, FIELD_OOM_KILLS, kills - command->oom_kills_before);
}

void command_report_exit(struct command *command) {
    struct writer writer = {0};
    write_status(&writer, command);
    write_flags(&writer, command);
    writer_number(&writer, FIELD_PID, (uint64_t)command->main);
    if (!command->streamed) {
        writer_number(&writer, FIELD_STDOUT_BYTES, command->outputs[0].total);
        writer_number(&writer, FIELD_STDERR_BYTES, command->outputs[1].total);
    }
    writer_number(&writer, FIELD_CPU_US, command->cpu_us);
    writer_number(&writer, FIELD_PEAK_MEMORY_KB, command->peak_memory_kb);
    writer_number(&writer, FIELD_DURATION_US, (uint64_t)command->duration_us);
    transport_send_fields(FRAME_EXIT, command->id, &writer);
}

void command_answer_failure(uint32_t id, int kind, int error) {
    struct writer writer = {0};
    writer_number(&writer, FIELD_ERROR, (uint64_t)kind);
    writer_number(&writer, FIELD_ERRNO, (uint64_t)error);
    transport_send_fields(FRAME_EXIT, id, &writer);
}
