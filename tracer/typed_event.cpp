// SPDX-License-Identifier: MIT
#include "tracer/typed_event.hpp"

#include "tracer/instance.hpp"

namespace tracer::detail {

std::uint16_t declare_event(const EncodedDeclaration& declaration) {
    return instance().names.declare(declaration);
}

} // namespace tracer::detail
