//! Transfers, and the emulator that they are tested with.

mod cuts;
mod downloads;
mod emulator;
mod kills;
mod memory;
mod process;
mod ranges;
mod secrets;
mod setup;
mod state_files;
mod trial;
mod uploads;
