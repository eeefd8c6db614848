/* cuzk: the command line.  Splits off the command's name (snarkjs's spellings too) and runs it. */
#include "base/mapguard.h"
#include "cli/batch_engine.h"
#include "cli/cli.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct command commands[] = {
    { "prove", "prove a circuit's witness with its key, verify, and write the proof", cmd_prove },
    { "verify", "check a proof against a verification key and public inputs", cmd_verify },
    { "inspect", "tell what a file is: kind, curve, counts", cmd_inspect },
    { "check", "check every point of a proving key once, and remember it", cmd_check },
    { "devices", "list the processors and cards that can prove here", cmd_devices },
    { "plan", "tell the memory that proofs on a key will take", cmd_plan },
    { "vkey", "write the verification key of a proving key", cmd_vkey },
    { "key", "a proving key's derived form, which proves with fewer transforms: derive", cmd_key },
    { "setup", "make a development key from a circuit (insecure)", cmd_setup },
    { "porep", "Filecoin's proof of replication: prove, verify, inspect", cmd_porep },
    { "circuit", "built-in circuits: info, check", cmd_circuit },
    { "gen", "inputs for trying out: c1, circuit", cmd_gen },
    { "bench", "time proofs on a key, or single operations", cmd_bench },
    { "submit", "give a job to a cuzkd", cmd_remote },
    { "await", "wait for a job of a cuzkd and write its proof", cmd_remote },
    { "cancel", "end a job of a cuzkd", cmd_remote },
    { "status", "show what a cuzkd does", cmd_remote },
    { "preload", "load a key in a cuzkd", cmd_remote },
    { "evict", "give the memory of a cuzkd's key back", cmd_remote },
};

/* Other tools' spellings of the same commands. */
static const struct {
    const char *words[3];
    const char *command;
} spellings[] = {
    { { "groth16", "prove" }, "prove" },
    { { "g16p" }, "prove" },
    { { "groth16", "verify" }, "verify" },
    { { "g16v" }, "verify" },
    { { "zkey", "export", "verificationkey" }, "vkey" },
    { { "zkev" }, "vkey" },
};

static void print_help(void)
{
    puts("cuzk proves statements with Groth16, on BN254 and BLS12-381, from the keys of snarkjs (.zkey) and "
         "bellman (.params).\n"
         "\n"
         "usage: cuzk COMMAND [arguments]      cuzk COMMAND --help teaches one command\n"
         "\n"
         "A first proof, from a circuit that circom compiled and a witness that snarkjs computed:\n"
         "  cuzk setup --dev circuit.r1cs circuit.zkey            a key for trying out\n"
         "  cuzk prove circuit.zkey witness.wtns proof.json public.json\n"
         "  cuzk vkey circuit.zkey verification_key.json\n"
         "  cuzk verify verification_key.json public.json proof.json\n"
         "\n"
         "A sector's proof of replication, from the output of Commit Phase 1:\n"
         "  cuzk porep prove c1.json --miner N --sector N --params DIR -o proof.bin\n"
         "\n"
         "commands");
    for (size_t i = 0; i < ARRAY_COUNT(commands); i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    puts("\n"
         "The spellings of snarkjs work too: cuzk groth16 prove, groth16 verify, zkey export "
         "verificationkey.\n"
         "\n"
         "exit codes: 0 done, proof valid; 1 proof not valid; 2 wrong usage; 3 an input is at fault, or not "
         "supported; 4 a file cannot\n"
         "be read or written; 5 not enough memory; 6 no device, or no daemon, is there, or it was lost; 7 a bug in "
         "cuzk; 8 cancelled\n"
         "or out of time (a second Ctrl-C ends it at once, by the signal)");
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(commands); i++)
        if (!strcmp(commands[i].name, name)) return &commands[i];
    return NULL;
}

/* The command that argv[1..] begins with, and how many words its name takes. */
static const struct command *match(int argc, char **argv, int *words)
{
    *words = 1;
    const struct command *c = find_command(argv[1]);
    for (size_t i = 0; !c && i < ARRAY_COUNT(spellings); i++) {
        int n = 0;
        while (n < 3 && spellings[i].words[n]) n++;
        int same = 0;
        while (same < n && same + 1 < argc && !strcmp(argv[same + 1], spellings[i].words[same])) same++;
        if (same == n) {
            *words = n;
            c = find_command(spellings[i].command);
        }
    }
    return c;
}

static int unknown(const char *word)
{
    struct task t;
    task_init(&t);
    const char *names[ARRAY_COUNT(commands)];
    for (size_t i = 0; i < ARRAY_COUNT(commands); i++) names[i] = commands[i].name;
    const int nearest = args_nearest(word, names, ARRAY_COUNT(commands));
    FAIL(&t, CUZK_INVALID_ARGUMENT, "there is no command '%s'", word);
    char advice[96];
    snprintf(advice, sizeof advice, "did you mean '%s'?  cuzk --help lists the commands",
             nearest >= 0 ? names[nearest] : "prove");
    task_fail_place(&t, NULL, ERROR_NO_OFFSET, NULL,
                    nearest >= 0 ? advice : "cuzk --help lists the commands");
    return cli_fail_task(&t);
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_help();
        return cuzk_status_exit_code(CUZK_INVALID_ARGUMENT);
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
        printf("cuzk %s\n", cuzk_version());
        return 0;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        int words;
        const struct command *c = argc > 2 ? match(argc - 1, argv + 1, &words) : NULL;
        if (c) {
            char *help[] = { (char *)(uintptr_t)c->name, (char *)(uintptr_t) "--help", NULL };
            return c->run(2, help);
        }
        if (argc > 2) return unknown(argv[2]);
        print_help();
        return 0;
    }
    int words;
    const struct command *c = match(argc, argv, &words);
    if (c) {
        argv[words] = (char *)(uintptr_t)c->name;
        return c->run(argc - words, argv + words);
    }
    return unknown(argv[1]);
}

/* Whatever was made of a file that was cut short on the way is not to be trusted, even if it looked well. */
static int whole_files(int exit_code)
{
    const char *path = mapguard_lost();
    if (path == NULL) return exit_code;
    fprintf(stderr,
            "error: %s was cut short while it was in use; what was made of it is of no use\n"
            "advice: put the right file there and start again; to replace a file in use, write the new one "
            "beside it and "
            "rename it\n",
            path);
    return cuzk_status_exit_code(CUZK_IO);
}

int main(int argc, char **argv)
{
    const int of_device = batch_engine_device_main(argc, argv);
    if (of_device >= 0) return of_device;
    signal(
        SIGXFSZ,
        SIG_IGN); /* a limit on file sizes is then an error like a full disk, and no half-written file stays */
    signal(SIGPIPE, SIG_IGN); /* so is a pipe that nobody reads any more */
    mapguard_start();
    cli_handle_signals();
    return cli_finish(whole_files(run(argc, argv)));
}
