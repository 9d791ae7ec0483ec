//! What request and response bodies of both transports share.

mod frame_buffer;
mod message;

pub(crate) use frame_buffer::FrameBuffer;
pub(crate) use message::is_one_message;
