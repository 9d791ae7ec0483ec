//! Pages over any client.

use super::shelf::{shelf, sized};
use gax_client::paging::{Page, PageError, PageToken, paginate};
use std::cell::Cell;
use std::fmt::Error;
use tokio_stream::StreamExt as _;
use tonic_gax_tests::generated::google::cloud::asset::v1::ListAssetsRequest;
use tonic_gax_tests::generated::google::cloud::asset::v1::asset_service_client::AssetServiceClient as TonicClient;
use tonic_gax_tests::{Reply, Script, Setup, settings};

#[tokio::test(start_paused = true)]
async fn tonics_own_client_over_the_layer() {
    let server = shelf(5, Script::of([Reply::Serve, Reply::unavailable()]));
    let client = TonicClient::new(Setup::new(settings()).layer().layer(server.channel()));
    let list = paginate(String::new(), |page_token| {
        let mut client = client.clone();
        async move {
            let request = ListAssetsRequest { page_token, ..sized(2) };
            let page = client.list_assets(request).await?.into_inner();
            Ok::<_, tonic::Status>((page.assets, page.next_page_token))
        }
    });
    let names: Vec<String> = list.map(|asset| asset.unwrap().name).collect().await;
    assert_eq!(names, ["0", "1", "2", "3", "4"]);
    assert_eq!(server.seen().iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 0, 200, 200]);
}

#[tokio::test]
async fn tokens_are_whatever_they_are() {
    let squares =
        paginate(
            0_u32,
            |first| async move { Ok::<_, Error>(((first..first + 2).map(|n| n * n), first + 2)) },
        );
    let squares: Vec<u32> = squares.limit(5).map(Result::unwrap).collect().await;
    assert_eq!(squares, [0, 1, 4, 9, 16]);

    let pages = paginate(None, |token: Option<Vec<u8>>| async move {
        let next = token.map_or_else(|| Some(vec![1]), |_| Some(Vec::new()));
        Ok::<_, Error>(Page::new(["x"], next).with_response(200))
    });
    let mut pages = pages.pages();
    let first = pages.next().await.unwrap().unwrap();
    assert_eq!((first.items, first.response, first.next_token), (vec!["x"], 200, Some(vec![1])));
    assert!(pages.next().await.unwrap().unwrap().is_last());
    assert!(pages.next().await.is_none());
}

/// A token of one's own.
#[derive(Debug, Clone, PartialEq)]
struct Cursor(i64);

impl PageToken for Cursor {
    fn is_end(&self) -> bool {
        self.0 < 0
    }
}

#[tokio::test]
async fn a_token_of_ones_own() {
    let list = paginate(Cursor(2), |Cursor(at)| async move { Ok::<_, Error>(([at], Cursor(at - 1))) });
    assert_eq!(list.map(Result::unwrap).collect::<Vec<_>>().await, [2, 1, 0]);
}

#[tokio::test]
async fn an_error_is_the_closures_own_and_the_list_goes_on_after_it() {
    let is_down = Cell::new(true);
    let mut list = paginate(1_u8.to_string(), |token| {
        let is_down = &is_down;
        async move {
            match token.as_str() {
                "2" if is_down.get() => Err(7),
                "2" => Ok((vec!["b"], String::new())),
                _ => Ok((vec!["a"], "2".to_owned())),
            }
        }
    });
    assert_eq!(list.next().await, Some(Ok("a")));
    assert_eq!(list.next().await, Some(Err(PageError::Call(7))));
    assert_eq!(list.next().await, None);
    is_down.set(false);
    let mut list = list.from_token("2");
    assert_eq!(list.next().await, Some(Ok("b")));
    assert_eq!(list.next().await, None);
    assert_eq!(list.token(), None);
}

#[tokio::test]
async fn a_circle_is_found_in_a_closures_tokens() {
    let list = paginate(0_u64, |token| async move { Ok::<_, Error>(([token], (token + 1) % 3)) });
    let items: Vec<_> = list.take(100).collect().await;
    let (error, before) = items.split_last().unwrap();
    assert_eq!(before.iter().flatten().copied().collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
    assert_eq!(error, &Err(PageError::RepeatedToken { token: 0, pages: 6 }));
}

/// Other tasks get a turn between empty pages that are there at once.
#[tokio::test]
async fn empty_pages_without_end_leave_others_their_turn() {
    let mut list = paginate(0_u64, |token| async move { Ok::<_, Error>(([(); 0], token + 1)) });
    let other = tokio::spawn(async { 1 });
    tokio::select! {
        biased;
        _ = list.next() => panic!("there is no item"),
        one = other => assert_eq!(one.unwrap(), 1),
    }
}
