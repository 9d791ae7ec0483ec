//! The text of doc comments.

mod attempts;
mod beside;
mod lines;
mod markdown;
mod words;

pub(crate) use attempts::{Source, policy_docs};
pub(crate) use beside::{batching_words, polling_docs};
pub(crate) use lines::DocLines;
pub(crate) use markdown::{first_sentence, rustdoc};
