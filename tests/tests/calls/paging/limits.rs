//! So many items, and no more.

use super::shelf::{asked, client, range, rest, shelf, sized};
use tokio_stream::Stream as _;
use tonic_gax_tests::Script;

/// The items with a limit, the pages that were asked for, and the token at the end.
async fn limited(
    items: usize,
    page_size: i32,
    limit: usize,
) -> (Vec<String>, Vec<(String, i32)>, Option<String>) {
    let server = shelf(items, Script::new());
    let mut list = client(server.channel()).list_assets_paged(sized(page_size)).limit(limit);
    let (names, error) = rest(&mut list).await;
    assert_eq!(error, None);
    (names, asked(&server), list.token().cloned())
}

fn pages(pages: &[(&str, i32)]) -> Vec<(String, i32)> {
    pages.iter().map(|(token, size)| ((*token).to_owned(), *size)).collect()
}

#[tokio::test(start_paused = true)]
async fn the_last_page_is_asked_for_with_what_is_missing() {
    assert_eq!(limited(9, 5, 7).await, (range(0..7), pages(&[("", 5), ("5", 2)]), Some("7".to_owned())));
    assert_eq!(limited(9, 5, 5).await, (range(0..5), pages(&[("", 5)]), Some("5".to_owned())));
    assert_eq!(limited(9, 5, 3).await, (range(0..3), pages(&[("", 3)]), Some("3".to_owned())));
    assert_eq!(limited(9, 5, 9).await, (range(0..9), pages(&[("", 5), ("5", 4)]), None));
    assert_eq!(limited(9, 5, 99).await, (range(0..9), pages(&[("", 5), ("5", 5)]), None));
    assert_eq!(limited(9, 5, usize::MAX).await.0, range(0..9));
    assert_eq!(limited(9, 5, 0).await, (range(0..0), pages(&[]), Some(String::new())));
}

#[tokio::test(start_paused = true)]
async fn a_size_that_is_the_servers_choice_stays_so() {
    assert_eq!(
        limited(9, 0, 3).await,
        (range(0..3), pages(&[("", 0), ("2", 0)]), Some("2".to_owned())),
        "cut"
    );
}

#[tokio::test(start_paused = true)]
async fn pages_are_cut_too() {
    let server = shelf(9, Script::new());
    let mut pages = client(server.channel()).list_assets_paged(sized(0)).limit(3).pages();
    let mut sizes = Vec::new();
    while let Some(page) = pages.next().await {
        sizes.push(page.unwrap().items.len());
    }
    assert_eq!(sizes, [2, 1]);
    assert_eq!(pages.token().map(String::as_str), Some("2"), "the third item's page");
}

#[tokio::test(start_paused = true)]
async fn a_limit_can_be_raised() {
    let server = shelf(9, Script::new());
    let mut list = client(server.channel()).list_assets_paged(sized(2)).limit(2);
    assert_eq!(rest(&mut list).await.0, range(0..2));
    let mut list = list.limit(3);
    assert_eq!(rest(&mut list).await.0, range(2..5));
}

/// Items that were read and not delivered don't count, whichever way the list goes on.
#[tokio::test(start_paused = true)]
async fn a_limit_counts_what_is_delivered() {
    for prefetches in [false, true] {
        let server = shelf(20, Script::new());
        let list = client(server.channel()).list_assets_paged(sized(5)).limit(10);
        let mut list = if prefetches { list.prefetch() } else { list };
        for number in 0..7 {
            assert_eq!(list.next().await.unwrap().unwrap().name, number.to_string());
        }
        let token = list.token().unwrap().clone();
        // The page's first items come again.
        let mut list = list.from_token(token);
        assert_eq!(rest(&mut list).await.0, range(5..8), "{prefetches}");
        let mut list = list.limit(6);
        list.next().await.unwrap().unwrap();
        let (mut pages, mut items) = (list.pages(), 0);
        while let Some(page) = pages.next().await {
            items += page.unwrap().items.len();
        }
        assert_eq!(items, 5, "{prefetches}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_size_of_the_stream_is_known_as_far_as_it_can_be() {
    let server = shelf(9, Script::new());
    let mut list = client(server.channel()).list_assets_paged(sized(4));
    assert_eq!(list.size_hint(), (0, None));
    list.next().await.unwrap().unwrap();
    assert_eq!(list.size_hint(), (3, None));
    let mut list = list.limit(5);
    assert_eq!(list.size_hint(), (3, Some(9)), "five items more, or fewer and an error");
    assert_eq!(rest(&mut list).await.0, range(1..9));
    assert_eq!(list.size_hint(), (0, Some(0)));
}
