//! How results are shown.

mod bars;
mod color;
mod explain;
mod finding;
mod grouped;
mod json;
mod milliseconds;
mod prose;
mod quantity;
mod review;
pub(crate) mod svg;
mod table;
mod timeline;

pub(crate) use bars::bars;
pub(crate) use color::{DIM, ERROR, HEAD, of_severity};
pub(crate) use explain::{Recoverable, explain};
pub(crate) use finding::FindingRow;
pub(crate) use grouped::grouped;
pub(crate) use json::{Ordered, write_json};
pub(crate) use milliseconds::{Ms, grown};
pub(crate) use prose::prose;
pub(crate) use quantity::{Count, bytes, times, until_measured};
pub(crate) use review::{Notice, NoticePlace, NoticeRule, github, sarif};
pub(crate) use table::{attempts, table};
pub(crate) use timeline::{Row, Timeline};

pub(crate) use gax_text::{Align, Cell, Grid, Human, Role};
