//! The buffers of requests that may be sent again.

mod replay_memory;
mod replay_options;

pub use replay_memory::{Limit, ReplayMemory, Reserved};
pub use replay_options::ReplayOptions;
