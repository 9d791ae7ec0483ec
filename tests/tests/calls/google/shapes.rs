//! The layer for services in the shape of Google's, and their requests.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use tonic_gax::google::GoogleHeaders;
use tonic_gax::{RetryLayer, RetryTable};
use tonic_gax_tests::generated::google_shapes::DESCRIPTORS;
use tonic_gax_tests::generated::google_shapes::shapes::routing::v1::TableRequest;

/// The layer that does for tonic's own clients what the generated ones do.
pub(super) fn layer(headers: GoogleHeaders) -> RetryLayer {
    let table = include_str!("../../../proto/shapes/shapes_grpc_service_config.json");
    let layer = RetryLayer::new(RetryTable::parse(table).unwrap()).with_descriptors(DESCRIPTORS).unwrap();
    layer.google_headers(headers)
}

/// A request about a table.
pub(super) fn table(name: &str) -> TableRequest {
    TableRequest { table_name: name.to_owned(), ..TableRequest::default() }
}
