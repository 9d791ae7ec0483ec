//! The protocols of uploads: their requests, and what their responses mean.

pub(super) mod storage;
pub(super) mod universal;
