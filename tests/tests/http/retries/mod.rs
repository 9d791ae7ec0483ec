//! When a request is sent again.

mod lost;
mod resend;
mod retry_after;
