//! End-to-end tests, a folder for each group. They are one executable, since linking it takes longer than compiling a group.

mod calls;
mod chaos;
mod faults;
mod http;
mod limits;
mod observing;
mod rules;
mod settings;
mod sockets;
