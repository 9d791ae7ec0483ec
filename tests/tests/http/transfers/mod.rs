//! Transfers, and the emulator that they are tested with.

mod downloads;
mod emulator;
mod setup;
mod uploads;
