//! The memory that calls and tables take, counted thread by thread. `large_tables` is an executable of its own.

mod allocations;
mod small_frames;
mod table_growth;
