//! The order of publishing that docs/contributing/releasing.md has.

use crate::machine::workspace;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The crates of the page's list, in its order.
fn written(page: &str) -> Vec<&str> {
    let (_, list) = page.split_once("after those that it depends on:").unwrap();
    let (list, _) = list.split_once('.').unwrap();
    list.split(',').map(str::trim).collect()
}

/// The faults of an order: each crate comes once, after those that it depends on.
fn problems(order: &[&str], published: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, needs) in published {
        let places: Vec<_> = order.iter().enumerate().filter(|(_, other)| *other == name).collect();
        let [(place, _)] = places[..] else {
            problems.push(format!("{name} comes {} times", places.len()));
            continue;
        };
        let late = needs.iter().filter(|needed| !order[..place].contains(&&***needed));
        problems.extend(late.map(|needed| format!("{name} comes before {needed}")));
    }
    let others = order.iter().filter(|name| !published.contains_key(**name));
    problems.extend(others.map(|name| format!("{name} is not published")));
    problems
}

#[test]
fn the_written_order_can_be_published() {
    let workspace = workspace().unwrap();
    let page = fs::read_to_string(workspace.root.join("docs/contributing/releasing.md")).unwrap();
    assert_eq!(problems(&written(&page), &workspace.published), [""; 0]);
    assert!(workspace.published.len() > 10, "{:?}", workspace.published);
}

#[test]
fn what_is_wrong_with_an_order_is_found() {
    let needs = |needs: &[&str]| needs.iter().map(|&name| name.to_owned()).collect();
    let published = BTreeMap::from([("a", needs(&[])), ("b", needs(&["a"])), ("c", needs(&["a"]))]);
    let published = published.into_iter().map(|(name, needs)| (name.to_owned(), needs)).collect();
    let order = written("after those that it depends on: b, a,\n  tests. And more.");
    assert_eq!(
        problems(&order, &published),
        ["b comes before a", "c comes 0 times", "tests is not published"]
    );
}
