// SPDX-License-Identifier: MIT
// This doubly linked list has its links inside the elements: it allocates nothing and removes a known element in
// constant time. An element derives from ListLink<Tag>; the tag allows one object to be in several lists. Context: any,
// serialised by the caller.
//
//        head                                       each arrow is a pair (next, previous);
//   null <-> [a] <-> [b] <-> [c] <-> null           a link outside every list points at nothing
//                            tail
#pragma once

#include "lib/assert.hpp"

namespace lib {

template <typename Tag>
class ListLink {
  public:
    constexpr ListLink() = default;
    ListLink(const ListLink&) = delete;
    ListLink& operator=(const ListLink&) = delete;

    [[nodiscard]] constexpr bool linked() const { return m_linked; }

  private:
    template <typename T, typename OtherTag>
    friend class IntrusiveList;
    ListLink* m_next = nullptr;
    ListLink* m_previous = nullptr;
    bool m_linked = false;
};

template <typename T, typename Tag>
class IntrusiveList {
    using Link = ListLink<Tag>;

  public:
    constexpr IntrusiveList() = default;
    IntrusiveList(const IntrusiveList&) = delete;
    IntrusiveList& operator=(const IntrusiveList&) = delete;

    [[nodiscard]] constexpr bool empty() const { return m_head == nullptr; }

    // Returns the first element, or null.
    [[nodiscard]] constexpr T* front() const { return element(m_head); }

    // Returns the element after this one, or null.
    [[nodiscard]] constexpr T* next(const T& of) const { return element(static_cast<const Link&>(of).m_next); }

    // Appends an element. Precondition: it is in no list through this link.
    constexpr void push_back(T& value) {
        Link& link = value;
        ASSERT(!link.m_linked);
        link.m_linked = true;
        link.m_previous = m_tail;
        (m_tail != nullptr ? m_tail->m_next : m_head) = &link;
        m_tail = &link;
    }

    // Removes an element. Precondition: it is in this list.
    constexpr void remove(T& value) {
        Link& link = value;
        ASSERT(link.m_linked);
        (link.m_previous != nullptr ? link.m_previous->m_next : m_head) = link.m_next;
        (link.m_next != nullptr ? link.m_next->m_previous : m_tail) = link.m_previous;
        link.m_next = nullptr;
        link.m_previous = nullptr;
        link.m_linked = false;
    }

  private:
    static constexpr T* element(Link* link) { return static_cast<T*>(link); }

    Link* m_head = nullptr;
    Link* m_tail = nullptr;
};

} // namespace lib
