//! Files and folders side by side that know each other in a circle.

use crate::paths::{Crate, paths};
use crate::source::Module;
use std::collections::{BTreeMap, BTreeSet};

/// Which of a folder's files and folders knows which.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// The circles in each folder of a crate: the folder, and those that know each other, in order.
pub(crate) fn circles(modules: &[Module]) -> Vec<String> {
    let known = Crate::of(modules);
    let mut folders: BTreeMap<Vec<String>, Graph> = BTreeMap::new();
    for module in modules {
        for path in paths(module) {
            let to = known.module_of(&path.names);
            let shared = module.path.iter().zip(&to).take_while(|(one, other)| one == other).count();
            // A module may know what it is part of, and what is part of it.
            if let (Some(from), Some(to)) = (module.path.get(shared), to.get(shared)) {
                let folder = module.path.iter().take(shared).cloned().collect();
                let graph: &mut Graph = folders.entry(folder).or_default();
                graph.entry(from.clone()).or_default().insert(to.clone());
            }
        }
    }
    let circles = folders.iter().flat_map(|(folder, graph)| {
        let folder = if folder.is_empty() { "the root".to_owned() } else { folder.join("/") };
        groups(graph).into_iter().map(move |group| format!("{folder}: {}", group.join(", ")))
    });
    circles.collect()
}

/// Those that reach each other, in groups of two and more.
fn groups(graph: &Graph) -> Vec<Vec<String>> {
    let mut groups: BTreeSet<Vec<String>> = BTreeSet::new();
    for name in graph.keys() {
        let reached = reach(graph, name);
        let group = reached.iter().filter(|other| reach(graph, other).contains(name)).cloned();
        let group: Vec<String> = group.collect();
        if group.len() > 1 {
            groups.insert(group);
        }
    }
    groups.into_iter().collect()
}

fn reach(graph: &Graph, from: &str) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut next = vec![from.to_owned()];
    while let Some(name) = next.pop() {
        for other in graph.get(&name).into_iter().flatten() {
            if reached.insert(other.clone()) {
                next.push(other.clone());
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found_in_its_folder() {
        let modules = [
            Module::of("src/lib.rs", "mod a; mod z; pub use a::One;"),
            Module::of("src/a/mod.rs", "mod one; mod two; mod three; pub use one::One; pub use two::Two;"),
            Module::of("src/a/one.rs", "use super::Two; pub struct One(Two, crate::z::Z);"),
            Module::of("src/a/two.rs", "use super::three::Three;"),
            Module::of("src/a/three.rs", "fn f(one: crate::One) {}"),
            Module::of("src/z.rs", "pub struct Z; #[cfg(test)] mod tests { use crate::One; }"),
        ];
        assert_eq!(circles(&modules), ["a: one, three, two"]);
    }

    #[test]
    fn who_knows_whom_one_way_is_no_circle() {
        let modules = [
            Module::of("src/lib.rs", "mod a; mod b;"),
            Module::of("src/a/mod.rs", "mod one; mod two; pub struct Of(one::One);"),
            Module::of("src/a/one.rs", "use super::Of; use super::two::Two; use crate::b::B;"),
            Module::of("src/a/two.rs", "pub struct Two; impl Two { fn f(&self) { self::g() } }"),
            Module::of("src/b.rs", "pub struct B;"),
        ];
        assert_eq!(circles(&modules), [""; 0]);
    }
}
