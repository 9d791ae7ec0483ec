//! An emulator of Cloud Storage, for tests of programs that upload and download.

mod arrival;
mod emulator;
mod fault;
mod faults;
mod reply_body;
mod serve;
mod shared;
mod state;
mod wire;

pub use arrival::{StorageArrival, StorageCall};
pub use emulator::StorageEmulator;
pub use fault::StorageFault;
pub use state::StorageObject;
