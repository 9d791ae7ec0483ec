//! The order of a crate's modules: each knows only those of lower levels. `docs/contributing/architecture.md` lists it.

use crate::texts::texts;
use crate::{NOTHING, repository};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The levels of a crate's modules, the lowest first.
struct Order(Vec<Vec<String>>);

impl Order {
    /// The orders of the page, by the folders of the crates.
    fn read(page: &str) -> BTreeMap<String, Self> {
        let (_, section) = page.split_once("## The order of modules").unwrap();
        let block = section.split("```").nth(1).unwrap().trim_start_matches("text\n");
        let mut orders: BTreeMap<String, String> = BTreeMap::new();
        let mut folder = "";
        for line in block.lines() {
            // A line goes on where the next one is indented.
            let levels = match line.split_once(' ') {
                Some((name, levels)) if !name.is_empty() => {
                    folder = name;
                    levels
                }
                _ => line,
            };
            orders.entry(folder.to_owned()).or_default().push_str(levels);
        }
        let levels = |text: &str| {
            text.split('<').map(|level| level.split_whitespace().map(str::to_owned).collect()).collect()
        };
        orders.into_iter().map(|(folder, text)| (folder, Self(levels(&text)))).collect()
    }

    fn level(&self, module: &str) -> Option<usize> {
        self.0.iter().position(|level| level.iter().any(|name| name == module))
    }

    /// The names of a file that lead to a module which it may not know.
    fn broken(&self, root: &Root, file: &str, text: &str) -> Vec<String> {
        let path: Vec<&str> = file.split_once("src/").unwrap().1.trim_end_matches(".rs").split('/').collect();
        let Some((from, below)) = path.split_first() else { return Vec::new() };
        let depth = if below.last() == Some(&"mod") { below.len() } else { path.len() };
        let mut heads = BTreeSet::new();
        collect(text.parse().unwrap(), depth, &mut heads);
        let is_wrong = |head: &&String| {
            let to = match root.names.get(*head) {
                Some(to) if !root.modules.contains(*head) => Some(to).filter(|to| root.modules.contains(*to)),
                _ => Some(*head),
            };
            to.is_some_and(|to| {
                to != from && (self.level(to).is_none() || self.level(to) >= self.level(from))
            })
        };
        heads.iter().filter(is_wrong).map(|head| format!("{file}: `{from}` must not know `{head}`")).collect()
    }
}

/// What a crate's root declares.
#[derive(Default)]
struct Root {
    modules: BTreeSet<String>,
    /// The names that it re-exports, and the module or crate that they come from.
    names: BTreeMap<String, String>,
}

impl Root {
    fn of(text: &str) -> Self {
        let mut root = Self::default();
        let tokens: Vec<TokenTree> = text.parse::<TokenStream>().unwrap().into_iter().collect();
        for (place, token) in tokens.iter().enumerate() {
            let rest = tokens.get(place + 1..).unwrap_or_default();
            match (token.to_string().as_str(), rest) {
                ("mod", [name, end, ..]) if end.to_string() == ";" && name.to_string() != "tests" => {
                    root.modules.insert(name.to_string());
                }
                // A module in the root itself only re-exports.
                ("mod", [name, TokenTree::Group(_), ..]) => {
                    root.names.insert(name.to_string(), String::new());
                }
                ("use", [from, ..]) => {
                    let names = rest.iter().skip(1).take_while(|token| token.to_string() != ";");
                    let text = names.map(ToString::to_string).collect::<String>();
                    let names = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
                    root.names.extend(names.map(|name| (name.to_owned(), from.to_string())));
                }
                _ => {}
            }
        }
        root
    }
}

/// Returns whether the item after that attribute is compiled for tests alone.
fn is_for_tests(attribute: &TokenTree) -> bool {
    let text = attribute.to_string().replace(' ', "");
    text.starts_with("[cfg(test") || text.starts_with("[cfg(all(test")
}

/// Adds the first names, behind the crate's root, of all paths that begin with `crate` or with a `super` which leads there.
/// `depth` is how many modules the file is in. Tests are left out.
fn collect(tokens: TokenStream, depth: usize, heads: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = &*tokens;
    while let Some((token, after)) = rest.split_first() {
        rest = after;
        match token {
            TokenTree::Group(group) => {
                if is_for_tests(token) {
                    let ends = |token: &TokenTree| match token {
                        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                        token => token.to_string() == ";",
                    };
                    let end = rest.iter().position(ends).map_or(rest.len(), |end| end + 1);
                    rest = rest.get(end..).unwrap_or_default();
                } else {
                    collect(group.stream(), depth, heads);
                }
            }
            TokenTree::Ident(word) if *word == "crate" || *word == "super" => {
                let mut above = if *word == "super" { depth.saturating_sub(1) } else { 0 };
                while let [colon, _, next, after @ ..] = rest
                    && colon.to_string() == ":"
                {
                    rest = after;
                    match next {
                        TokenTree::Ident(word) if *word == "super" => above = above.saturating_sub(1),
                        TokenTree::Ident(name) if above == 0 => {
                            heads.insert(name.to_string());
                            break;
                        }
                        TokenTree::Group(group) if above == 0 => {
                            let members = group.stream().to_string();
                            heads.extend(firsts(&members).map(str::to_owned));
                            break;
                        }
                        _ => break,
                    }
                }
            }
            _ => {}
        }
    }
}

/// The first names of the members of a group of imports.
fn firsts(members: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    let members = members.split(move |letter: char| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        letter == ',' && depth == 0
    });
    members.filter_map(|member| member.split_whitespace().next()?.split(':').next())
}

#[test]
fn modules_know_only_those_below_them() {
    let page = fs::read_to_string(repository().join("docs/contributing/architecture.md")).unwrap();
    let orders = Order::read(&page);
    for (folder, order) in orders {
        let root = Root::of(&fs::read_to_string(repository().join(&folder).join("lib.rs")).unwrap());
        let listed: BTreeSet<_> = order.0.iter().flatten().cloned().collect();
        let unlike: Vec<_> = listed.symmetric_difference(&root.modules).collect();
        assert!(
            unlike.is_empty(),
            "docs/contributing/architecture.md lists other modules than {folder} has: {unlike:?}"
        );
        let files = texts(folder.trim_end_matches('/'), &[".rs"]);
        let is_test = |file: &str| file.ends_with("tests.rs") || file.contains("/tests/");
        let files = files.iter().filter(|(file, _)| !file.ends_with("src/lib.rs") && !is_test(file));
        let broken: Vec<_> = files.flat_map(|(file, text)| order.broken(&root, file, text)).collect();
        assert_eq!(broken, NOTHING, "the order of modules is in docs/contributing/architecture.md");
    }
}

#[test]
fn a_path_against_the_order_is_found() {
    let page = "## The order of modules\n\n```text\nother/   x < y\nsrc/     low < left right\n         < high\n```\n";
    let root = "mod high;\nmod left;\nmod low;\nmod right;\npub use high::{Roof, Tile};\npub use other::Thing;\n\
                #[cfg(test)]\nmod tests;\n";
    let (orders, root) = (Order::read(page), Root::of(root));
    let broken = |file: &str, text: &str| orders["src/"].broken(&root, file, text);
    for (file, text, wrong) in [
        ("src/low.rs", "use crate::high::Roof;", "src/low.rs: `low` must not know `high`"),
        ("src/low.rs", "use crate::{low::A, left::{B, C}};", "src/low.rs: `low` must not know `left`"),
        ("src/left/a.rs", "use super::super::right::A;", "src/left/a.rs: `left` must not know `right`"),
        ("src/left.rs", "use crate::gone::A;", "src/left.rs: `left` must not know `gone`"),
    ] {
        assert_eq!(broken(file, text), [wrong], "{text}");
    }
    for (file, text) in [
        ("src/left/a.rs", "use super::b::high; use crate::low::A; use crate::left::b; use crate::Thing;"),
        ("src/low.rs", "fn f() {} // crate::high\n#[cfg(test)]\nmod tests { use crate::high::Roof; }"),
    ] {
        assert_eq!(broken(file, text), NOTHING, "{text}");
    }
}
