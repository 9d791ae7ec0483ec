//! Tokens that come back.

use super::shelf::{client, reply, rest, shelf, sized};
use gax_client::paging::PageError;
use tonic::Status;
use tonic_gax_tests::{Script, ms};

fn repeated(token: &str, pages: u64) -> String {
    PageError::<Status>::RepeatedToken { token: token.to_owned(), pages }.to_string()
}

#[tokio::test(start_paused = true)]
async fn a_token_that_follows_itself() {
    let server = shelf(0, Script::of([reply(&["x"], "a"), reply(&["y"], "a")]));
    let mut list = client(server.channel()).list_assets_paged(sized(0));
    let (names, error) = rest(&mut list).await;
    assert_eq!(names, ["x", "y"], "items so far have been delivered");
    assert_eq!(error, Some(repeated("a", 2)));
    assert_eq!(error.unwrap(), r#"page token "a" came back after 2 pages: the server's list has no end"#);
    assert!(list.next().await.is_none(), "it is fused");
    assert_eq!(server.arrivals().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_first_token_again() {
    let server = shelf(0, Script::of([reply(&["x"], "a")]));
    let mut list = client(server.channel()).list_assets_paged(sized(0)).from_token("a");
    assert_eq!(rest(&mut list).await, (vec!["x".to_owned()], Some(repeated("a", 1))));
}

#[tokio::test(start_paused = true)]
async fn two_tokens_in_turn() {
    let server = shelf(0, Script::cycle([reply(&["x"], "a"), reply(&["y"], "b")]));
    let mut list = client(server.channel()).list_assets_paged(sized(0));
    let (names, error) = rest(&mut list).await;
    assert_eq!(names, ["x", "y", "x"]);
    assert_eq!(error, Some(repeated("a", 3)));
}

#[tokio::test(start_paused = true)]
async fn pages_end_with_it_too_and_nothing_is_read_ahead() {
    let server = shelf(0, Script::cycle([reply(&["x"], "a"), reply(&["y"], "b")]));
    let mut pages = client(server.channel()).list_assets_paged(sized(0)).prefetch().pages();
    for _ in 0..3 {
        assert!(pages.next().await.unwrap().is_ok());
    }
    tokio::time::sleep(ms(1)).await;
    assert_eq!(server.arrivals().len(), 3);
    let error = pages.next().await.unwrap().unwrap_err();
    assert!(matches!(&error, PageError::RepeatedToken { token, pages: 3 } if token == "a"), "{error}");
    let status = Status::from(error);
    assert_eq!(status.code(), tonic::Code::Internal);
    assert!(pages.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_list_that_begins_again_has_a_trail_of_its_own() {
    let server = shelf(0, Script::cycle([reply(&["x"], "a"), reply(&["y"], "")]));
    let mut list = client(server.channel()).list_assets_paged(sized(0));
    assert_eq!(rest(&mut list).await.1, None);
    let mut list = list.from_token("");
    assert_eq!(rest(&mut list).await, (vec!["x".to_owned(), "y".to_owned()], None));
}
