//! The HTTP layer, over scripted servers in virtual time and over real sockets.

mod bodies;
mod layer;
mod presets;
mod requests;
mod reqwest;
mod retries;
mod sockets;
mod transfers;
mod unreadable;
mod uploads;
