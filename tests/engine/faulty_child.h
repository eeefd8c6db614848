/* Processes of devices that do what they should not: for tests of the engine's side. */
#ifndef CUZK_TESTS_FAULTY_CHILD_H
#define CUZK_TESTS_FAULTY_CHILD_H

/* What the process is to do: the value of this variable, which it inherits.
 *
 *     exit CODE            ends before it says anything
 *     refuse               says that the device cannot be opened
 *     deaf                 closes its socket and lives on
 *     say WHAT             opens no device; what it answers to any request is WHAT of enum faulty_answer
 *     crash N, loop N      a right one, whose every N-th proof writes to address 0, or never ends
 *     line N               a right one, whose every N-th proof says for ever that it waits for others
 *     slow MS              a right one, whose proofs take so many milliseconds longer once they have their turn
 *     mute                 a right one, whose proofs write to address 0 and whose self-tests never end
 *     poison CURVE         a right one, in which a proof over this curve (its id) writes to address 0 */
#define FAULTY_CHILD "CUZK_TEST_CHILD"

enum faulty_answer {
    ANSWER_NOISE,    /* random octets */
    ANSWER_EMPTY,    /* a head and no body */
    ANSWER_NUMBER,   /* another exchange's number */
    ANSWER_KIND,     /* another request's */
    ANSWER_LENGTH,   /* a text longer than the message */
    ANSWER_LONG,     /* a body with more than belongs there */
    ANSWER_STATUS,   /* a status that there is not */
    ANSWER_NO_BLOB,  /* a proof without memory */
    ANSWER_PIPE,     /* a proof that is a pipe */
    ANSWER_UNSEALED, /* memory that can be taken away while it is read */
    ANSWER_HUGE,     /* a size to which one cannot be added */
    ANSWER_CLOSE,    /* none: the socket is closed */
    ANSWER_NEVER,    /* none */
    ANSWER_SHUT,     /* none, since the socket has been closed before */
    ANSWER_FDS,      /* descriptors that nobody asked for */
    ANSWERS
};

/** The next request for a proof cannot be sent, for this errno. */
void faulty_send(int why);
/** First thing in main: the exit code if this is a device's process, faulty or right; else -1. */
int faulty_child_main(int argc, char **argv);

#endif
