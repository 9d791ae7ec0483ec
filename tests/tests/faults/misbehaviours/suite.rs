//! The rows of connections, played to each client: nothing is lost that the settings save, nothing is done twice that can't be retried, nothing is
//! reported wrongly, and nothing is left. A client without retries shows how harmful a row is.

use super::clients::Client;
use super::row::{Cell, Row};
use super::table::sections;
use tonic_gax_tests::virtual_time;

/// The rows of the suite that concern a client.
fn rows() -> Vec<Row> {
    sections().into_iter().flat_map(|section| section.rows).filter(|row| row.trouble.is_some()).collect()
}

fn play(letter: char) {
    let mut broken = Vec::new();
    for row in rows() {
        let is_played = row.of_client(letter).any(|cell| cell == Cell::Suite);
        let Some(trouble) = row.trouble.filter(|_| is_played) else { continue };
        for client in Client::of(letter).iter().filter(|client| trouble.concerns(**client)) {
            let seen = virtual_time().block_on(trouble.play(*client));
            let promises = seen.broken(*client, &trouble);
            broken.extend(promises.iter().map(|promise| format!("{}, {client:?}: {promise}", row.behaviour)));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn layer() {
    play('L');
}

#[test]
fn generated_clients() {
    play('G');
}

#[test]
fn connections() {
    play('K');
}

#[test]
fn http() {
    play('H');
}

#[test]
fn transfers() {
    play('T');
}

#[test]
fn rest() {
    play('R');
}

#[test]
fn streams() {
    play('S');
}

#[test]
fn credentials() {
    play('C');
}

#[test]
fn batches() {
    play('B');
}

#[test]
fn operations() {
    play('O');
}

#[test]
fn pages() {
    play('P');
}

/// Where a row says so, and nowhere else.
#[test]
fn clients_without_retries_lose_calls() {
    for row in rows() {
        let Some(trouble) = row.trouble.filter(|_| !row.plain.is_empty()) else { continue };
        let mut lost = 0;
        for client in Client::PLAIN.into_iter().filter(|client| trouble.concerns(*client)) {
            lost += virtual_time().block_on(trouble.play(client)).lost();
        }
        assert_eq!(
            lost > 0,
            row.plain.starts_with("loses calls"),
            "{}: {lost} calls are lost",
            row.behaviour
        );
    }
}

/// The suite notices calls that are lost.
#[test]
fn a_client_without_retries_breaks_promises() {
    let row = rows().into_iter().find(|row| row.behaviour == "accepted and closed at once");
    let trouble = row.unwrap().trouble.unwrap();
    let seen = virtual_time().block_on(trouble.play(Client::PlainGrpc));
    let broken = seen.broken(Client::Layer, &trouble);
    assert!(broken.iter().any(|promise| promise.contains(" is lost: ")), "{broken:?}");
}
