//! The buffers of requests that may be sent again.

mod buffer_limits;
mod replay_memory;

pub use buffer_limits::BufferLimits;
pub use replay_memory::{Limit, ReplayMemory, Reserved};
