//! The paths in a module, and where they lead.

use crate::source::{Module, Token};
use std::collections::BTreeMap;

/// A path from the crate's root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CratePath {
    pub(crate) names: Vec<String>,
    /// The name that an import gives it: its last one, if it says no other.
    alias: String,
    pub(crate) line: usize,
}

/// Every path of a module that begins with `crate`, `super` or `self`, those of groups one by one.
pub(crate) fn paths(module: &Module) -> Vec<CratePath> {
    let mut found = Vec::new();
    let mut rest = &*module.tokens;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let Some((mut start, mut inner)) = start(module, &first.text).zip(after_colons(rest)) else {
            continue;
        };
        while let Some((_, after)) = inner.split_first().filter(|(token, _)| token.text == "super") {
            start.pop();
            inner = after_colons(after).unwrap_or_default();
        }
        rest = expand(inner, &start, &mut found);
    }
    found
}

/// Where a path begins that starts with that word.
fn start(module: &Module, word: &str) -> Option<Vec<String>> {
    match word {
        "crate" => Some(Vec::new()),
        "self" => Some(module.path.clone()),
        "super" => Some(module.path.split_last()?.1.to_vec()),
        _ => None,
    }
}

fn after_colons(tokens: &[Token]) -> Option<&[Token]> {
    match tokens {
        [first, second, after @ ..] if first.text == ":" && second.text == ":" => Some(after),
        _ => None,
    }
}

/// Adds the paths that go on after these names. Returns what follows them.
fn expand<'a>(tokens: &'a [Token], before: &[String], found: &mut Vec<CratePath>) -> &'a [Token] {
    let Some((first, mut rest)) = tokens.split_first() else { return tokens };
    if first.text == "{" {
        loop {
            rest = expand(rest, before, found);
            match rest.split_first() {
                Some((token, after)) if token.text == "," => rest = after,
                Some((token, after)) if token.text == "}" => return after,
                _ => return rest,
            }
        }
    }
    if !first.text.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_' || letter == '*') {
        return tokens;
    }
    let mut names = before.to_vec();
    if first.text != "self" {
        names.push(first.text.clone());
    }
    match after_colons(rest) {
        Some(inner) if inner.first().is_some_and(|token| token.text != "<") => expand(inner, &names, found),
        _ => {
            let mut alias = names.last().cloned().unwrap_or_default();
            if let [keyword, name, after @ ..] = rest
                && keyword.text == "as"
            {
                (alias, rest) = (name.text.clone(), after);
            }
            found.push(CratePath { names, alias, line: first.line });
            rest
        }
    }
}

/// The modules of a crate, and what they re-export.
pub(crate) struct Crate {
    /// Per module the names that it imports, and where they come from.
    imports: BTreeMap<Vec<String>, BTreeMap<String, Vec<String>>>,
}

impl Crate {
    pub(crate) fn of(modules: &[Module]) -> Self {
        Self { imports: modules.iter().map(|module| (module.path.clone(), imports(module))).collect() }
    }

    /// The module that has what a path names. Names that are re-exported lead further.
    pub(crate) fn module_of(&self, path: &[String]) -> Vec<String> {
        let mut at = Vec::new();
        let mut names = path.to_vec();
        // More steps than any path takes, should names lead in a circle.
        for _ in 0..64 {
            if names.is_empty() {
                break;
            }
            let name = names.remove(0);
            let inner: Vec<String> = at.iter().chain([&name]).cloned().collect();
            if self.imports.contains_key(&inner) {
                at = inner;
            } else if let Some(from) = self.imports.get(&at).and_then(|imports| imports.get(&name)) {
                names.splice(..0, from.clone());
                at = Vec::new();
            } else {
                break;
            }
        }
        at
    }
}

/// A module's imports from its crate, by the names that it gives them.
fn imports(module: &Module) -> BTreeMap<String, Vec<String>> {
    let mut found = Vec::new();
    let children: Vec<&str> = module.children().collect();
    let mut rest = &*module.tokens;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let Some((head, inner)) = after.split_first().filter(|_| first.text == "use") else { continue };
        match start(module, &head.text) {
            Some(mut start) => {
                let mut inner = after_colons(inner).unwrap_or_default();
                while let Some((_, after)) = inner.split_first().filter(|(token, _)| token.text == "super") {
                    start.pop();
                    inner = after_colons(after).unwrap_or_default();
                }
                rest = expand(inner, &start, &mut found);
            }
            None if children.contains(&&*head.text) => rest = expand(after, &module.path, &mut found),
            None => {}
        }
    }
    found.into_iter().map(|path| (path.alias, path.names)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(file: &str, text: &str) -> Vec<String> {
        paths(&Module::of(file, text)).iter().map(|path| path.names.join("::")).collect()
    }

    #[test]
    fn groups_are_taken_apart() {
        let text = "use crate::{a::{self, b::C as D}, e::*};\nfn f() { super::g::h::<T>(self::i::J) }";
        assert_eq!(names("src/x/y.rs", text), ["a", "a::b::C", "e::*", "x::g::h", "x::y::i::J"]);
        assert_eq!(names("src/x/y.rs", "use super::super::z;"), ["z"]);
        assert_eq!(names("src/x/mod.rs", "pub(crate) fn f(self, n: super::Name) {}"), ["Name"]);
    }

    #[test]
    fn names_that_are_re_exported_lead_further() {
        let modules = [
            Module::of("src/lib.rs", "mod a; mod c; pub use a::{B, D as E}; pub use std::fmt;"),
            Module::of("src/a/mod.rs", "mod b; mod d; pub use b::B; pub(crate) use self::d::D;"),
            Module::of("src/a/b.rs", "pub struct B;"),
            Module::of("src/a/d.rs", "pub use crate::c::D;"),
            Module::of("src/c.rs", "pub struct D;"),
        ];
        let of = |path: &str| {
            let path: Vec<String> = path.split("::").map(str::to_owned).collect();
            Crate::of(&modules).module_of(&path).join("::")
        };
        assert_eq!((of("B"), of("a::b::B")), ("a::b".to_owned(), "a::b".to_owned()));
        assert_eq!((of("E"), of("a::D")), ("c".to_owned(), "c".to_owned()));
        assert_eq!((of("a::Other"), of("fmt")), ("a".to_owned(), String::new()));
    }
}
