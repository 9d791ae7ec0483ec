//! The text of doc comments.

mod attempts;
mod duration;
mod lines;
mod markdown;
mod words;

pub(crate) use attempts::{Source, policy_docs};
pub(crate) use lines::DocLines;
pub(crate) use markdown::{first_sentence, rustdoc};
