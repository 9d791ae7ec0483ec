//! All cells, compared with the table, and the table with the guide's page.
#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use super::cell::{Kind, Stage};
use super::fault::Fault;
use super::rows::{Cells, groups, rows};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use tokio::task::JoinSet;

/// The letters of a row, by kind: what is expected, and where a pair does not apply, the reason.
fn expected(cells: &Cells, is_reqwest: bool) -> Option<(&Fault, Vec<String>)> {
    let Cells::Play(fault, results) = cells else { return None };
    let (letters, _) = results.split_once(' ').unwrap_or((results, ""));
    let (hyper, reqwest) = letters.split_once('/').unwrap_or((letters, letters));
    let letters = if is_reqwest { reqwest } else { hyper };
    Some((fault, letters.chars().map(String::from).collect()))
}

/// The cells of some kinds: the row, the kind, the fault, and the result.
fn cells(kinds: &[Kind], is_reqwest: bool) -> Vec<(&'static str, Kind, Fault, String)> {
    let mut cells = Vec::new();
    for row in &rows() {
        let side = if kinds == Kind::UPLOADS { &row.uploads } else { &row.downloads };
        let Some((fault, letters)) = expected(side, is_reqwest) else { continue };
        assert_eq!(letters.len(), kinds.len(), "{}", row.name);
        let played = kinds.iter().zip(letters).filter(|(_, letter)| letter != "-");
        cells.extend(played.map(|(kind, letter)| (row.name, *kind, fault.clone(), letter)));
    }
    cells
}

/// The cells that ended otherwise than expected.
#[derive(Default)]
struct Wrong(BTreeMap<String, String>);

impl Wrong {
    fn note(&mut self, row: &str, kind: Kind, expected: &str, seen: &str) {
        if seen != expected {
            let line = self.0.entry(row.to_owned()).or_default();
            write!(line, "\n    {kind:?}: {expected} -> {seen}").unwrap();
        }
    }

    fn assert(self) {
        let lines: Vec<_> = self.0.iter().map(|(row, line)| format!("\n{row}{line}")).collect();
        assert!(lines.is_empty(), "cells that ended otherwise:{}", lines.concat());
    }
}

async fn over_hyper(kinds: &[Kind]) {
    let mut wrong = Wrong::default();
    for (row, kind, fault, expected) in cells(kinds, false) {
        wrong.note(row, kind, &expected, &Stage::over_hyper(kind, &fault).await);
    }
    wrong.assert();
}

async fn over_reqwest(kinds: &[Kind]) {
    let (mut wrong, mut running, mut left) =
        (Wrong::default(), JoinSet::new(), cells(kinds, true).into_iter());
    loop {
        while running.len() < 8
            && let Some((row, kind, fault, expected)) = left.next()
        {
            running.spawn(async move { (row, kind, expected, Stage::over_reqwest(kind, &fault).await) });
        }
        let Some(ended) = running.join_next().await else { break };
        let (row, kind, expected, seen) = ended.unwrap();
        wrong.note(row, kind, &expected, &seen);
    }
    wrong.assert();
}

#[tokio::test(start_paused = true)]
async fn uploads_meet_every_misbehaviour_over_hyper() {
    over_hyper(&Kind::UPLOADS).await;
}

#[tokio::test]
async fn uploads_meet_every_misbehaviour_over_reqwest() {
    over_reqwest(&Kind::UPLOADS).await;
}

#[tokio::test(start_paused = true)]
async fn downloads_meet_every_misbehaviour_over_hyper() {
    over_hyper(&Kind::DOWNLOADS).await;
}

#[tokio::test]
async fn downloads_meet_every_misbehaviour_over_reqwest() {
    over_reqwest(&Kind::DOWNLOADS).await;
}

#[test]
fn the_rows_are_those_of_the_page_and_each_pair_that_does_not_apply_says_why() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/contributing/misbehaviours.md");
    let page = std::fs::read_to_string(page).unwrap();
    for (heading, rows) in groups() {
        let section = page.split("\n## ").find(|section| section.starts_with(heading)).unwrap();
        let names = section.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
        let names: Vec<_> = names.filter(|name| !["behaviour", "---"].contains(name)).collect();
        assert_eq!(names, rows.iter().map(|row| row.name).collect::<Vec<_>>(), "{heading}");
    }
    for row in rows() {
        for cells in [&row.uploads, &row.downloads] {
            let (Cells::Play(_, results) | Cells::No(results)) = cells;
            let is_partial = matches!(cells, Cells::No(_)) || results.contains('-');
            assert!(!is_partial || results.contains(' '), "{}: why does it not apply?", row.name);
        }
    }
}
