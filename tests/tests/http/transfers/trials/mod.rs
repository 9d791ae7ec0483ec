//! Trials: transfers that are cut at every place, whose process is killed, and whose memory is measured.

mod cuts;
mod kills;
mod memory;
mod process;
mod trial;
