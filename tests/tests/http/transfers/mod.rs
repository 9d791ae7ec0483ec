//! Transfers, and the emulator that they are tested with.

mod cuts;
mod downloads;
mod emulator;
mod kills;
mod memory;
mod process;
mod setup;
mod trial;
mod uploads;
