//! Connections of our own: dead ones, endpoints that come and go, and everything in virtual time.

mod endpoints;
mod silent;
mod waiting;
