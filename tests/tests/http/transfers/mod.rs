//! Transfers, and the emulator that they are tested with.

mod attempts;
mod credentials;
mod downloads;
mod emulator;
mod endings;
mod object;
mod origins;
mod part_files;
mod proofs;
mod ranges;
mod secrets;
mod setup;
mod sources;
mod state_files;
mod targets;
mod trials;
mod uploads;
mod windows;
