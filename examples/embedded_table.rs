//! A retry table in the program itself: no separate file is needed, and the first test detects an invalid table.
//!
//! ```text
//! cargo run --example embedded_table
//! ```

use gax_table::RetryTable;
use std::error::Error;
use std::time::Duration;
use tonic_gax::{Code, RetryLayer};

const TABLE: &str = include_str!("../proto/library/v1/library_grpc_service_config.json");

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let table = RetryTable::parse(TABLE)?;
    let policy = table.lookup("library.v1.LibraryService", "GetBook").ok_or("GetBook is not in the table")?;
    println!("GetBook: {} within {:?}", policy.codes(), policy.settings().total_timeout());
    assert!(policy.codes().contains(Code::Unavailable));
    assert_eq!(policy.settings().total_timeout(), Some(Duration::from_secs(10)));

    // The layer is made once and cloned into each client.
    let layer = RetryLayer::new(table);
    println!("{layer:?}");
    Ok(())
}
