// SPDX-License-Identifier: MIT
// What happened to one job, from its release to its end, in few passages: pieces that follow each other are united, the
// shortest first, and neighbours with the same main culprit before others. Every tick stays in its culprit's portion.
//
//   pieces     |CC|k|HHHHHHHH|k|CC|v|CCCC|BBBBBBBBBBBBBBBB|CC|      k kernel   v handler
//   passages   | C |    H      |   C     |       B        |C |
#pragma once

#include "host/schedule/accounting.hpp"
#include "host/schedule/share.hpp"
#include "lib/units.hpp"

#include <cstddef>
#include <vector>

namespace host::analyse::why {

// What one culprit has of a passage.
struct Portion {
    schedule::Culprit culprit;
    lib::Ticks ticks{};
    schedule::Executor ended_by{}; // suspension: what ran when the wait ended
};

struct Passage {
    lib::Ticks begin{};
    lib::Ticks end{};
    schedule::RecordPlace place{}; // the record with which it begins
    std::vector<Portion> portions; // the greatest first

    [[nodiscard]] lib::Ticks length() const { return end - begin; }
};

class Story {
  public:
    // In time order.
    void add(const schedule::Piece& piece);

    // Unites passages until there are at most `most`, and none is shorter than a two-hundredth of the whole.
    void reduce(std::size_t most);

    [[nodiscard]] const std::vector<Passage>& passages() const { return m_passages; }

  private:
    static constexpr std::size_t kPassagesMax = 512; // more are reduced to half of it

    void unite(std::size_t first);

    std::vector<Passage> m_passages;
};

} // namespace host::analyse::why
