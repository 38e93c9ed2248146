// SPDX-License-Identifier: MIT
// traceprinter prints the events of a trace, one line each, in the style of the published utility:
//
//   t:0x00001003 CPU:00 CONTROL :TIME msb:0x00000001 lsb(offset):0x00001000
//
// It uses only libtraceparser, so it may serve as a basis for other printers. Published options: -f file, -o file, -n,
// -v. Ours: -s (in time order), -l (the 64-bit clock instead of its low half).
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

void put_name(const Output& out, const char* name) {
    if (out.argument_lines) {
        std::fprintf(out.stream, "\n%26s:", name);
    } else {
        std::fprintf(out.stream, " %s:", name);
    }
}

void put_hexadecimal(const Output& out, const char* name, unsigned value) {
    put_name(out, name);
    std::fprintf(out.stream, "0x%08x", value);
}

void put_decimal(const Output& out, const char* name, unsigned value) {
    put_name(out, name);
    std::fprintf(out.stream, "%u", value);
}

// Prints the characters up to a zero byte; a character that is not printable becomes a dot.
void put_text(const Output& out, const char* name, const uint32_t* words, unsigned count) {
    put_name(out, name);
    for (unsigned i = 0; i < 4 * count; ++i) {
        const unsigned character = (words[i / 4] >> (8 * (i % 4))) & 0xFF;
        if (character == 0) {
            break;
        }
        std::fputc(character >= ' ' && character <= '~' ? static_cast<int>(character) : '.', out.stream);
    }
}

void put_words(const Output& out, const traceparser_event& event, unsigned from) {
    char name[16];
    for (unsigned i = from; i < event.word_count; ++i) {
        std::snprintf(name, sizeof name, "d%u", i);
        put_hexadecimal(out, name, event.words[i]);
    }
}

void put_pair(const Output& out, const traceparser_event& event, const char* first, const char* second) {
    put_decimal(out, first, event.words[0]);
    put_decimal(out, second, event.words[1]);
}

void put_arguments(const Output& out, const traceparser_event& event) {
    switch (event.class_) {
    case _NTO_TRACE_CONTROL:
        if (event.event == _NTO_TRACE_CONTROLTIME) {
            put_hexadecimal(out, "msb", event.words[0]);
            put_hexadecimal(out, "lsb(offset)", event.words[1]);
        } else {
            put_decimal(out, "sequence", event.words[0] & 0x7FF);
            put_decimal(out, "num_events", event.words[1]);
        }
        break;
    case _NTO_TRACE_THREAD:
    case _NTO_TRACE_VTHREAD:
        put_pair(out, event, "pid", "tid");
        put_words(out, event, 2);
        break;
    case _NTO_TRACE_PROCESS:
        if (event.event == _NTO_TRACE_PROCCREATE || event.event == _NTO_TRACE_PROCDESTROY) {
            put_pair(out, event, "ppid", "pid");
        } else {
            put_pair(out, event, event.event == _NTO_TRACE_PROCTHREAD_NAME ? "pid" : "ppid",
                     event.event == _NTO_TRACE_PROCTHREAD_NAME ? "tid" : "pid");
            put_text(out, "name", event.words + 2, event.word_count - 2);
        }
        break;
    case _NTO_TRACE_INTENTER:
    case _NTO_TRACE_INTEXIT:
    case _NTO_TRACE_INT_HANDLER_ENTER:
    case _NTO_TRACE_INT_HANDLER_EXIT:
        put_words(out, event, 1);
        break;
    default:
        put_words(out, event, 0);
    }
}

int print(traceparser_state* /*state*/, void* user, const traceparser_event* event) {
    const Output& out = *static_cast<const Output*>(user);
    const uint64_t clock = out.long_clock ? event->ticks : event->ticks & 0xFFFF'FFFF;
    std::fprintf(out.stream, "t:0x%0*llx CPU:%02u %-8s:", out.long_clock ? 16 : 8,
                 static_cast<unsigned long long>(clock), event->cpu, event->class_label);
    switch (event->class_) {
    case _NTO_TRACE_INTENTER:
    case _NTO_TRACE_INTEXIT:
    case _NTO_TRACE_INT_HANDLER_ENTER:
    case _NTO_TRACE_INT_HANDLER_EXIT:
        std::fprintf(out.stream, "0x%08x (%u)", event->event, event->event);
        break;
    case _NTO_TRACE_KERCALLENTER:
    case _NTO_TRACE_KERCALLEXIT:
    case _NTO_TRACE_KERCALLINT:
        std::fprintf(out.stream, "%u%s", event->event & ~_NTO_TRACE_KERCALL64,
                     (event->event & _NTO_TRACE_KERCALL64) != 0 ? "/64" : "");
        break;
    default:
        if (event->event_label[0] != '\0') {
            std::fputs(event->event_label, out.stream);
        } else {
            std::fprintf(out.stream, "EVENT:%u", _NTO_TRACE_GETEVENT(event->header));
        }
    }
    if (event->word_count >= 2) {
        put_arguments(out, *event);
    }
    std::fprintf(out.stream, "%s\n", kStates[event->state]);
    return 0;
}

constexpr const char* kUsage =
    "usage: traceprinter [-n] [-l] [-s] [-v] [-f file] [-o file]\n"
    "  -f file  the trace: a .kev file, a trace or session directory of Remora; default and -: standard input\n"
    "  -o file  where the lines go; default: standard output\n"
    "  -n       arguments stay on the line of their event (this is the default; as published)\n"
    "  -a       each argument on a line of its own (what the published utility does without -n)\n"
    "  -l       the whole 64-bit clock in t:\n"
    "  -s       in time order across processors, instead of as written\n"
    "  -v       the header and what is wrong with the trace, on standard error\n";

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
