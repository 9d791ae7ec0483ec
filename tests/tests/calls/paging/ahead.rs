//! One page ahead.

use super::shelf::{asked, client, range, rest, shelf, sized};
use tokio::time::{sleep, timeout};
use tonic_gax_tests::{Reply, Script, ms};

/// When each page was asked for, by a consumer that takes a second for each item.
async fn asked_at(prefetch: bool) -> Vec<u64> {
    let server = shelf(6, Script::cycle([(ms(100), Reply::Serve)]));
    let list = client(server.channel()).list_assets_paged(sized(2));
    let mut list = if prefetch { list.prefetch() } else { list };
    while let Some(item) = list.next().await {
        item.unwrap();
        sleep(ms(1000)).await;
    }
    server.seen().iter().map(|(at, _)| *at).collect()
}

#[tokio::test(start_paused = true)]
async fn the_next_page_is_asked_for_as_soon_as_a_page_is_there() {
    assert_eq!(asked_at(false).await, [0, 2100, 4200]);
    assert_eq!(asked_at(true).await, [0, 100, 2100]);
}

#[tokio::test(start_paused = true)]
async fn no_more_than_one_page() {
    let server = shelf(6, Script::new());
    let mut list = client(server.channel()).list_assets_paged(sized(2)).prefetch();
    list.next().await.unwrap().unwrap();
    sleep(ms(5000)).await;
    assert_eq!(server.arrivals().len(), 2);
    assert_eq!(rest(&mut list).await, (range(1..6), None));
    assert_eq!(server.arrivals().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_error_of_it_comes_after_the_items() {
    let refused = Reply::code(tonic::Code::PermissionDenied);
    let server = shelf(6, Script::of([Reply::Serve, Reply::Serve, refused]));
    let mut list = client(server.channel()).list_assets_paged(sized(2)).prefetch();
    for name in range(0..3) {
        assert_eq!(list.next().await.unwrap().unwrap().name, name);
    }
    sleep(ms(10)).await;
    assert_eq!(list.next().await.unwrap().unwrap().name, "3");
    assert_eq!(server.arrivals().len(), 3);
    assert_eq!(list.token().map(String::as_str), Some("4"));
    assert!(list.next().await.unwrap().is_err());
    assert!(list.next().await.is_none());
    let mut list = list.from_token("4");
    assert_eq!(rest(&mut list).await, (range(4..6), None));
}

#[tokio::test(start_paused = true)]
async fn it_is_dropped_where_the_list_goes_on_elsewhere() {
    let server = shelf(6, Script::new());
    let mut list = client(server.channel()).list_assets_paged(sized(2)).prefetch();
    assert_eq!(list.next().await.unwrap().unwrap().name, "0");
    let mut list = list.from_token("4");
    assert_eq!(rest(&mut list).await, (range(4..6), None));
}

#[tokio::test(start_paused = true)]
async fn a_limit_bounds_it() {
    let server = shelf(9, Script::new());
    let mut list = client(server.channel()).list_assets_paged(sized(5)).prefetch().limit(7);
    assert_eq!(rest(&mut list).await, (range(0..7), None));
    assert_eq!(asked(&server), [(String::new(), 5), ("5".to_owned(), 2)]);

    let server = shelf(9, Script::new());
    let mut list = client(server.channel()).list_assets_paged(sized(5)).prefetch().limit(5);
    assert_eq!(rest(&mut list).await, (range(0..5), None));
    sleep(ms(1)).await;
    assert_eq!(server.arrivals().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn retries_of_it_go_on_while_items_are_taken() {
    let script = Script::of([Reply::Serve, Reply::unavailable(), Reply::Serve]);
    let server = shelf(8, script);
    let mut list = client(server.channel()).list_assets_paged(sized(4)).prefetch();
    for _ in 0..4 {
        list.next().await.unwrap().unwrap();
        sleep(ms(100)).await;
    }
    // The failure is seen at 100 ms, when the next item is taken.
    assert_eq!(server.seen().iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 0, 300]);
    let next = timeout(ms(1), list.next()).await.expect("it is there");
    assert_eq!(next.unwrap().unwrap().name, "4");
}

#[tokio::test(start_paused = true)]
async fn to_drop_it_cancels_the_page_ahead() {
    let server = shelf(6, Script::of([Reply::Serve, Reply::Hang]));
    let mut list = client(server.channel()).list_assets_paged(sized(2)).prefetch();
    list.next().await.unwrap().unwrap();
    sleep(ms(50)).await;
    assert_eq!(server.log().open(), 1);
    drop(list);
    sleep(ms(1)).await;
    assert_eq!(server.log().open(), 0);
    assert_eq!(server.arrivals()[1].gone, Some(ms(50)));
}
