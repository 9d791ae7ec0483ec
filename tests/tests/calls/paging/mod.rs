//! Lists that are read page by page.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

mod ahead;
mod circles;
mod closures;
mod limits;
mod list;
mod shapes;
mod shelf;
