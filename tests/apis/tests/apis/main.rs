//! Generated code of whole APIs, compiled and called.

mod batching;
mod google;
mod java;
mod long_running;
mod mixed;
mod names;
mod own;
mod published;
mod rest;
