//! How results are shown.

mod color;
mod explain;
mod finding;
mod milliseconds;
pub(crate) mod svg;
mod table;
mod timeline;

pub(crate) use color::{DIM, ERROR, HEAD, of_code, of_severity};
pub(crate) use explain::explain;
pub(crate) use finding::FindingRow;
pub(crate) use milliseconds::{Ms, grown};
pub(crate) use table::{Align, Cell, Table};
pub(crate) use timeline::{Named, Refused, Row, Timeline};
