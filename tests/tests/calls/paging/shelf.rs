//! A list of assets, and a server that gives it page by page.

use gax_client::GrpcTransport;
use gax_client::paging::{PageSource, Paged};
use gax_testing::VirtualServer;
use prost::Message as _;
use tonic::{Request, Response, Status};
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_server::{
    AssetService, AssetServiceServer,
};
use tonic_gax_tests::generated::google::cloud::asset::v1::{
    Asset, AssetServiceClient, AssetServiceSettings, AssetServiceStubSettings, ListAssetsRequest,
    ListAssetsResponse,
};
use tonic_gax_tests::{Reply, Script, settings};

/// So many assets, called 0, 1, 2 ..; the token of a page is its first asset. Without a page size there are two on a page.
struct Shelf(usize);

#[tonic::async_trait]
impl AssetService for Shelf {
    async fn list_assets(
        &self,
        request: Request<ListAssetsRequest>,
    ) -> Result<Response<ListAssetsResponse>, Status> {
        let ListAssetsRequest { page_size, page_token, .. } = request.into_inner();
        let first = if page_token.is_empty() { 0 } else { page_token.parse().unwrap() };
        let size = if page_size == 0 { 2 } else { usize::try_from(page_size).unwrap() };
        let end = self.0.min(first + size);
        let names: Vec<String> = (first..end).map(|asset| asset.to_string()).collect();
        let next = if end < self.0 { end.to_string() } else { String::new() };
        Ok(Response::new(page(&names, &next)))
    }
}

/// A page of assets of these names.
pub(super) fn page(names: &[impl AsRef<str>], next: &str) -> ListAssetsResponse {
    let asset = |name: &str| Asset { name: name.to_owned(), ..Asset::default() };
    let assets = names.iter().map(|name| asset(name.as_ref())).collect();
    ListAssetsResponse { assets, next_page_token: next.to_owned(), ..ListAssetsResponse::default() }
}

/// Such a page, as the reply of a script.
pub(super) fn reply(names: &[&str], next: &str) -> Reply {
    Reply::message(&page(names, next))
}

/// A server of a list of so many assets, that follows a script.
pub(super) fn shelf(assets: usize, script: Script) -> VirtualServer {
    VirtualServer::serving(AssetServiceServer::new(Shelf(assets)), script)
}

/// A client that tries again after 200 ms, has a second for each attempt and ten for each page.
pub(super) fn client<T: GrpcTransport>(channel: T) -> AssetServiceClient<T> {
    let mut stub = AssetServiceStubSettings::builder();
    stub.list_assets().set_retry_settings(settings()).set_retryable_codes([tonic_gax::Code::Unavailable]);
    AssetServiceClient::with_settings(channel, AssetServiceSettings::create(stub.build().unwrap()))
}

/// A request with that page size.
pub(super) fn sized(page_size: i32) -> ListAssetsRequest {
    ListAssetsRequest { page_size, ..ListAssetsRequest::default() }
}

/// The token and the size of each page that was asked for.
pub(super) fn asked(server: &VirtualServer) -> Vec<(String, i32)> {
    let asked = server.arrivals().into_iter().map(|arrival| {
        let ListAssetsRequest { page_token, page_size, .. } =
            ListAssetsRequest::decode(arrival.body.slice(5..)).unwrap();
        (page_token, page_size)
    });
    asked.collect()
}

/// The names of all that is left, and the error at the end.
pub(super) async fn rest<S>(list: &mut Paged<S>) -> (Vec<String>, Option<String>)
where
    S: PageSource<Item = Asset, Error = Status, Token = String>,
{
    let mut names = Vec::new();
    while let Some(next) = list.next().await {
        match next {
            Ok(asset) => names.push(asset.name),
            Err(error) => return (names, Some(error.to_string())),
        }
        assert!(names.len() < 100, "there is no end");
    }
    (names, None)
}

/// The names of a list that has no error.
pub(super) async fn names<S>(mut list: Paged<S>) -> Vec<String>
where
    S: PageSource<Item = Asset, Error = Status, Token = String>,
{
    let (names, error) = rest(&mut list).await;
    assert_eq!(error, None);
    names
}

/// The names from one asset up to another.
pub(super) fn range(assets: std::ops::Range<usize>) -> Vec<String> {
    assets.map(|asset| asset.to_string()).collect()
}
