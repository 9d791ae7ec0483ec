//! Every operation of some small policies, step by step: whatever happens, and whenever, it keeps its promises.
//!
//! A step is a fact (something happens to an attempt, or nothing does, at a time around the next boundary) and
//! all actions that follow. Operations that are alike are gone on with once. `GAX_EXPLORE_DEPTH` says how many
//! steps are made, six unless it is set.

#![expect(clippy::panic, reason = "a promise that is not kept ends the test")]

mod facts;
mod model;
mod subjects;

use facts::Fact;
use model::Run;
use std::collections::HashSet;
use std::fmt::Write as _;
use subjects::Subject;

/// The steps that are made where the environment does not say.
const DEPTH: usize = 6;

fn depth() -> usize {
    match std::env::var("GAX_EXPLORE_DEPTH") {
        Ok(text) => text.parse().expect("GAX_EXPLORE_DEPTH is a number of steps"),
        Err(_) => DEPTH,
    }
}

/// How many unlike operations a subject comes to.
fn explore(subject: &Subject, facts: &[Fact]) -> usize {
    let mut begun = Run::begin(subject);
    begun.go_on(subject).unwrap_or_else(|broken| panic!("{subject}: {broken}"));
    let mut visited = HashSet::from([begun.fingerprint()]);
    let mut frontier = vec![(begun, Vec::new())];
    for _ in 0..depth() {
        let mut reached = Vec::new();
        for (run, path) in &frontier {
            for (fact, attempt) in run.possible(subject, facts) {
                let mut next = run.clone();
                let result = next.happens(subject, fact, attempt);
                if let Err(broken) = result {
                    panic!("{subject}: {broken}\n{}", described(path, (fact, attempt)));
                }
                // After the end it is enough to see that nothing follows.
                if !run.is_finished() && visited.insert(next.fingerprint()) {
                    let mut path: Vec<_> = path.clone();
                    path.push((fact, attempt));
                    reached.push((next, path));
                }
            }
        }
        frontier = reached;
    }
    visited.len()
}

/// The facts that led there, one a line.
fn described(path: &[(Fact, Option<u32>)], last: (Fact, Option<u32>)) -> String {
    let mut text = String::new();
    for (fact, attempt) in path.iter().chain([&last]) {
        let _infallible = match attempt {
            Some(number) => writeln!(text, "    {fact:?}, attempt {number}"),
            None => writeln!(text, "    {fact:?}"),
        };
    }
    text
}

/// Explores all subjects with all facts, which at six steps come to more than `least` operations.
fn explore_all(kind: &str, subjects: &[Subject], facts: &[&[Fact]], least: usize) {
    let mut visited = 0;
    for subject in subjects {
        for facts in facts {
            assert!(facts.len() <= 12, "a dozen facts a step are enough");
            visited += explore(subject, facts);
        }
    }
    println!("{kind}: {visited} operations visited, {} subjects, {} steps", subjects.len(), depth());
    assert!(depth() != DEPTH || visited > least, "{kind}: only {visited} operations were visited");
}

#[test]
fn documented() {
    explore_all("documented", &subjects::documented(), &facts::ALL, 80_000);
}

#[test]
fn gax_java() {
    explore_all("gax-java", &subjects::gax_java(), &facts::ALL, 60_000);
}

#[test]
fn grpc() {
    explore_all("grpc", &subjects::grpc(), &facts::ALL, 45_000);
}

#[test]
fn strategies() {
    explore_all("strategies", &subjects::strategies(), &facts::ALL, 50_000);
}

#[test]
fn polls() {
    explore_all("polls", &subjects::polls(), &facts::ALL, 4_000);
}

#[test]
fn hedged() {
    explore_all("hedged", &subjects::hedged(), &facts::HEDGED, 60_000);
}
