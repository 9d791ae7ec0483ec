//! Findings with their places, in the formats of code review services.

mod github;
mod notice;
mod sarif;

pub(crate) use github::github;
pub(crate) use notice::{Notice, NoticePlace, NoticeRule};
pub(crate) use sarif::sarif;
