// SPDX-License-Identifier: MIT
// A call of a server or a store fails with a cause and a text for the user. At public interfaces, such as those of
// Store, Outlet, Source and Loader, the failure is a result. Inside of what implements them it is thrown, because
// nearly every line may fail there, and nothing but the caller of the interface can do anything about it.
#pragma once

#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <type_traits>
#include <utility>

namespace host::fleet {

// cause: unreachable: the server cannot be reached, and trying later may succeed; refused: it refuses the statement,
// these messages, or this user; corrupt: its answer cannot be read; too_small: a message is larger than the server
// allows (the text says what to change there); no_space; io.
using Failure = trace::Failure<lib::Error>;
using StoreFailure = Failure;
using NetworkFailure = Failure;

// Returns whether a server may do later what failed now.
[[nodiscard]] inline bool may_succeed_later(lib::Error cause) {
    return cause == lib::Error::unreachable || cause == lib::Error::timeout || cause == lib::Error::busy;
}

// Returns what the task returns, or the failure that it throws.
template <typename Task>
[[nodiscard]] lib::Result<std::invoke_result_t<Task>, Failure> caught(Task task) {
    try {
        if constexpr (std::is_void_v<std::invoke_result_t<Task>>) {
            task();
            return {};
        } else {
            return task();
        }
    } catch (Failure& failure) {
        return std::move(failure);
    }
}

// Returns the value, or throws the failure.
template <typename T>
T taken(lib::Result<T, Failure> result) {
    if (!result) {
        throw result.error();
    }
    if constexpr (!std::is_void_v<T>) {
        return std::move(result.value());
    }
}

} // namespace host::fleet
