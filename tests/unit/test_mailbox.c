/* Many senders, one receiver: nothing lost, each sender's order kept, waits that end. */
#include "support/cm.h"
#include "base/clock.h"
#include "base/mailbox.h"
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#define SENDERS  4
#define MESSAGES 2000

struct letter {
    struct message message; /* first, so that a message is its letter */
    unsigned sender, number;
};

static struct mailbox box;
static struct letter letters[SENDERS][MESSAGES];

static bool readable(int timeout_ms)
{
    struct pollfd p = { .fd = mailbox_fd(&box), .events = POLLIN };
    return poll(&p, 1, timeout_ms) == 1;
}

static int open_box(void **state)
{
    (void)state;
    struct task t;
    task_init(&t);
    return mailbox_init(&box, &t);
}

static int close_box(void **state)
{
    (void)state;
    mailbox_fini(&box);
    return 0;
}

static void empty_gives_nothing(void **state)
{
    (void)state;
    assert_false(readable(0));
    assert_null(mailbox_take(&box, 0));
    uint64_t start = clock_now_ns();
    assert_null(mailbox_take(&box, 30));
    assert_true(clock_ms_since(start) >= 25);
}

static void the_descriptor_tells_while_messages_are_left(void **state)
{
    (void)state;
    struct letter a = { .number = 1 }, b = { .number = 2 }, c = { .number = 3 };
    mailbox_send(&box, &a.message);
    mailbox_send(&box, &b.message);
    mailbox_send(&box, &c.message);
    assert_true(readable(0));
    assert_ptr_equal(mailbox_take(&box, 0), &a.message);
    assert_true(readable(0));
    assert_ptr_equal(mailbox_take(&box, 0), &b.message);
    assert_true(readable(0));
    assert_ptr_equal(mailbox_take(&box, 0), &c.message);
    assert_null(mailbox_take(&box, 0));
    assert_false(readable(0));
    mailbox_send(&box, &a.message);
    assert_true(readable(0));
    assert_ptr_equal(mailbox_take(&box, 0), &a.message);
}

static void *late_sender(void *argument)
{
    usleep(20000);
    mailbox_send(&box, argument);
    return NULL;
}

static void a_waiting_receiver_is_woken(void **state)
{
    (void)state;
    struct letter a = { .number = 1 };
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, late_sender, &a.message), 0);
    struct message *got = mailbox_take(&box, -1);
    pthread_join(thread, NULL);
    assert_ptr_equal(got, &a.message);
}

static void *sender_main(void *argument)
{
    struct letter *own = argument;
    for (unsigned i = 0; i < MESSAGES; i++) {
        own[i].number = i;
        mailbox_send(&box, &own[i].message);
    }
    return NULL;
}

static void nothing_is_lost_and_order_is_kept(void **state)
{
    (void)state;
    pthread_t senders[SENDERS];
    unsigned next[SENDERS] = { 0 };
    for (unsigned s = 0; s < SENDERS; s++) {
        for (unsigned i = 0; i < MESSAGES; i++) letters[s][i].sender = s;
        assert_int_equal(pthread_create(&senders[s], NULL, sender_main, letters[s]), 0);
    }
    bool right = true;
    for (unsigned i = 0; i < SENDERS * MESSAGES && right; i++) {
        if (i % 2 == 0 && !readable(10000)) right = false; /* both ways of waiting */
        struct letter *got = (struct letter *)mailbox_take(&box, 10000);
        right = right && got != NULL && got->number == next[got->sender]++;
    }
    for (unsigned s = 0; s < SENDERS; s++) pthread_join(senders[s], NULL);
    assert_true(right);
    assert_null(mailbox_take(&box, 0));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_box, close_box)
    const struct CMUnitTest tests[] = {
        T(empty_gives_nothing),
        T(the_descriptor_tells_while_messages_are_left),
        T(a_waiting_receiver_is_woken),
        T(nothing_is_lost_and_order_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
