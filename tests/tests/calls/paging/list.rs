//! Each page is an operation of its own, and a stream of items ends with the first that fails.

use super::shelf::{asked, client, names, page, range, reply, rest, shelf, sized};
use gax_client::paging::PageError;
use tokio::time::timeout;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Request, Status};
use tonic_gax::{CallOptions, Code, RequestExt as _};
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::{BodyPart, Reply, Script, error_report, ms, row, rows};

fn is_handy<S: Stream + Send + Unpin + 'static>(stream: S) -> S {
    stream
}

#[tokio::test(start_paused = true)]
async fn items_come_page_by_page() {
    let server = shelf(5, Script::new());
    let list = is_handy(client(server.channel()).list_assets_paged(sized(2)));
    assert_eq!(server.arrivals().len(), 0, "nothing is called before it is polled");
    assert_eq!(list.token().map(String::as_str), Some(""));
    assert_eq!(names(list).await, range(0..5));
    let pages = [("", 2), ("2", 2), ("4", 2)].map(|(token, size)| (token.to_owned(), size));
    assert_eq!(asked(&server), pages);
}

#[tokio::test(start_paused = true)]
async fn a_list_begins_where_its_request_says() {
    let server = shelf(5, Script::new());
    let client = client(server.channel());
    let request = ListAssetsRequest { page_token: "3".to_owned(), ..ListAssetsRequest::default() };
    assert_eq!(names(client.list_assets_paged(request)).await, range(3..5));
    assert_eq!(names(client.list_assets_paged(sized(0)).from_token("1")).await, range(1..5));
}

#[tokio::test(start_paused = true)]
async fn a_page_is_retried() {
    let server = shelf(4, Script::of([Reply::Serve, Reply::unavailable(), Reply::unavailable()]));
    let options = CallOptions::new().report(true);
    let request = Request::new(sized(2)).with_call_options(options);
    let mut pages = is_handy(client(server.channel()).list_assets_paged(request).pages());
    let mut reports = Vec::new();
    while let Some(page) = pages.next().await.transpose().unwrap() {
        reports.push(rows(page.response.extensions().get().unwrap()));
    }
    let first = vec![row(1, 1000, 0, 0, 0, Code::Ok)];
    let down = |number, delay, at| row(number, 1000, delay, at, at, Code::Unavailable);
    let second = vec![down(1, 0, 0), down(2, 200, 200), row(3, 1000, 200, 400, 400, Code::Ok)];
    assert_eq!(reports, [first, second]);
    assert_eq!(server.seen().iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 0, 200, 400]);
}

#[tokio::test(start_paused = true)]
async fn every_page_has_the_whole_total_timeout() {
    let server = shelf(6, Script::cycle([(ms(600), Reply::Serve)]));
    let request = Request::new(sized(2)).with_call_options(CallOptions::new().timeout(ms(700)));
    assert_eq!(names(client(server.channel()).list_assets_paged(request)).await, range(0..6));
    assert_eq!(server.seen(), [(0, Some(700)), (600, Some(700)), (1200, Some(700))]);
}

#[tokio::test(start_paused = true)]
async fn options_and_metadata_hold_for_every_page() {
    let server =
        shelf(6, Script::of([Reply::Serve, Reply::unavailable(), Reply::Serve, Reply::unavailable()]));
    let options = CallOptions::new().max_attempts(2).attempt_timeout(ms(300));
    let mut request = Request::new(sized(2)).with_call_options(options);
    request.metadata_mut().insert("x-tenant", "a".parse().unwrap());
    assert_eq!(names(client(server.channel()).list_assets_paged(request)).await, range(0..6));
    let arrivals = server.arrivals();
    assert_eq!(arrivals.len(), 5);
    for arrival in arrivals {
        assert_eq!((arrival.header("x-tenant"), arrival.timeout()), (Some("a"), Some(300)));
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_failure_the_list_goes_on_from_its_token() {
    let refused = Reply::code(tonic::Code::PermissionDenied);
    let server = shelf(6, Script::of([Reply::Serve, refused]));
    let mut list = client(server.channel()).list_assets_paged(sized(2));
    let (before, error) = rest(&mut list).await;
    assert_eq!(before, range(0..2), "what came before has been delivered");
    assert!(error.is_some());
    assert_eq!(server.arrivals().len(), 2);
    for _ in 0..3 {
        assert!(list.next().await.is_none(), "it is fused");
    }
    assert_eq!(server.arrivals().len(), 2, "and calls nobody");

    let token = list.token().cloned().unwrap();
    assert_eq!(token, "2");
    let mut list = list.from_token(token);
    assert_eq!(rest(&mut list).await, (range(2..6), None));
    assert_eq!(list.token(), None);
}

#[tokio::test(start_paused = true)]
async fn an_error_is_the_calls_own() {
    let server = shelf(6, Script::of([Reply::Serve, Reply::status(Status::not_found("gone"))]));
    let list = client(server.channel()).list_assets_paged(sized(2));
    let items: Vec<_> = list.collect().await;
    assert_eq!(items.len(), 3);
    let Some(Err(PageError::Call(status))) = items.last() else { panic!("{items:?}") };
    assert_eq!((status.code(), status.message()), (tonic::Code::NotFound, "gone"));
    assert_eq!(rows(&error_report(status)), [row(1, 1000, 0, 0, 0, Code::NotFound)]);
}

/// In a function that gives statuses `?` is enough.
#[tokio::test(start_paused = true)]
async fn an_error_becomes_a_status() {
    async fn count(list: impl Stream<Item = Result<impl Sized, PageError<Status>>>) -> Result<usize, Status> {
        let mut list = std::pin::pin!(list);
        let mut count = 0;
        while let Some(item) = list.next().await {
            item?;
            count += 1;
        }
        Ok(count)
    }
    let server = shelf(6, Script::of([Reply::Serve, Reply::status(Status::not_found("gone"))]));
    let client = client(server.channel());
    assert_eq!(count(client.list_assets_paged(sized(2))).await.unwrap_err().message(), "gone");
    assert_eq!(count(client.list_assets_paged(sized(2))).await.unwrap(), 6);
}

#[tokio::test(start_paused = true)]
async fn an_empty_page_with_a_token_goes_on() {
    let pages = [reply(&[], "a"), reply(&[], "b"), reply(&["x"], "c"), reply(&[], "")];
    let server = shelf(0, Script::of(pages.clone()));
    assert_eq!(names(client(server.channel()).list_assets_paged(sized(0))).await, ["x"]);
    assert_eq!(server.arrivals().len(), 4);

    let server = shelf(0, Script::of(pages));
    let pages = client(server.channel()).list_assets_paged(sized(0)).pages();
    let counts: Vec<usize> = pages.map(|page| page.unwrap().items.len()).collect().await;
    assert_eq!(counts, [0, 0, 1, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_page_has_what_it_came_in() {
    let time = prost_types::Timestamp { seconds: 7, nanos: 0 };
    let message = page(&["x", "y"], "next");
    let message = tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsResponse {
        read_time: Some(time),
        ..message
    };
    let beats = [BodyPart::message(&message), BodyPart::trailers(&[("grpc-status", "0")])];
    let server = shelf(0, Script::of([Reply::play_with(&[("x-cache", "hit")], beats)]));
    let mut pages = client(server.channel()).list_assets_paged(sized(0)).pages();
    let page = pages.next().await.unwrap().unwrap();
    assert_eq!(page.items.iter().map(|asset| asset.name.as_str()).collect::<Vec<_>>(), ["x", "y"]);
    assert_eq!((page.next_token.as_str(), page.is_last()), ("next", false));
    assert_eq!(page.response.metadata().get("x-cache").unwrap(), "hit");
    assert_eq!(page.response.get_ref().read_time, Some(time));
    assert_eq!(page.response.get_ref().assets, [], "the items have been moved out");
    assert_eq!(pages.token().map(String::as_str), Some("next"));
}

#[tokio::test(start_paused = true)]
async fn in_the_middle_of_a_page_the_token_is_that_pages() {
    let server = shelf(4, Script::new());
    let mut list = client(server.channel()).list_assets_paged(sized(2));
    let mut tokens = Vec::new();
    while let Some(item) = list.next().await {
        tokens.push((item.unwrap().name, list.token().cloned()));
    }
    let token = |token: &str| Some(token.to_owned());
    let expected = [("0", token("")), ("1", token("2")), ("2", token("2")), ("3", None)];
    assert_eq!(tokens, expected.map(|(name, token)| (name.to_owned(), token)));
}

#[tokio::test(start_paused = true)]
async fn a_future_that_is_dropped_loses_no_item() {
    let server = shelf(4, Script::cycle([(ms(100), Reply::Serve)]));
    let mut list = client(server.channel()).list_assets_paged(sized(2));
    let mut names = Vec::new();
    loop {
        match timeout(ms(30), list.next()).await {
            Err(_) => {}
            Ok(Some(item)) => names.push(item.unwrap().name),
            Ok(None) => break,
        }
    }
    assert_eq!(names, range(0..4));
    assert_eq!(server.seen().iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 100]);
}

#[tokio::test(start_paused = true)]
async fn to_drop_it_cancels_the_call() {
    let server = shelf(4, Script::of([Reply::Serve, Reply::Hang]));
    let mut list = client(server.channel()).list_assets_paged(sized(2));
    timeout(ms(300), rest(&mut list)).await.unwrap_err();
    assert_eq!(server.log().open(), 1);
    drop(list);
    tokio::time::sleep(ms(1)).await;
    assert_eq!(server.log().open(), 0);
    assert_eq!(server.arrivals()[1].gone, Some(ms(300)));
}
