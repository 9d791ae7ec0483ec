//! The order of a crate's modules, and the paths that go against it.

use crate::paths::paths;
use crate::source::Module;
use std::collections::{BTreeMap, BTreeSet};

/// The levels of a crate's modules: a module knows those of lower levels.
pub(crate) struct Order {
    levels: Vec<Vec<String>>,
}

/// The declarations of a crate's root.
pub(crate) struct Root {
    modules: BTreeSet<String>,
    /// Names that the root re-exports, and what has them: a module, or another crate.
    names: BTreeMap<String, String>,
}

impl Order {
    /// The order of the crate in that folder, as the page has it.
    pub(crate) fn read(page: &str, folder: &str) -> Option<Self> {
        let (_, section) = page.split_once("## The order of modules")?;
        let block = section.split("```").nth(1)?;
        let (_, lines) = block.split_once(&format!("\n{folder} "))?;
        // The line goes on where the next one is indented.
        let more = |line: &&str| line.starts_with(' ');
        let mut lines = lines.lines();
        let first = lines.next()?.to_owned();
        let text = lines.take_while(more).fold(first, |text, line| text + line);
        let level = |level: &str| level.split_whitespace().map(str::to_owned).collect();
        Some(Self { levels: text.split('<').map(level).collect() })
    }

    fn level(&self, module: &str) -> Option<usize> {
        self.levels.iter().position(|level| level.iter().any(|name| name == module))
    }

    /// The modules that only one of the two has.
    pub(crate) fn unlike(&self, root: &Root) -> Vec<String> {
        let ours: BTreeSet<_> = self.levels.iter().flatten().cloned().collect();
        ours.symmetric_difference(&root.modules).cloned().collect()
    }
}

impl Root {
    pub(crate) fn of(module: &Module) -> Self {
        let tokens = &module.tokens;
        let mut root = Self { modules: BTreeSet::new(), names: BTreeMap::new() };
        let mut rest = &**tokens;
        while let Some((first, after)) = rest.split_first() {
            match (&*first.text, after) {
                ("mod", [name, ..]) if after.get(1).is_some_and(|end| end.text == ";") => {
                    root.modules.insert(name.text.clone());
                }
                ("use", [from, ..]) => {
                    let end = after.iter().position(|token| token.text == ";").unwrap_or(after.len());
                    for name in after.iter().take(end).skip(1) {
                        root.names.insert(name.text.clone(), from.text.clone());
                    }
                }
                _ => {}
            }
            rest = after;
        }
        root
    }
}

/// The paths of a module that lead to one that it may not know.
pub(crate) fn arrows(module: &Module, root: &Root, order: &Order) -> Vec<String> {
    let Some(from) = module.path.first() else { return Vec::new() };
    let mut wrong = Vec::new();
    for path in paths(module) {
        let Some(head) = path.names.first() else { continue };
        let name = root.names.get(head).filter(|_| !root.modules.contains(head));
        let to = name.unwrap_or(head);
        let is_elsewhere = to != from && (root.modules.contains(to) || name.is_none());
        if is_elsewhere && (order.level(to).is_none() || order.level(to) >= order.level(from)) {
            wrong.push(format!("{}:{}: `{from}` must not know `{to}`", module.file, path.line));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Page\n\n## The order of modules\n\nProse.\n\n```text\nother/   x < y\nsrc/     low < left right\n         < high\n```\n";
    const LIB: &str =
        "mod high;\nmod left;\nmod low;\nmod right;\npub use high::{Roof, Tile};\npub use other::Thing;\n";

    fn wrong(file: &str, text: &str) -> Vec<String> {
        let root = Root::of(&Module::of("src/lib.rs", LIB));
        let order = Order::read(PAGE, "src/").unwrap();
        assert!(order.unlike(&root).is_empty());
        arrows(&Module::of(file, text), &root, &order)
    }

    #[test]
    fn a_path_against_the_order_is_found() {
        for (file, text, place) in [
            ("src/low.rs", "use crate::high::Roof;", "src/low.rs:1: `low` must not know `high`"),
            ("src/low.rs", "\nuse crate::{low::A, left::B};", "src/low.rs:2: `low` must not know `left`"),
            ("src/low.rs", "fn f(roof: crate::Roof) {}", "src/low.rs:1: `low` must not know `high`"),
            ("src/left/a.rs", "use super::super::right::A;", "src/left/a.rs:1: `left` must not know `right`"),
            (
                "src/left/mod.rs",
                "use super::{low::A, high};",
                "src/left/mod.rs:1: `left` must not know `high`",
            ),
            (
                "src/left/b/c.rs",
                "fn f() { super::super::super::high::g() }",
                "src/left/b/c.rs:1: `left` must not know `high`",
            ),
            ("src/left.rs", "use crate::gone::A;", "src/left.rs:1: `left` must not know `gone`"),
        ] {
            assert_eq!(wrong(file, text), [place], "{text}");
        }
    }

    #[test]
    fn paths_with_the_order_are_not() {
        for (file, text) in [
            ("src/high.rs", "use crate::{left::{A, B}, low, right::C};"),
            ("src/left/a.rs", "use super::b::high; use crate::low::A; use crate::left::b; use crate::Thing;"),
            (
                "src/low.rs",
                "pub(crate) fn f() {} // crate::high\n#[cfg(test)]\nmod tests { use crate::high::Roof; }",
            ),
        ] {
            assert!(wrong(file, text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_module_that_the_page_leaves_out_is_found() {
        let root = Root::of(&Module::of("src/lib.rs", &format!("{LIB}mod new;")));
        assert_eq!(Order::read(PAGE, "src/").unwrap().unlike(&root), ["new"]);
        assert!(Order::read(PAGE, "none/").is_none());
    }
}
