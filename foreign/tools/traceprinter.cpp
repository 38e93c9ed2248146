// SPDX-License-Identifier: MIT
// traceprinter prints the header and the events of a trace, in the text of the published utility:
//
//   t:0x00001003 CPU:00 CONTROL: BUFFER sequence = 33, num_events = 714
//   t:0x00001003 CPU:00 CONTROL :TIME msb:0x00000001 lsb(offset):0x00001000
//   t:0x00001358 CPU:00 THREAD  :THREADY       pid:1 tid:1
//   t:0x00001472 CPU:00 USREVENT:EVENT:140 STR:"build"
//
// Each class of events has its own form; where none is published, data are d0, d1 and so on. It uses only
// libtraceparser, so it may serve as a basis for other printers. Published options: -f file, -o file, -n, -v. Ours: -s
// (in time order), -l (the 64-bit clock instead of its low half), -a (lines of arguments, as published without -n).
#include "foreign/published/traceparser.h"

#include <cstdint>
#include <cstdio>
#include <getopt.h>
#include <string>
#include <sys/stat.h>

namespace {

// "-" is standard input.
bool is_same_file(const char* input, const char* output) {
    struct stat left {};

    struct stat right {};

    const int failed = std::string(input) == "-" ? ::fstat(0, &left) : ::stat(input, &left);
    return failed == 0 && ::stat(output, &right) == 0 && left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

struct Output {
    FILE* stream = stdout;
    bool long_clock = false;
    bool argument_lines = false;
};

constexpr const char* kStates[] = {"", " [incomplete]", " [orphan]", " [malformed]", " [late]"};

// Prints the characters up to a zero byte; a character that is not printable becomes a dot.
void put_characters(const Output& out, const uint32_t* words, unsigned count) {
    for (unsigned i = 0; i < 4 * count; ++i) {
        const unsigned character = (words[i / 4] >> (8 * (i % 4))) & 0xFF;
        if (character == 0) {
            break;
        }
        std::fputc(character >= ' ' && character <= '~' ? static_cast<int>(character) : '.', out.stream);
    }
}

// Prints the name of an argument of an event that may have a line for each.
void put_name(const Output& out, const char* name) {
    if (out.argument_lines) {
        std::fprintf(out.stream, "\n%26s:", name);
    } else {
        std::fprintf(out.stream, " %s:", name);
    }
}

// Prints the data from this one on that have no names.
void put_words(const Output& out, const traceparser_event& event, unsigned from, bool may_have_lines = false) {
    for (unsigned i = from; i < event.word_count; ++i) {
        char name[16];
        std::snprintf(name, sizeof name, "d%u", i);
        if (may_have_lines) {
            put_name(out, name);
            std::fprintf(out.stream, "0x%08x", event.words[i]);
        } else {
            std::fprintf(out.stream, " %s:0x%08x", name, event.words[i]);
        }
    }
}

void print_control(const Output& out, const traceparser_event& event) {
    if (event.event == _NTO_TRACE_CONTROLTIME) {
        std::fprintf(out.stream, "CONTROL :TIME msb:0x%08x lsb(offset):0x%08x", event.words[0], event.words[1]);
    } else {
        std::fprintf(out.stream, "CONTROL: BUFFER sequence = %u, num_events = %u", event.words[0] & 0x7FF,
                     event.words[1]);
    }
}

// A state is followed by a blank and, where the trace has them, by the priority and the policy.
void print_thread(const Output& out, const traceparser_event& event) {
    const bool is_state = event.event < _NTO_TRACE_THCREATE;
    std::fprintf(out.stream, "%-8s:%-14spid:%u tid:%u%s", event.class_label, event.event_label, event.words[0],
                 event.words[1], is_state ? " " : "");
    if (is_state && event.word_count >= 4) {
        std::fprintf(out.stream, "priority:%u policy:%u", event.words[2], event.words[3]);
        put_words(out, event, 4);
    } else {
        put_words(out, event, 2);
    }
}

void print_process(const Output& out, const traceparser_event& event) {
    const bool is_thread = event.event == _NTO_TRACE_PROCTHREAD_NAME;
    std::fprintf(out.stream, "%-8s:%s", event.class_label, event.event_label);
    put_name(out, is_thread ? "pid" : "ppid");
    std::fprintf(out.stream, "%u", event.words[0]);
    put_name(out, is_thread ? "tid" : "pid");
    std::fprintf(out.stream, "%u", event.words[1]);
    if (event.event != _NTO_TRACE_PROCCREATE && event.event != _NTO_TRACE_PROCDESTROY) {
        put_name(out, "name");
        put_characters(out, event.words + 2, event.word_count - 2);
    }
}

// The first datum is the number of the interrupt, which is the event.
void print_interrupt(const Output& out, const traceparser_event& event) {
    std::fprintf(out.stream, "%s:0x%08x (%d)      ", event.class_label, event.event, static_cast<int>(event.event));
    if (event.class_ == _NTO_TRACE_INT_HANDLER_ENTER && event.word_count >= 4) {
        std::fprintf(out.stream, " PID:%u IP:0x%08x AREA:0x%08x", event.words[1], event.words[2], event.words[3]);
        put_words(out, event, 4);
    } else if (event.class_ == _NTO_TRACE_INTENTER) {
        std::fprintf(out.stream, " IP:0x%08x", event.words[1]);
        put_words(out, event, 2);
    } else if (event.class_ == _NTO_TRACE_INTEXIT) {
        std::fprintf(out.stream, " inkernel:0x%08x", event.words[1]);
        put_words(out, event, 2);
    } else {
        put_words(out, event, 1);
    }
}

void print_call(const Output& out, const traceparser_event& event) {
    std::fprintf(out.stream, "%s:%u%s", event.class_label, event.event & ~_NTO_TRACE_KERCALL64,
                 (event.event & _NTO_TRACE_KERCALL64) != 0 ? "/64" : "");
    put_words(out, event, 0, true);
}

// More data than two are a text.
void print_user(const Output& out, const traceparser_event& event) {
    std::fprintf(out.stream, "USREVENT:EVENT:%u", event.event);
    if (event.word_count <= 2) {
        std::fprintf(out.stream, ", d0:0x%08x d1:0x%08x", event.words[0], event.words[1]);
        return;
    }
    std::fputs(" STR:\"", out.stream);
    put_characters(out, event.words, event.word_count);
    std::fputc('"', out.stream);
}

void print_message(const Output& out, const traceparser_event& event) {
    std::fprintf(out.stream, "%-8s:%-14s", event.class_label, event.event_label);
    switch (event.event) {
    case _NTO_TRACE_COMM_SMSG:
    case _NTO_TRACE_COMM_RMSG:
        std::fprintf(out.stream, "rcvid:0x%08x pid:%u", event.words[0], event.words[1]);
        break;
    case _NTO_TRACE_COMM_REPLY:
        std::fprintf(out.stream, "tid:%u pid:%u", event.words[0], event.words[1]);
        break;
    case _NTO_TRACE_COMM_SIGNAL:
    case _NTO_TRACE_COMM_ERROR:
        std::fprintf(out.stream, "d0:0x%08x d1:0x%08x", event.words[0], event.words[1]);
        break;
    default:
        std::fprintf(out.stream, "scoid:0x%08x pid:%u", event.words[0], event.words[1]);
    }
    put_words(out, event, 2);
}

void print_other(const Output& out, const traceparser_event& event) {
    std::fprintf(out.stream, "%-8s:%s", event.class_label, event.event_label);
    if (event.class_ == _NTO_TRACE_SYSTEM &&
        (event.event == _NTO_TRACE_SYS_FUNC_ENTER || event.event == _NTO_TRACE_SYS_FUNC_EXIT)) {
        std::fprintf(out.stream, " thisfn:0x%08x call_site:0x%08x", event.words[0], event.words[1]);
        put_words(out, event, 2);
        return;
    }
    if (event.event_label[0] == '\0') {
        std::fprintf(out.stream, "EVENT:%u", _NTO_TRACE_GETEVENT(event.header));
    }
    put_words(out, event, 0);
}

using Form = void (*)(const Output& out, const traceparser_event& event);

Form form_of(unsigned event_class) {
    switch (event_class) {
    case _NTO_TRACE_CONTROL:
        return print_control;
    case _NTO_TRACE_THREAD:
    case _NTO_TRACE_VTHREAD:
        return print_thread;
    case _NTO_TRACE_PROCESS:
        return print_process;
    case _NTO_TRACE_INTENTER:
    case _NTO_TRACE_INTEXIT:
    case _NTO_TRACE_INT_HANDLER_ENTER:
    case _NTO_TRACE_INT_HANDLER_EXIT:
        return print_interrupt;
    case _NTO_TRACE_KERCALLENTER:
    case _NTO_TRACE_KERCALLEXIT:
    case _NTO_TRACE_KERCALLINT:
        return print_call;
    case _NTO_TRACE_USER:
        return print_user;
    case _NTO_TRACE_COMM:
        return print_message;
    default:
        return print_other;
    }
}

int print(traceparser_state* /*state*/, void* user, const traceparser_event* event) {
    const Output& out = *static_cast<const Output*>(user);
    const uint64_t clock = out.long_clock ? event->ticks : event->ticks & 0xFFFF'FFFF;
    std::fprintf(out.stream, "t:0x%0*llx CPU:%02u ", out.long_clock ? 16 : 8, static_cast<unsigned long long>(clock),
                 event->cpu);
    // Fewer than two data are those of an event whose end is missing.
    (event->word_count >= 2 ? form_of(event->class_) : print_other)(out, *event);
    std::fprintf(out.stream, "%s\n", kStates[event->state]);
    return 0;
}

// Prints the keys of the header that the trace has. It is called once, before the events.
int print_header(traceparser_state* state, void* user, unsigned /*header*/, unsigned /*time*/, unsigned* /*words*/,
                 unsigned /*n*/) {
    const Output& out = *static_cast<const Output*>(user);
    std::fputs("TRACEPRINTER version 1.02\nTRACEPARSER LIBRARY version 1.02\n -- HEADER FILE INFORMATION -- \n",
               out.stream);
    for (const char* const key :
         {"FILE_NAME", "DATE", "VER_MAJOR", "VER_MINOR", "LITTLE_ENDIAN", "BIG_ENDIAN", "MIDDLE_ENDIAN", "ENCODING",
          "BOOT_DATE", "CYCLES_PER_SEC", "CPU_NUM", "SYSNAME", "NODENAME", "SYS_RELEASE", "SYS_VERSION", "MACHINE",
          "SYSPAGE_LEN", "TRACELOGGER_ARGS"}) {
        if (const char* const value = traceparser_get_text(state, key); value != nullptr) {
            std::fprintf(out.stream, "%22s:: ", (std::string("TRACE_") + key).c_str());
            for (const char* at = value; *at != '\0' && *at != '\n'; ++at) { // a date ends its line itself
                std::fputc(*at >= ' ' && *at <= '~' ? *at : '.', out.stream);
            }
            std::fputc('\n', out.stream);
        }
    }
    std::fputs("\n -- KERNEL EVENTS -- \n", out.stream);
    return 0;
}

constexpr const char* kUsage =
    "usage: traceprinter [-n] [-l] [-s] [-v] [-f file] [-o file]\n"
    "  -f file  the trace: a .kev file, a trace or session directory of Remora; default and -: standard input\n"
    "  -o file  where the lines go; default: standard output\n"
    "  -n       arguments stay on the line of their event (this is the default; as published)\n"
    "  -a       arguments of kernel calls and processes on lines of their own (as published without -n)\n"
    "  -l       the whole 64-bit clock in t:\n"
    "  -s       in time order across processors, instead of as written\n"
    "  -v       all keys of the header and the size of the system page, on standard error\n";

struct Options {
    Output out;
    const char* input = "-";
    const char* output = nullptr;
    bool verbose = false;
    bool sorted = false;
};

// Returns the exit status, or a negative value to continue.
int parse(int argc, char** argv, Options& options) {
    for (int option = 0; (option = ::getopt(argc, argv, "f:o:nalsvh")) != -1;) {
        switch (option) {
        case 'f':
            options.input = optarg;
            break;
        case 'o':
            options.output = optarg;
            break;
        case 'n':
            options.out.argument_lines = false;
            break;
        case 'a':
            options.out.argument_lines = true;
            break;
        case 'l':
            options.out.long_clock = true;
            break;
        case 's':
            options.sorted = true;
            break;
        case 'v':
            options.verbose = true;
            break;
        default:
            std::fputs(kUsage, option == 'h' ? stdout : stderr);
            return option == 'h' ? 0 : 1;
        }
    }
    if (optind != argc) {
        std::fputs(kUsage, stderr);
        return 1;
    }
    return -1;
}

// Returns false if the output cannot be written, after printing the reason.
bool open_output(Options& options) {
    if (options.output == nullptr) {
        return true;
    }
    if (is_same_file(options.input, options.output)) {
        std::fprintf(stderr, "traceprinter: %s is the input: name another output\n", options.output);
        return false;
    }
    options.out.stream = std::fopen(options.output, "w");
    if (options.out.stream == nullptr) {
        std::perror(options.output);
    }
    return options.out.stream != nullptr;
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    if (const int status = parse(argc, argv, options); status >= 0) {
        return status;
    }
    traceparser_state* state = traceparser_init(nullptr);
    if (state == nullptr) {
        std::fputs("traceprinter: no memory\n", stderr);
        return 1;
    }
    if (!open_output(options)) {
        traceparser_destroy(&state);
        return 1;
    }
    traceparser_debug(state, stderr,
                      _TRACEPARSER_DEBUG_ERRORS |
                          (options.verbose ? _TRACEPARSER_DEBUG_HEADER | _TRACEPARSER_DEBUG_SYSPAGE : 0U));
    traceparser_sort(state, options.sorted ? _TRACEPARSER_SORT : _TRACEPARSER_NOSORT);
    traceparser_cs(state, &options.out, print_header, _NTO_TRACE_EMPTY, _NTO_TRACE_EMPTYEVENT);
    traceparser_on_every_event(state, &options.out, print);
    const bool parsed = traceparser(state, nullptr, options.input) == 0;
    const bool damaged = traceparser_damage(state) != 0;
    traceparser_destroy(&state);
    const bool written = std::ferror(options.out.stream) == 0 && std::fclose(options.out.stream) == 0;
    if (!written) {
        std::perror(options.output != nullptr ? options.output : "standard output");
    }
    return !parsed ? 3 : !written ? 4 : damaged ? 2 : 0;
}
