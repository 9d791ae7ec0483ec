//! A client with RPCs of other services, and its settings.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tonic::{Request, Response, Status};
use tonic_gax::settings::{LimitExceeded, MethodKind};
use tonic_gax::{Code, OperationReport, RetrySettings};
use tonic_gax_api_tests::mixed::google::cloud::location::locations_server::{Locations, LocationsServer};
use tonic_gax_api_tests::mixed::google::cloud::location::{GetLocationRequest, Location};
use tonic_gax_api_tests::mixed::mixed::v1 as library;

const SECOND: Duration = Duration::from_secs(1);

/// A service that is down for the first call.
#[derive(Clone, Default)]
struct Outage(Arc<AtomicU32>);

#[tonic::async_trait]
impl Locations for Outage {
    async fn get_location(&self, request: Request<GetLocationRequest>) -> Result<Response<Location>, Status> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => Err(Status::unavailable("down")),
            _ => Ok(Response::new(Location { name: request.into_inner().name, metadata: None })),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_rpc_of_another_service_is_called_and_retried() {
    let client = library::LibraryClient::new(LocationsServer::new(Outage::default()));
    let request = GetLocationRequest { name: "projects/1/locations/2".to_owned() };
    let response = client.get_location(request).await.unwrap();
    assert_eq!(response.get_ref().name, "projects/1/locations/2");
    let report = response.extensions().get::<OperationReport>().unwrap();
    assert_eq!(report.method(), "/google.cloud.location.Locations/GetLocation");
    assert_eq!(report.attempts().len(), 2);
}

#[test]
fn every_row_is_there() {
    let methods = library::LibraryStubSettings::methods();
    let rows: Vec<_> = methods.iter().map(|method| (method.path(), method.kind())).collect();
    assert_eq!(
        rows,
        [
            ("/mixed.v1.Library/GetBook", MethodKind::Unary),
            ("/mixed.v1.Library/Reindex", MethodKind::Unary),
            ("/mixed.v1.Library/Publish", MethodKind::Batching),
            ("/mixed.v1.Library/Move", MethodKind::Unary),
            ("/mixed.v1.Library/Begin", MethodKind::Unary),
            ("/mixed.v1.Library/MoveOperation", MethodKind::Unary),
            ("/google.longrunning.Operations/GetOperation", MethodKind::Unary),
            ("/google.longrunning.Operations/CancelOperation", MethodKind::Unary),
            ("/google.cloud.location.Locations/ListLocations", MethodKind::Paged),
            ("/google.cloud.location.Locations/GetLocation", MethodKind::Unary),
        ]
    );
    assert_eq!(methods[9].service(), "google.cloud.location.Locations");
}

#[test]
fn operations_and_batches_have_settings() {
    let mut builder = library::LibraryStubSettings::builder();
    let polling = RetrySettings::builder()
        .initial_retry_delay(60 * SECOND)
        // Google's Java generator writes one decimal of 1.25.
        .retry_delay_multiplier(1.3)
        .max_retry_delay(360 * SECOND)
        .total_timeout(7200 * SECOND)
        .build()
        .unwrap();
    let reindex = builder.reindex_operation();
    assert_eq!(reindex.polling_settings(), &polling);
    assert_eq!(reindex.initial_call_settings().retry_settings().total_timeout(), Some(600 * SECOND));
    reindex.set_polling_settings(RetrySettings::no_retry(SECOND));
    reindex.initial_call_settings_mut().set_retryable_codes([Code::Aborted]);
    let settings = builder.build().unwrap();
    assert_eq!(settings.reindex_operation().polling_settings(), &RetrySettings::no_retry(SECOND));
    assert!(settings.reindex().retryable_codes().is_empty(), "the RPC by itself has settings of its own");
    let other = settings.move_operation_rpc().polling_settings();
    assert_eq!(other.total_timeout(), Some(300 * SECOND), "what Google's generators take");
    let batching = settings.publish().batching_settings().unwrap();
    assert_eq!(
        (batching.element_count_threshold(), batching.limit_exceeded()),
        (100, LimitExceeded::ThrowException)
    );
    assert_eq!(settings.get_book().batching_settings(), None);
}
