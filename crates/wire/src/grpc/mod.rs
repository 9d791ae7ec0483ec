//! The rules that clients over gRPC share, whichever library is below them.

pub mod end_text;
mod retry_info;

pub use end_text::time_is_up;
pub use retry_info::{PUSHBACK, retry_info};
