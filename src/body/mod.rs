//! Request and response bodies, as far as both transports share them.

mod buffered;
mod frame_buffer;
mod message;

pub(crate) use buffered::{BufferedBody, OpenPart, Remainder};
pub(crate) use frame_buffer::FrameBuffer;
pub(crate) use message::is_one_message;
