//! Retries under a client that you already have: one layer around its channel, and a retry table.
//!
//! ```text
//! cargo run --example layer
//! ```

mod library;

use gax_table::RetryTable;
use library::v1::GetBookRequest;
use library::v1::library_service_client::LibraryServiceClient; // the client that tonic generates
use std::error::Error;
use tonic_gax::RetryLayer;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let url = library::serve(2).await?; // a server that rejects the first two calls

    let table = RetryTable::from_path("proto/library/v1/library_grpc_service_config.json")?;
    let channel = gax_client::connect(url).await?;
    let channel = RetryLayer::new(table).layer(channel);
    let mut client = LibraryServiceClient::new(channel);

    let response = client.get_book(GetBookRequest { name: "shelves/1/books/1".to_owned() }).await?;
    if let Some(report) = response.extensions().get::<tonic_gax::OperationReport>() {
        println!("{report}");
        assert_eq!(report.attempt_count(), 3);
    }
    println!("{:?}", response.into_inner());
    Ok(())
}
