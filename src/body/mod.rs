//! Request and response bodies, as far as both transports share them.

mod frame_buffer;
mod message;

pub(crate) use frame_buffer::FrameBuffer;
pub(crate) use message::is_one_message;
