//! A client that is generated from a retry table and protos. The generator runs in the build script, see `build.rs`:
//!
//! ```text
//! tonic_gax_build::configure()
//!     .retry_table("proto/library/v1/library_grpc_service_config.json")
//!     .include_file("library.rs")
//!     .compile_protos(&["library/v1/library.proto"], &["proto"])?;
//! ```
//!
//! The program includes the output with `include!(concat!(env!("OUT_DIR"), "/library.rs"));`, as
//! `examples/library/generated.rs` does.
//!
//! ```text
//! cargo run --example generator
//! ```

mod library;

use library::v1::{LibraryServiceClient, LibraryServiceStubSettings, ListBooksRequest};
use std::error::Error;
use tonic_gax::OperationReport;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    let url = library::serve(2).await?; // a server that rejects the first two calls

    let client = LibraryServiceClient::connect(url).await?;
    let response =
        client.list_books(ListBooksRequest { parent: "shelves/1".to_owned(), ..Default::default() }).await?;
    let report = OperationReport::of(response.extensions()).ok_or("a retry is reported")?;
    println!("{report}");
    assert_eq!(report.attempt_count(), 3);
    println!("{:?}", response.into_inner().books);

    // Each RPC has an accessor of its settings; its documentation shows the attempts.
    let settings = LibraryServiceStubSettings::builder().build()?;
    println!("GetBook: {}", settings.get_book().retryable_codes());
    println!("CreateBook: {}", settings.create_book().retryable_codes());
    assert!(settings.create_book().retryable_codes().is_empty());
    Ok(())
}
