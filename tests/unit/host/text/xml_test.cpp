// SPDX-License-Identifier: MIT
// Tests text that a reader of XML 1.0 accepts; tests/viewers/junit.py has readers.
#include "host/text/escape.hpp"

#include <gtest/gtest.h>

namespace host::text {

namespace {

TEST(Xml, WritesMarkupAsReferences) {
    EXPECT_EQ(xml_escaped("a <b> & \"c\" 'd' ]]>"), "a &lt;b&gt; &amp; &quot;c&quot; 'd' ]]&gt;");
}

// XML 1.0, section 2.2: a document that holds one of these is none.
TEST(Xml, WritesWhatIsNoCharacterInHexadecimal) {
    EXPECT_EQ(xml_escaped(std::string_view("\0\x01\t\r\x1B", 5)), "\\x00\\x01\\x09\\x0d\\x1b");
    EXPECT_EQ(xml_escaped("\xFF\xC0\x80"), "\\xff\\xc0\\x80") << "no UTF-8";
    EXPECT_EQ(xml_escaped("\xED\xA0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
    EXPECT_EQ(xml_escaped("\xEF\xBF\xBE\xEF\xBF\xBF"), "\\xef\\xbf\\xbe\\xef\\xbf\\xbf") << "U+FFFE, U+FFFF";
    EXPECT_EQ(xml_escaped("\xEF\xBF\xBD\xC3\xA9"), "\xEF\xBF\xBD\xC3\xA9");
}

TEST(Xml, KeepsLineBreaks) {
    EXPECT_EQ(xml_escaped("a\n\nb\n"), "a\n\nb\n");
    EXPECT_EQ(xml_escaped(""), "");
}

} // namespace

} // namespace host::text
