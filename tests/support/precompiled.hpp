// SPDX-License-Identifier: MIT
// Parsed once for all unit tests if there is no ccache (mk/flags.mk). No source includes this file.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
