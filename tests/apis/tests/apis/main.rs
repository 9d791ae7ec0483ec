//! Generated code of whole APIs, compiled and called.

mod google;
mod java;
mod mixed;
mod names;
mod own;
mod published;
