//! Transfers, and the emulator that they are tested with.

mod emulator;
