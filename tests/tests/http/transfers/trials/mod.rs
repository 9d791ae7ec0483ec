//! Trials: transfers that are cut at every place, whose process is killed, whose memory is measured, and that meet every misbehaviour of proxies
//! and servers.

mod cuts;
mod kills;
mod matrix;
mod memory;
mod process;
mod trial;
