//! Request and response bodies, as far as both transports share them.

mod buffered;
mod frame_buffer;
mod message;

pub use buffered::{BufferedBody, OpenPart, Remainder};
pub use frame_buffer::FrameBuffer;
pub use message::is_one_message;
