//! The page of the catalogue, which is written from the table, and the names of tests in it.

use super::row::{Cell, Row, Section, suite_of};
use super::table::sections;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

const HEAD: &str = "\
# Misbehaviours of servers and proxies

<!-- written by `GAX_WRITE_PAGES=1 cargo test -p tonic-gax-tests --test end_to_end misbehaviours::page` from the table in tests/tests/faults/misbehaviours/table -->

Servers, proxies, resolvers and machines do the following, and a client has to survive it. Use the list as a source of tests for your own
programs: [the testing kit](../src/testing.md#faults-on-the-network) plays most of it. A new row gets a test for each client that it concerns. The
test compares the outcome with what the server really did: calls lost, calls done twice, outcomes reported wrongly, connections and files left behind.

The letters name the clients that a section concerns: **L** the layer over `Channel`, **G** generated clients, **K** either over
`gax_connection::Connection`, **H** the layer for HTTP clients, **T** transfers, **R** REST, **S** streams that resume and subscriptions, **C** credentials,
**B** batches, **O** long-running operations, **P** pages. The last column says which files of `tests/tests` play a row to them, or why none does.
`faults/misbehaviours/suite.rs` plays a row to twenty calls of each client: none is lost that the settings save, none is done twice that can't be
retried, no outcome is reported wrongly, all end within a few retry delays once the server is back, and no connection and no task is left. It plays
the rows to clients without retries, too, and what these lose stands in the column before the last.
";

/// The file of a test.
fn file(name: &str) -> String {
    let module = name.rsplit_once("::").map_or(name, |(module, _)| module);
    format!("{}.rs", module.replace("::", "/"))
}

/// The tests that play a row to its clients, and the reasons why some don't apply.
fn played(section: &Section, row: &Row) -> String {
    let mut parts: Vec<(String, String)> = Vec::new();
    for client in row.clients(section).chars() {
        for cell in row.of_client(client) {
            let text = match cell {
                Cell::Suite => format!("`{}`", file(suite_of(client))),
                Cell::Test(name) => format!("`{}`", file(name)),
                Cell::No(reason) => reason.to_owned(),
            };
            match parts.iter_mut().find(|(known, _)| *known == text) {
                Some((_, clients)) if !clients.contains(client) => clients.push(client),
                Some(_) => {}
                None => parts.push((text, client.to_string())),
            }
        }
    }
    let spaced = |clients: &str| clients.chars().map(String::from).collect::<Vec<_>>().join(" ");
    let parts: Vec<_> = parts.iter().map(|(text, clients)| format!("{}: {text}", spaced(clients))).collect();
    parts.join("; ")
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    for section in sections() {
        let Section { heading, about, second, clients, rows } = &section;
        let letters: Vec<_> = clients.chars().map(String::from).collect();
        let concerned = match *clients {
            super::row::ALL => "They concern all clients.".to_owned(),
            _ => format!("They concern {}, except where a row says otherwise.", letters.join(" ")),
        };
        let has_plain = rows.iter().any(|row| !row.plain.is_empty());
        let about = if about.is_empty() { concerned } else { format!("{concerned} {about}") };
        let (titles, lines) = if has_plain { (" a client without retries |", " --- |") } else { ("", "") };
        write!(page, "\n## {heading}\n\n{about}\n\n| behaviour | {second} |{titles} tests |\n| --- | --- |{lines} --- |\n").unwrap();
        for row in rows {
            let plain = if has_plain { format!(" {} |", row.plain) } else { String::new() };
            writeln!(page, "| {} | {} |{plain} {} |", row.behaviour, row.second, played(&section, row))
                .unwrap();
        }
    }
    page
}

#[test]
fn the_page_is_that_of_the_table() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/contributing/misbehaviours.md");
    let page = page();
    if std::env::var_os("GAX_WRITE_PAGES").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap();
    let differs = page.lines().zip(written.lines()).find(|(table, page)| table != page);
    assert!(page == written, "write the page again, as its second line says: {differs:?}");
}

#[test]
fn each_row_has_a_cell_for_each_client_that_it_concerns() {
    let mut wrong = Vec::new();
    for section in sections() {
        for row in &section.rows {
            let clients = row.clients(&section);
            let is_missing = |client: &char| row.of_client(*client).next().is_none();
            wrong.extend(
                clients.chars().filter(is_missing).map(|client| format!("{}: {client}", row.behaviour)),
            );
            let others =
                super::row::ALL.chars().filter(|client| !clients.contains(*client) && !is_missing(client));
            wrong.extend(others.map(|client| format!("{}: {client} is not concerned", row.behaviour)));
            if row.plain.is_empty() && section.about.is_empty() {
                wrong.push(format!("{}: what does a client without retries see?", row.behaviour));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The tests of this executable, without those that are ignored.
fn tests() -> BTreeSet<String> {
    let list = |arguments: &[&str]| {
        let listed = Command::new(std::env::current_exe().unwrap()).args(arguments).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        listed
            .lines()
            .filter_map(|line| Some(line.strip_suffix(": test")?.to_owned()))
            .collect::<BTreeSet<_>>()
    };
    let ignored = list(&["--list", "--ignored"]);
    let tests = list(&["--list"]);
    assert!(!tests.is_empty(), "this executable lists no tests");
    tests.difference(&ignored).cloned().collect()
}

#[test]
fn each_test_that_the_table_names_exists() {
    let (tests, mut missing) = (tests(), BTreeSet::new());
    for section in sections() {
        for row in &section.rows {
            for client in super::row::ALL.chars() {
                missing.extend(row.of_client(client).filter_map(|cell| match cell {
                    Cell::Suite => Some(suite_of(client)),
                    Cell::Test(name) => Some(name),
                    Cell::No(_) => None,
                }));
            }
        }
    }
    missing.retain(|name| !tests.contains(*name));
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}
