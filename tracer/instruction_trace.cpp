// SPDX-License-Identifier: MIT
#include "tracer/instruction_trace.hpp"

#include "tracer/log.hpp"

namespace tracer {

void InstructionTrace::put(Contexts& contexts, std::uint16_t context, bool in) {
    const std::uint64_t bit = std::uint64_t{1} << (context % 64);
    std::uint64_t& word = contexts[context / 64];
    word = in ? word | bit : word & ~bit;
}

bool InstructionTrace::add(std::uint16_t context, Grain grain) {
    if (is_in(m_traced, context)) {
        return false;
    }
    put(m_traced, context, true);
    put(m_in_blocks, context, grain == Grain::blocks);
    ++m_wanted;
    log<"instruction_trace_begin">(context, static_cast<std::uint32_t>(grain));
    return true;
}

bool InstructionTrace::remove(std::uint16_t context) {
    if (!is_in(m_traced, context)) {
        return false;
    }
    put(m_traced, context, false);
    --m_wanted;
    if (context == m_context) {
        m_address = kNowhere;
    }
    log<"instruction_trace_end">(context, static_cast<std::uint32_t>(m_steps));
    return true;
}

void InstructionTrace::set_range(std::uint64_t begin, std::uint64_t end) {
    m_begin = begin;
    m_end = begin == 0 && end == 0 ? kNowhere : end;
}

Flow InstructionTrace::flow_to(std::uint16_t context, std::uint64_t address) const {
    if (context != m_context || m_address == kNowhere) {
        return Flow::resumed;
    }
    return flow_of({m_hooks.code(m_address), kInstructionBytesMax}, m_address, address);
}

bool InstructionTrace::step(std::uint16_t context, std::uint64_t address) {
    if (!wants(context)) {
        return false;
    }
    ++m_steps;
    const bool again =
        context == m_context && address == m_address && is_repeated({m_hooks.code(address), kInstructionBytesMax});
    if (again) {
        return true; // still the same instruction, at its next item
    }
    const Flow flow = flow_to(context, address);
    if (flow == Flow::resumed) {
        m_in_block = 0;
    }
    m_context = context;
    m_address = address;
    if (passes(address)) {
        record(context, address, flow);
    }
    return true;
}

void InstructionTrace::record(std::uint16_t context, std::uint64_t address, Flow flow) {
    const auto low = static_cast<std::uint32_t>(address);
    if (!is_in(m_in_blocks, context)) {
        log<"instruction">(static_cast<std::uint16_t>(flow), low);
        return;
    }
    if (flow != Flow::next || m_in_block == kBlockInstructionsMax) {
        log<"block">(static_cast<std::uint16_t>(static_cast<unsigned>(flow) << kBlockFlowShift | m_in_block), low);
        m_in_block = 0;
    }
    ++m_in_block;
}

} // namespace tracer
