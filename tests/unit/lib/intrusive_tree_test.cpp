// SPDX-License-Identifier: MIT
// Tests the tree against a sorted vector over random insertions and removals, and its height against the bound.
#include "lib/intrusive_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace {

struct SomeTag {};

struct Item : lib::TreeLink<SomeTag> {
    int key = 0;
    int number = 0;
};

struct Before {
    bool operator()(const Item& a, const Item& b) const { return a.key < b.key; }
};

using Tree = lib::IntrusiveTree<Item, SomeTag, Before>;

std::vector<int> numbers(const Tree& tree) {
    std::vector<int> found;
    for (const Item* item = tree.first(); item != nullptr; item = tree.next(*item)) {
        found.push_back(item->number);
    }
    return found;
}

TEST(IntrusiveTree, IsEmptyAtFirstAndAfterTheLastRemoval) {
    Tree tree;
    Item only;
    EXPECT_TRUE(tree.empty());
    EXPECT_EQ(tree.first(), nullptr);
    tree.insert(only);
    EXPECT_TRUE(only.linked());
    EXPECT_EQ(tree.first(), &only);
    EXPECT_EQ(tree.next(only), nullptr);
    tree.remove(only);
    EXPECT_FALSE(only.linked());
    EXPECT_TRUE(tree.empty());
    EXPECT_EQ(tree.first(), nullptr);
}

TEST(IntrusiveTree, KeepsEqualElementsInTheOrderInWhichTheyCame) {
    Tree tree;
    std::array<Item, 9> items;
    for (int i = 0; i < 9; ++i) {
        items[static_cast<std::size_t>(i)].key = i % 3;
        items[static_cast<std::size_t>(i)].number = i;
        tree.insert(items[static_cast<std::size_t>(i)]);
    }
    EXPECT_EQ(numbers(tree), (std::vector<int>{0, 3, 6, 1, 4, 7, 2, 5, 8}));
}

TEST(IntrusiveTree, AReinsertedElementFollowsItsEquals) {
    Tree tree;
    std::array<Item, 3> items;
    for (int i = 0; i < 3; ++i) {
        items[static_cast<std::size_t>(i)].number = i;
        tree.insert(items[static_cast<std::size_t>(i)]);
    }
    tree.remove(items[0]);
    tree.insert(items[0]);
    EXPECT_EQ(numbers(tree), (std::vector<int>{1, 2, 0}));
}

TEST(IntrusiveTree, AgreesWithAStableSortOverRandomHistories) {
    std::mt19937 random(7);
    Tree tree;
    std::vector<Item> items(200);
    std::vector<int> model; // numbers in order
    for (int i = 0; i < 200; ++i) {
        items[static_cast<std::size_t>(i)].number = i;
    }
    const auto key_of = [&](int number) { return items[static_cast<std::size_t>(number)].key; };
    for (int step = 0; step < 20'000; ++step) {
        const auto pick = random() % items.size();
        Item& item = items[pick];
        if (item.linked()) {
            tree.remove(item);
            std::erase(model, item.number);
        } else {
            item.key = static_cast<int>(random() % 50);
            tree.insert(item);
            const auto place = std::upper_bound(model.begin(), model.end(), item.number,
                                                [&](int a, int b) { return key_of(a) < key_of(b); });
            model.insert(place, item.number);
        }
        ASSERT_EQ(tree.empty(), model.empty());
        if (step % 16 == 0) {
            ASSERT_EQ(numbers(tree), model) << "step " << step;
        }
    }
    EXPECT_EQ(numbers(tree), model);
}

TEST(IntrusiveTree, FindsTheFirstElementPastAKey) {
    Tree tree;
    EXPECT_EQ(tree.first_past([](const Item&) { return true; }), nullptr);
    std::vector<Item> items(64);
    for (int i = 0; i < 64; ++i) {
        items[static_cast<std::size_t>(i)].key = 2 * (i / 2); // two of each: 0, 0, 2, 2, ...
        items[static_cast<std::size_t>(i)].number = i;
        tree.insert(items[static_cast<std::size_t>(i)]);
    }
    for (int key = 0; key <= 62; ++key) {
        const Item* const found = tree.first_past([key](const Item& item) { return item.key >= key; });
        ASSERT_NE(found, nullptr);
        EXPECT_EQ(found->number, key + key % 2) << key;
    }
    EXPECT_EQ(tree.first_past([](const Item& item) { return item.key >= 63; }), nullptr);
}

struct Counting : lib::TreeLink<SomeTag> {
    std::size_t key = 0;
};

std::size_t s_comparisons = 0;

struct CountedBefore {
    bool operator()(const Counting& a, const Counting& b) const {
        ++s_comparisons;
        return a.key < b.key;
    }
};

using CountedTree = lib::IntrusiveTree<Counting, SomeTag, CountedBefore>;

std::size_t comparisons_to_insert(CountedTree& tree, Counting& item) {
    s_comparisons = 0;
    tree.insert(item);
    return s_comparisons;
}

// 1.4405 log2(n + 2): the bound of Adelson-Velsky and Landis on the height; one more is with the first element.
double most_comparisons(std::size_t before) {
    return 1.4405 * std::log2(static_cast<double>(before) + 2.0) + 1.0;
}

TEST(IntrusiveTree, NeverNeedsMoreComparisonsThanItsHeightBound) {
    // Ascending keys are the worst case of a plain tree.
    constexpr std::size_t kCount = 1'000;
    std::vector<Counting> items(kCount);
    CountedTree tree;
    for (std::size_t i = 0; i < kCount; ++i) {
        items[i].key = i;
        EXPECT_LE(static_cast<double>(comparisons_to_insert(tree, items[i])), most_comparisons(i)) << i;
    }
    for (std::size_t i = 0; i < kCount; i += 2) {
        tree.remove(items[i]);
    }
    for (std::size_t i = 0; i < kCount; i += 2) {
        const std::size_t before = kCount / 2 + i / 2;
        EXPECT_LE(static_cast<double>(comparisons_to_insert(tree, items[i])), most_comparisons(before)) << i;
    }
}

TEST(IntrusiveTree, StaysBalancedOverRandomHistories) {
    constexpr std::size_t kCount = 600;
    std::mt19937 random(11);
    std::vector<Counting> items(kCount);
    CountedTree tree;
    std::size_t in_tree = 0;
    for (int step = 0; step < 100'000; ++step) {
        // Waves: it fills, and is emptied but for a few, which must not stay as deep as they were.
        const bool filling = step / 2'000 % 2 == 0;
        Counting& item = items[random() % kCount];
        if (item.linked()) {
            if (!filling || random() % 8 == 0) {
                tree.remove(item);
                --in_tree;
            }
        } else if (filling || random() % 32 == 0) {
            item.key = random() % 1'000;
            ASSERT_LE(static_cast<double>(comparisons_to_insert(tree, item)), most_comparisons(in_tree++)) << step;
        }
    }
}

TEST(IntrusiveTree, ComparesTheNextFirstElementOnce) {
    std::vector<Counting> items(100);
    CountedTree tree;
    for (std::size_t i = 0; i < items.size(); ++i) {
        items[i].key = items.size() - i;
        EXPECT_EQ(comparisons_to_insert(tree, items[i]), i == 0 ? 0U : 1U) << i;
    }
}

} // namespace
