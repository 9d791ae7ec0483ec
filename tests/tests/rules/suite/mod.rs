//! The suite of transports, run over ours and over one that somebody else might have.

mod mailbox;
mod ours;
