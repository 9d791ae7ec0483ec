//! The bounds of a call: deadlines of callers and of servers, delays that servers ask for, and retry budgets.

mod budgets;
mod deadlines;
mod hot_loops;
mod inbound;
mod last_words;
mod no_time;
mod server_delays;
