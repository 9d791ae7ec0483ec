//! A client with RPCs of other services, and its settings.

use gax_batching::LimitExceeded;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tonic::{Request, Response, Status};
use tonic_gax::settings::MethodKind;
use tonic_gax::{Code, OperationReport, RetrySettings};
use tonic_gax_api_tests::mixed::google::cloud::location::locations_server::{Locations, LocationsServer};
use tonic_gax_api_tests::mixed::google::cloud::location::{
    GetLocationRequest, ListLocationsRequest, ListLocationsResponse, Location,
};
use tonic_gax_api_tests::mixed::google::iam::v1::iam_policy_server::{IamPolicy, IamPolicyServer};
use tonic_gax_api_tests::mixed::google::iam::v1::{
    GetIamPolicyRequest, Policy, SetIamPolicyRequest, TestIamPermissionsRequest, TestIamPermissionsResponse,
};
use tonic_gax_api_tests::mixed::google::longrunning::operations_server::{Operations, OperationsServer};
use tonic_gax_api_tests::mixed::google::longrunning::{
    ListOperationsRequest, ListOperationsResponse, Operation,
};
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

    /// Two pages.
    async fn list_locations(
        &self,
        request: Request<ListLocationsRequest>,
    ) -> Result<Response<ListLocationsResponse>, Status> {
        if self.0.fetch_add(1, Ordering::Relaxed) == 1 {
            return Err(Status::unavailable("down"));
        }
        let (name, next) = if request.into_inner().page_token.is_empty() { ("1", "2") } else { ("2", "") };
        let locations = vec![Location { name: name.to_owned(), metadata: None }];
        Ok(Response::new(ListLocationsResponse { locations, next_page_token: next.to_owned() }))
    }
}

#[tonic::async_trait]
impl Operations for Outage {
    async fn list_operations(
        &self,
        request: Request<ListOperationsRequest>,
    ) -> Result<Response<ListOperationsResponse>, Status> {
        let operation = Operation { name: request.into_inner().name, ..Operation::default() };
        Ok(Response::new(ListOperationsResponse {
            operations: vec![operation],
            unreachable: vec!["east".to_owned()],
            ..ListOperationsResponse::default()
        }))
    }
}

#[tonic::async_trait]
impl IamPolicy for Outage {
    async fn get_iam_policy(&self, _: Request<GetIamPolicyRequest>) -> Result<Response<Policy>, Status> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => Err(Status::unavailable("down")),
            _ => Ok(Response::new(Policy { version: 3 })),
        }
    }

    async fn set_iam_policy(
        &self,
        request: Request<SetIamPolicyRequest>,
    ) -> Result<Response<Policy>, Status> {
        Ok(Response::new(request.into_inner().policy.unwrap_or_default()))
    }

    async fn test_iam_permissions(
        &self,
        request: Request<TestIamPermissionsRequest>,
    ) -> Result<Response<TestIamPermissionsResponse>, Status> {
        let permissions = request.into_inner().permissions;
        Ok(Response::new(TestIamPermissionsResponse { permissions }))
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

#[tokio::test(start_paused = true)]
async fn policies_are_called_and_retried() {
    let client = library::LibraryClient::new(IamPolicyServer::new(Outage::default()));
    let resource = "books/1".to_owned();
    let response = client.get_iam_policy(GetIamPolicyRequest { resource: resource.clone() }).await.unwrap();
    assert_eq!(response.extensions().get::<OperationReport>().unwrap().attempts().len(), 2);
    let policy = Some(response.into_inner());
    let set = client.set_iam_policy(SetIamPolicyRequest { resource: resource.clone(), policy }).await;
    assert_eq!(set.unwrap().get_ref(), &Policy { version: 3 });
    let permissions = vec!["books.read".to_owned()];
    let request = TestIamPermissionsRequest { resource, permissions: permissions.clone() };
    assert_eq!(client.test_iam_permissions(request).await.unwrap().into_inner().permissions, permissions);
}

/// A list of another service, page by page; the second page is refused once.
#[tokio::test(start_paused = true)]
async fn lists_of_another_service_are_streams() {
    let client = library::LibraryClient::new(LocationsServer::new(Outage::default()));
    let mut locations = client.list_locations_paged(ListLocationsRequest::default());
    let mut names = Vec::new();
    while let Some(location) = locations.next().await {
        names.push(location.unwrap().name);
    }
    assert_eq!(names, ["1", "2"]);

    let client = library::ArchiveClient::new(OperationsServer::new(Outage::default()));
    let request = ListOperationsRequest { name: "operations".to_owned(), ..ListOperationsRequest::default() };
    let mut pages = client.list_operations_paged(request).pages();
    let page = pages.next().await.unwrap().unwrap();
    assert_eq!(page.items[0].name, "operations");
    assert_eq!(page.response.get_ref().unreachable, ["east"]);
    assert!(pages.next().await.is_none());
}

#[test]
fn settings_of_mixed_in_rpcs_can_be_changed() {
    let mut builder = library::LibraryStubSettings::builder();
    builder.list_locations().set_retryable_codes([Code::Aborted]);
    builder.test_iam_permissions().set_retryable_codes([Code::Aborted]);
    let settings = builder.build().unwrap();
    for call in [settings.list_locations(), settings.test_iam_permissions()] {
        assert!(call.retryable_codes().contains(Code::Aborted));
    }
    for call in [settings.get_location(), settings.get_iam_policy(), settings.list_operations()] {
        assert!(call.retryable_codes().contains(Code::Unavailable), "the host's");
    }
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
            ("/google.longrunning.Operations/ListOperations", MethodKind::Paged),
            ("/google.cloud.location.Locations/ListLocations", MethodKind::Paged),
            ("/google.cloud.location.Locations/GetLocation", MethodKind::Unary),
            ("/google.iam.v1.IAMPolicy/SetIamPolicy", MethodKind::Unary),
            ("/google.iam.v1.IAMPolicy/GetIamPolicy", MethodKind::Unary),
            ("/google.iam.v1.IAMPolicy/TestIamPermissions", MethodKind::Unary),
        ]
    );
    assert_eq!(methods[10].service(), "google.cloud.location.Locations");
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
