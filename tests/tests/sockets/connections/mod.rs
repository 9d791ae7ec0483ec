//! Connections of our own: dead ones, endpoints that come and go, and everything in virtual time.

mod acceptance;
mod ejection;
mod endpoints;
mod faults;
mod http;
mod keep_alive;
mod lifetimes;
mod network;
mod ordinary_days;
mod plaintext;
mod proxies;
mod silent;
mod streams;
mod waiting;
