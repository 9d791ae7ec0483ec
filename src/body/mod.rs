//! What request and response bodies of both transports share.

mod frame_buffer;

pub(crate) use frame_buffer::FrameBuffer;
