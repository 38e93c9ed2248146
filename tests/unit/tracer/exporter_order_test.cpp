// SPDX-License-Identifier: MIT
// Tests what an exporter does once for all sinks and what it does for one after the other, and which declarations an
// image contains.
#include "tests/support/tracer/exporting.hpp"
#include "tracer/typed_event.hpp"

namespace exporter_order_test {

using tests::FakeSink;
using tracer::EventDeclaration;
using tracer::SinkTime;
using tracer::StepResult;

class ExporterOrder : public tests::Exporting {
  protected:
    static consteval tracer::EncodedDeclaration named(std::string_view name) {
        EventDeclaration declaration;
        declaration.name = name;
        return tracer::detail::encode_declaration(declaration);
    }

    FakeSink m_first;
    FakeSink m_second;
};

TEST_F(ExporterOrder, DeclaresInAnImageWhatWasDeclaredBeforeTheRequest) {
    ASSERT_TRUE(exporter().attach(m_first, SinkTime::at_once).ok());
    EXPECT_EQ(m_fixture.names().declare(named("valve")), 0U);
    EXPECT_EQ(m_fixture.names().declare(named("door")), 1U);
    ASSERT_TRUE(exporter().request(filled(4, 1), 0).ok());
    EXPECT_EQ(m_fixture.names().declare(named("late")), 2U);
    drain();
    const auto records = tests::records_in(m_first.chunks.at(0));
    std::vector<std::string> declared;
    for (const std::size_t place : tests::places_of(records, tracer::event_code(EventDeclaration::kEvent))) {
        const auto declaration = tests::payload_at<EventDeclaration>(records, place);
        declared.push_back(std::to_string(declaration.id) + ' ' + std::string(declaration.name.view()));
    }
    EXPECT_EQ(declared, (std::vector<std::string>{"0 valve", "1 door"}));
}

// The sink for which the names were fixed has failed, so nothing was carried with them.
TEST_F(ExporterOrder, DeclaresForAnotherSinkWhatWasDeclaredBeforeItsRequest) {
    m_first.fail_at_chunk = 0;
    ASSERT_TRUE(exporter().attach(m_first, SinkTime::at_once).ok());
    tracer::Chunk& chunk = filled(4, 1);
    ASSERT_TRUE(exporter().request(chunk, 0).ok());
    drain();
    ASSERT_TRUE(exporter().report(0).failed);
    EXPECT_EQ(m_fixture.names().declare(named("late")), 0U);
    ASSERT_TRUE(exporter().attach(m_second, SinkTime::at_once).ok());
    tracer::Chunk& later = filled(4, 1);
    ASSERT_TRUE(exporter().request(later, 0).ok());
    ASSERT_TRUE(exporter().request(chunk, 0).ok());
    drain();
    ASSERT_EQ(m_second.chunks.size(), 2U);
    for (const std::size_t at : {0U, 1U}) {
        const auto records = tests::records_in(m_second.chunks[at]);
        EXPECT_EQ(tests::payload_at<tracer::ChunkBegin>(records, 0).chunk, at == 0 ? later.number : chunk.number)
            << "a request takes its place when it is made, also the second one";
        EXPECT_EQ(tests::places_of(records, tracer::event_code(EventDeclaration::kEvent)).size(), 1U) << at;
    }
}

TEST_F(ExporterOrder, ServesTheSinksInTheOrderInWhichTheyWereAttached) {
    m_first.called = "first";
    m_second.called = "second";
    std::vector<std::string> order;
    for (FakeSink* const sink : {&m_first, &m_second}) {
        sink->on_step = [&order, sink] { order.emplace_back(sink->called); };
        ASSERT_TRUE(exporter().attach(*sink, SinkTime::at_once).ok());
    }
    ASSERT_TRUE(exporter().request(filled(4, 1), 0).ok());
    ASSERT_TRUE(exporter().request(filled(4, 1), 0).ok());
    drain();
    EXPECT_EQ(order, (std::vector<std::string>{"first", "second", "first", "second"}));
}

// A checksum of a chunk of many pieces takes as many steps: the second sink needs none of them.
TEST_F(ExporterOrder, SealsAChunkForTheFirstSinkAlone) {
    ASSERT_TRUE(exporter().attach(m_first, SinkTime::at_once).ok());
    ASSERT_TRUE(exporter().attach(m_second, SinkTime::at_once).ok());
    constexpr std::size_t kRecords = 8 * tracer::Exporter::kSealBytesPerStep / tracer::kRecordBytes;
    ASSERT_TRUE(exporter().request(filled(kRecords, kRecords), 0).ok());
    std::size_t steps_of_first = 0;
    for (; m_first.chunks.empty(); ++steps_of_first) {
        ASSERT_EQ(exporter().step(), StepResult::more);
    }
    std::size_t steps_of_second = 0;
    for (; m_second.chunks.empty(); ++steps_of_second) {
        ASSERT_EQ(exporter().step(), StepResult::more);
    }
    EXPECT_GT(steps_of_first, 8U);
    EXPECT_LE(steps_of_second, 2U);
}

} // namespace exporter_order_test
