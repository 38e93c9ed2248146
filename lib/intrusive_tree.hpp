// SPDX-License-Identifier: MIT
// This ordered set has its links inside the elements: insertion, removal of a known element and the step to the next
// one are O(log n), and access to the first element is O(1). An element that becomes the first is compared with one
// other alone, and heights are corrected only as far as they change: a task that preempts is such an element. Equal
// elements keep their order of insertion, as a scheduler requires for ties. The tree is height-balanced. Context: any,
// serialised by the caller.
//
// An element derives from TreeLink<Tag>; the tag allows one object to be in several trees.
//
//                5              parent, left, right, height in every link; m_first = 2
//            +---+---+          balance: the heights of two siblings differ by one at most
//            3       8
//        +---+---+
//        2       3'             equal keys: the later one to the right
// Source: Adelson-Velsky, Landis, "An algorithm for the organization of information" (1962).
#pragma once

#include "lib/assert.hpp"

#include <cstdint>

namespace lib {

template <typename Tag>
class TreeLink {
  public:
    constexpr TreeLink() = default;
    TreeLink(const TreeLink&) = delete;
    TreeLink& operator=(const TreeLink&) = delete;

    [[nodiscard]] constexpr bool linked() const { return m_height != 0; }

  private:
    template <typename T, typename OtherTag, typename Before>
    friend class IntrusiveTree;
    TreeLink* m_parent = nullptr;
    TreeLink* m_left = nullptr;
    TreeLink* m_right = nullptr;
    std::uint8_t m_height = 0; // 0: it is in no tree
};

// Before{}(a, b) returns whether a precedes b. That must not change while they are in the tree.
template <typename T, typename Tag, typename Before>
class IntrusiveTree {
    using Link = TreeLink<Tag>;

  public:
    constexpr IntrusiveTree() = default;
    IntrusiveTree(const IntrusiveTree&) = delete;
    IntrusiveTree& operator=(const IntrusiveTree&) = delete;

    [[nodiscard]] constexpr bool empty() const { return m_root == nullptr; }

    // Returns the first element, or null. O(1).
    [[nodiscard]] constexpr T* first() const { return element(m_first); }

    // Returns the element after this one, or null.
    [[nodiscard]] constexpr T* next(const T& of) const {
        Link* link = static_cast<const Link&>(of).m_right;
        if (link != nullptr) {
            return element(leftmost(link));
        }
        const Link* below = &static_cast<const Link&>(of);
        link = below->m_parent;
        while (link != nullptr && link->m_right == below) {
            below = link;
            link = link->m_parent;
        }
        return element(link);
    }

    // Returns the first element of which past(element) is true, or null. Precondition: it is true of all elements after
    // one of which it is true. O(log n).
    template <typename Past>
    [[nodiscard]] constexpr T* first_past(Past past) const {
        Link* found = nullptr;
        for (Link* link = m_root; link != nullptr;) {
            const bool is_past = past(static_cast<const T&>(*element(link)));
            found = is_past ? link : found;
            link = is_past ? link->m_left : link->m_right;
        }
        return element(found);
    }

    // Inserts an element. Precondition: it is in no tree of this tag.
    constexpr void insert(T& value) {
        Link& link = value;
        ASSERT(!kChecked || !link.linked());
        Link* parent = m_first;
        Link** place = &m_root;
        if (parent == nullptr) {
            m_first = &link;
        } else if (Before{}(value, *element(parent))) {
            m_first = &link;
            place = &parent->m_left;
        } else {
            while (*place != nullptr) {
                parent = *place;
                place = Before{}(value, *element(parent)) ? &parent->m_left : &parent->m_right;
            }
        }
        link.m_parent = parent;
        link.m_left = nullptr;
        link.m_right = nullptr;
        link.m_height = 1;
        *place = &link;
        grown(&link);
    }

    // Removes an element. Precondition: it is in this tree.
    constexpr void remove(T& value) {
        Link& link = value;
        ASSERT(!kChecked || link.linked());
        if (m_first != &link || link.m_right != nullptr) {
            remove_inner(link);
            return;
        }
        link.m_height = 0; // it was the first, and nothing is below it
        m_first = link.m_parent;
        if (m_first == nullptr) {
            m_root = nullptr;
        } else {
            m_first->m_left = nullptr;
            shrunk(m_first);
        }
    }

  private:
    static constexpr T* element(Link* link) { return static_cast<T*>(link); }

    static constexpr int height(const Link* link) { return link != nullptr ? link->m_height : 0; }

    static constexpr Link* leftmost(Link* link) {
        while (link->m_left != nullptr) {
            link = link->m_left;
        }
        return link;
    }

    static constexpr void update_height(Link& link) {
        const int left = height(link.m_left);
        const int right = height(link.m_right);
        link.m_height = static_cast<std::uint8_t>((left > right ? left : right) + 1);
    }

    [[gnu::noinline]] constexpr void remove_inner(Link& link) {
        if (m_first == &link) {
            m_first = link.m_right; // it has nothing below it, because nothing is left of the first
        }
        Link* lowest = nullptr; // the lowest link whose height may have changed
        if (link.m_left != nullptr && link.m_right != nullptr) {
            lowest = replace_by_successor(link);
        } else {
            lowest = link.m_parent;
            Link* const child = link.m_left != nullptr ? link.m_left : link.m_right;
            replace(link, child);
        }
        link.m_height = 0;
        if (lowest != nullptr) {
            shrunk(lowest);
        }
    }

    // Replaces `link` in its parent by `other` (or nothing).
    constexpr void replace(Link& link, Link* other) {
        Link* const parent = link.m_parent;
        if (parent == nullptr) {
            m_root = other;
        } else if (parent->m_left == &link) {
            parent->m_left = other;
        } else {
            parent->m_right = other;
        }
        if (other != nullptr) {
            other->m_parent = parent;
        }
    }

    // Replaces `link` by the smallest element of its right side; returns the lowest link whose height may have changed.
    constexpr Link* replace_by_successor(Link& link) {
        Link& successor = *leftmost(link.m_right);
        Link* lowest = &successor;
        if (successor.m_parent != &link) {
            lowest = successor.m_parent;
            replace(successor, successor.m_right);
            successor.m_right = link.m_right;
            successor.m_right->m_parent = &successor;
        }
        successor.m_left = link.m_left;
        successor.m_left->m_parent = &successor;
        successor.m_height = link.m_height;
        replace(link, &successor);
        return lowest;
    }

    // Rotates to the left; returns the link that takes the place of `link`.
    constexpr Link* rotate_left(Link& link) {
        Link& up = *link.m_right;
        replace(link, &up);
        link.m_right = up.m_left;
        if (link.m_right != nullptr) {
            link.m_right->m_parent = &link;
        }
        up.m_left = &link;
        link.m_parent = &up;
        update_height(link);
        update_height(up);
        return &up;
    }

    constexpr Link* rotate_right(Link& link) {
        Link& up = *link.m_left;
        replace(link, &up);
        link.m_left = up.m_right;
        if (link.m_left != nullptr) {
            link.m_left->m_parent = &link;
        }
        up.m_right = &link;
        link.m_parent = &up;
        update_height(link);
        update_height(up);
        return &up;
    }

    // Restores the balance of a link whose sides differ by two in height; returns the link that takes its place.
    [[gnu::noinline]] constexpr Link* rebalance(Link& link) {
        if (height(link.m_left) > height(link.m_right)) {
            if (height(link.m_left->m_left) < height(link.m_left->m_right)) {
                rotate_left(*link.m_left);
            }
            return rotate_right(link);
        }
        if (height(link.m_right->m_right) < height(link.m_right->m_left)) {
            rotate_right(*link.m_right);
        }
        return rotate_left(link);
    }

    // Corrects the heights above a subtree that has become higher by one, while each makes the one above it higher.
    constexpr void grown(Link* link) {
        for (Link* up = link->m_parent; up != nullptr && up->m_height == link->m_height; up = link->m_parent) {
            if (height(up->m_left == link ? up->m_right : up->m_left) + 1 < link->m_height) {
                rebalance(*up);
                return;
            }
            up->m_height = static_cast<std::uint8_t>(link->m_height + 1);
            link = up;
        }
    }

    // Corrects the heights from a link upwards, a side of which may have become lower by one, until a subtree is as
    // high as it was.
    [[gnu::noinline]] constexpr void shrunk(Link* link) {
        while (link != nullptr) {
            Link* const up = link->m_parent;
            const std::uint8_t before = link->m_height;
            const int balance = height(link->m_left) - height(link->m_right);
            if (balance > 1 || balance < -1) {
                link = rebalance(*link);
            } else {
                update_height(*link);
            }
            if (link->m_height == before) {
                return;
            }
            link = up;
        }
    }

    Link* m_root = nullptr;
    Link* m_first = nullptr;
};

} // namespace lib
