//! Where settings come from and how they change: a table, code, the environment, a file, a single call.

mod call_options;
mod environment;
mod live;
mod live_latencies;
mod live_names;
mod names;
mod one_value;
mod overrides;
mod shipped_table;
mod stored;
mod switches;
mod watched;
