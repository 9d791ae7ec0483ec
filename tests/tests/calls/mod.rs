//! How a call goes: what its attempts carry, when they start, what is sent again, and streams both ways.

mod attempt_numbers;
mod cancellation;
mod compression;
mod google;
mod interceptors;
mod long_running;
mod paging;
mod readiness;
mod replay;
mod rest;
mod stacked;
mod start;
mod streams;
