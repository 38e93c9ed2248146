// SPDX-License-Identifier: MIT
// Names the NE2000's 32 ports: sixteen registers of its DP8390D controller in three pages (selected by CR), the data
// port of the remote DMA, and the reset port. The names are those of the data sheet. Source: National Semiconductor
// DP8390D/NS32490D data sheet, section 10 (registers); the two upper ports belong to the NE2000 board, and to the
// compatible RTL8029.
#pragma once

#include <cstdint>

namespace drivers::ne2000 {

// --- board --------------------------------------------------------------------------------------------------------
inline constexpr std::uint16_t kPorts = 0x20;
inline constexpr std::uint8_t kDataPort = 0x10;  // remote DMA, of the width in DCR
inline constexpr std::uint8_t kResetPort = 0x1F; // reading and writing back resets the controller

// --- all pages ----------------------------------------------------------------------------------------------------
inline constexpr std::uint8_t kRegCR = 0x00; // command
inline constexpr std::uint8_t kCrSTP = 0x01; // stop: software reset
inline constexpr std::uint8_t kCrSTA = 0x02; // start
inline constexpr std::uint8_t kCrTXP = 0x04; // transmit packet; clears itself, writing 0 has no effect
inline constexpr std::uint8_t kCrRemoteRead = 0x08;
inline constexpr std::uint8_t kCrRemoteWrite = 0x10;
inline constexpr std::uint8_t kCrRD2 = 0x20; // abort or complete remote DMA: the resting state
inline constexpr std::uint8_t kCrPage1 = 0x40;

// --- page 0 -------------------------------------------------------------------------------------------------------
inline constexpr std::uint8_t kRegPSTART = 0x01; // write: first page of the receive ring
inline constexpr std::uint8_t kRegPSTOP = 0x02;  // write: page after the ring
inline constexpr std::uint8_t kRegBNRY = 0x03;   // page the receiver must not enter
inline constexpr std::uint8_t kRegTPSR = 0x04;   // write: first page of the frame to send
inline constexpr std::uint8_t kRegTSR = 0x04;    // read: status of the last transmission
inline constexpr std::uint8_t kTsrPTX = 0x01;
inline constexpr std::uint8_t kTsrABT = 0x08; // given up after sixteen collisions
inline constexpr std::uint8_t kTsrFU = 0x20;  // FIFO underrun
inline constexpr std::uint8_t kRegTBCR0 = 0x05;
inline constexpr std::uint8_t kRegTBCR1 = 0x06;
inline constexpr std::uint8_t kRegISR = 0x07; // interrupt status; writing a one clears the bit
inline constexpr std::uint8_t kIsrPRX = 0x01;
inline constexpr std::uint8_t kIsrPTX = 0x02;
inline constexpr std::uint8_t kIsrRXE = 0x04;
inline constexpr std::uint8_t kIsrTXE = 0x08;
inline constexpr std::uint8_t kIsrOVW = 0x10; // the ring is full and the receiver has stopped
inline constexpr std::uint8_t kIsrCNT = 0x20; // a tally counter is half full
inline constexpr std::uint8_t kIsrRDC = 0x40; // remote DMA complete
inline constexpr std::uint8_t kIsrRST = 0x80; // stopped; cleared by START, not by writing
inline constexpr std::uint8_t kRegRSAR0 = 0x08;
inline constexpr std::uint8_t kRegRSAR1 = 0x09;
inline constexpr std::uint8_t kRegRBCR0 = 0x0A;
inline constexpr std::uint8_t kRegRBCR1 = 0x0B;
inline constexpr std::uint8_t kRegRCR = 0x0C;   // write: receive configuration
inline constexpr std::uint8_t kRcrAB = 0x04;    // accept broadcast
inline constexpr std::uint8_t kRcrMON = 0x20;   // monitor: store nothing
inline constexpr std::uint8_t kRegTCR = 0x0D;   // write: transmit configuration
inline constexpr std::uint8_t kTcrLoop1 = 0x02; // internal loopback, "mode 1"
inline constexpr std::uint8_t kTcrLoopMask = 0x06;
inline constexpr std::uint8_t kRegCNTR0 = 0x0D; // read, clears: frame alignment errors
inline constexpr std::uint8_t kRegDCR = 0x0E;   // write: data configuration
inline constexpr std::uint8_t kDcrWTS = 0x01;   // words instead of bytes at the data port
inline constexpr std::uint8_t kDcrLS = 0x08;    // normal operation (0: loopback)
inline constexpr std::uint8_t kDcrFT1 = 0x40;   // FIFO threshold 8 bytes
inline constexpr std::uint8_t kRegCNTR1 = 0x0E; // read, clears: CRC errors
inline constexpr std::uint8_t kRegIMR = 0x0F;   // write: interrupt mask, bits as in ISR
inline constexpr std::uint8_t kRegCNTR2 = 0x0F; // read, clears: missed frames

// --- page 1 -------------------------------------------------------------------------------------------------------
inline constexpr std::uint8_t kRegPAR0 = 0x01; // six bytes: our address
inline constexpr std::uint8_t kRegCURR = 0x07; // page the receiver writes next
inline constexpr std::uint8_t kRegMAR0 = 0x08; // eight bytes: multicast hash

// --- status byte of a received frame (same bits as RSR) ------------------------------------------------------------
inline constexpr std::uint8_t kRsrPRX = 0x01;
inline constexpr std::uint8_t kRsrCRC = 0x02;
inline constexpr std::uint8_t kRsrFAE = 0x04;
inline constexpr std::uint8_t kRsrFO = 0x08;
inline constexpr std::uint8_t kRsrMPA = 0x10;
inline constexpr std::uint8_t kRsrErrors = kRsrCRC | kRsrFAE | kRsrFO | kRsrMPA;

// --- the command bytes in use --------------------------------------------------------------------------------------
inline constexpr std::uint8_t kCommandStop = kCrSTP | kCrRD2;
inline constexpr std::uint8_t kCommandStart = kCrSTA | kCrRD2;
inline constexpr std::uint8_t kCommandTransmit = kCrSTA | kCrRD2 | kCrTXP;
inline constexpr std::uint8_t kCommandRead = kCrSTA | kCrRemoteRead;
inline constexpr std::uint8_t kCommandWrite = kCrSTA | kCrRemoteWrite;

inline constexpr std::uint8_t kDcrBytes = kDcrLS | kDcrFT1;
inline constexpr std::uint8_t kDcrWords = kDcrLS | kDcrFT1 | kDcrWTS;

} // namespace drivers::ne2000
