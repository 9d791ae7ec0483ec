//! The layer for services in the shape of Google's, and their requests.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

use gax_client::google::GoogleHeaders;
use gax_table::RetryTable;
use gax_table::descriptors::Descriptors;
use tonic_gax::RetryLayer;
use tonic_gax_tests::generated::google_shapes::DESCRIPTORS;
use tonic_gax_tests::generated::google_shapes::shapes::routing::v1::TableRequest;

/// The layer that does for tonic's own clients what the generated ones do.
pub(super) fn layer(headers: &GoogleHeaders) -> RetryLayer {
    let table = include_str!("../../../proto/shapes/shapes_grpc_service_config.json");
    let facts = Descriptors::decode(DESCRIPTORS).unwrap();
    let layer = RetryLayer::new(RetryTable::parse(table).unwrap()).facts(&facts);
    layer.headers(headers.for_descriptors(DESCRIPTORS).unwrap())
}

/// A request about a table.
pub(super) fn table(name: &str) -> TableRequest {
    TableRequest { table_name: name.to_owned(), ..TableRequest::default() }
}
