//! The HTTP layer, over scripted servers in virtual time and over real sockets.

mod bodies;
mod layer;
mod lost;
mod presets;
mod requests;
mod reqwest;
mod resend;
mod retry_after;
mod sockets;
mod table;
mod transfers;
mod unreadable;
mod uploads;
