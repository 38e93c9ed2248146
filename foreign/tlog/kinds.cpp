// SPDX-License-Identifier: MIT
#include "foreign/tlog/kinds.hpp"

#include <array>

namespace host::formats::tlog {

namespace {

constexpr auto kPairKinds = std::to_array<Kind>({
    {Role::enter, "EVENT_1_IN"},   {Role::leave, "EVENT_1_OUT"},  {Role::enter, "EVENT_2_IN"},
    {Role::leave, "EVENT_2_OUT"},  {Role::enter, "EVENT_3_IN"},   {Role::leave, "EVENT_3_OUT"},
    {Role::enter, "EVENT_4_IN"},   {Role::leave, "EVENT_4_OUT"},  {Role::enter, "EVENT_5_IN"},
    {Role::leave, "EVENT_5_OUT"},  {Role::enter, "EVENT_6_IN"},   {Role::leave, "EVENT_6_OUT"},
    {Role::enter, "EVENT_7_IN"},   {Role::leave, "EVENT_7_OUT"},  {Role::enter, "EVENT_8_IN"},
    {Role::leave, "EVENT_8_OUT"},  {Role::enter, "EVENT_9_IN"},   {Role::leave, "EVENT_9_OUT"},
    {Role::enter, "EVENT_10_IN"},  {Role::leave, "EVENT_10_OUT"}, {Role::enter, "EVENT_11_IN"},
    {Role::leave, "EVENT_11_OUT"}, {Role::enter, "EVENT_12_IN"},  {Role::leave, "EVENT_12_OUT"},
    {Role::enter, "EVENT_13_IN"},  {Role::leave, "EVENT_13_OUT"}, {Role::enter, "EVENT_14_IN"},
    {Role::leave, "EVENT_14_OUT"}, {Role::enter, "EVENT_15_IN"},  {Role::leave, "EVENT_15_OUT"},
});

constexpr auto kSingleNames = std::to_array<std::string_view>(
    {"EVENT_1", "EVENT_2", "EVENT_3", "EVENT_4", "EVENT_5", "EVENT_6", "EVENT_7", "EVENT_8", "EVENT_9"});

constexpr auto kOpenmpKinds = std::to_array<Kind>({
    {Role::undefined, "UNDEF"},
    {Role::end, "END"},
    {Role::start, "START"},
    {Role::single, "RAW"},
    {Role::single, "EVENT"},
    {Role::enter, "EVENT_IN"},
    {Role::leave, "EVENT_OUT"},
    {Role::enter, "FUNC_IN"},
    {Role::leave, "FUNC_OUT"},
    {Role::enter, "BARRIER_IN"},
    {Role::leave, "BARRIER_OUT"},
    {Role::enter, "PARALLEL_IN"},
    {Role::leave, "PARALLEL_OUT"},
    {Role::enter, "CRITICAL_IN"},
    {Role::leave, "CRITICAL_OUT"},
    {Role::single, "LOOP_INIT_EVENT"},
    {Role::single, "LOOP_NEXT_EVENT"},
    {Role::single, "SECTION_EVENT"},
    {Role::single, "SINGLE_EVENT"},
});

} // namespace

Kind kind_of(Table table, std::uint8_t type) {
    if (table == Table::openmp) {
        return type < kOpenmpKinds.size() ? kOpenmpKinds[type] : Kind{};
    }
    if (type == kUndefined) {
        return {Role::undefined, "UNDEF"};
    }
    if (type == kStart) {
        return {Role::start, "START"};
    }
    if (type == kEnd) {
        return {Role::end, "END"};
    }
    if (table == Table::nine_pairs && type >= kFirstSingle && type < kFirstSingle + kSingleNames.size()) {
        return {Role::single, kSingleNames[type - kFirstSingle]};
    }
    const std::size_t pairs = table == Table::nine_pairs ? kPairs : kPairKinds.size() / 2;
    if (type >= kFirstPair && type < kFirstPair + 2 * pairs) {
        return kPairKinds[type - kFirstPair];
    }
    return {};
}

} // namespace host::formats::tlog
