//! Rust source as far as the rules need it: names and signs, without comments, texts and tests.

use std::path::Path;

/// A name or a sign, and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// A file of a crate.
pub(crate) struct Module {
    /// Its path in the repository.
    pub(crate) file: String,
    /// Its path in the crate; none for the root.
    pub(crate) path: Vec<String>,
    pub(crate) tokens: Vec<Token>,
    /// How many lines it has, tests included.
    pub(crate) lines: usize,
}

impl Module {
    pub(crate) fn of(file: &str, text: &str) -> Self {
        let inner = file.split_once("src/").map_or(file, |(_, inner)| inner);
        let mut path: Vec<_> = inner.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        path.pop_if(|last| *last == "mod" || *last == "lib");
        let tokens = without_tests(&tokens(text));
        Self { file: file.to_owned(), path, tokens, lines: text.lines().count() }
    }

    /// The modules that are declared in it and have a file of their own.
    pub(crate) fn children(&self) -> impl Iterator<Item = &str> {
        self.tokens.windows(3).filter_map(|window| match window {
            [keyword, name, end] if keyword.text == "mod" && end.text == ";" => Some(&*name.text),
            _ => None,
        })
    }
}

/// All modules of the crate in that folder that are not for tests, its root first. `read` gives a file's text.
pub(crate) fn modules(folder: &str, read: &dyn Fn(&str) -> Option<String>) -> Vec<Module> {
    let mut found = Vec::new();
    let mut files = vec![format!("{folder}lib.rs")];
    while let Some(file) = files.pop() {
        let module = Module::of(&file, &read(&file).unwrap());
        let base = module.path.iter().fold(folder.to_owned(), |base, name| base + name + "/");
        for child in module.children() {
            let alone = format!("{base}{child}.rs");
            let has_file = read(&alone).is_some();
            files.push(if has_file { alone } else { format!("{base}{child}/mod.rs") });
        }
        found.push(module);
    }
    assert!(found.iter().all(|module| Path::new(&module.file).extension().is_some_and(|end| end == "rs")));
    found
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while !rest.is_empty() {
        let (length, is_token) = next(rest);
        let (token, after) = rest.split_at(length);
        if is_token {
            tokens.push(Token { text: token.to_owned(), line });
        }
        line += token.matches('\n').count();
        rest = after;
    }
    tokens
}

/// How long the next piece is, and whether it is a name or a sign.
fn next(text: &str) -> (usize, bool) {
    let through = |end: &str, from: usize| {
        let found = text.get(from..).and_then(|text| text.find(end));
        found.map_or(text.len(), |at| from + at + end.len())
    };
    if text.starts_with("//") {
        return (through("\n", 0), false);
    }
    if text.starts_with("/*") {
        return (through("*/", 2), false);
    }
    if let Some(raw) = text.strip_prefix("br").or_else(|| text.strip_prefix('r')) {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw.trim_start_matches('#').starts_with('"') {
            let start = text.len() - raw.len() + hashes + 1;
            return (through(&format!("\"{}", "#".repeat(hashes)), start), false);
        }
    }
    if let Some(inner) = text.strip_prefix('"') {
        let mut is_escaped = false;
        let end = inner.find(|letter| {
            let ends = letter == '"' && !is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            ends
        });
        return (end.map_or(text.len(), |end| end + 2), false);
    }
    if let Some(inner) = text.strip_prefix('\'') {
        if inner.starts_with('\\') {
            return (through("'", 3), false);
        }
        let letter = inner.chars().next().map_or(0, char::len_utf8);
        let is_letter = inner.get(letter..).is_some_and(|after| after.starts_with('\''));
        return (if is_letter { letter + 2 } else { 1 }, false);
    }
    let name = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    if name > 0 {
        return (name, true);
    }
    let sign = text.chars().next().unwrap();
    (sign.len_utf8(), !sign.is_whitespace())
}

/// The tokens that are not compiled for tests alone.
fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut rest = tokens;
    while let Some((first, after)) = rest.split_first() {
        match attribute(rest) {
            Some((attribute, after)) if is_for_tests(attribute) => rest = after_item(after),
            _ => {
                kept.push(first.clone());
                rest = after;
            }
        }
    }
    kept
}

/// The attribute that comes next, and what follows it.
fn attribute(tokens: &[Token]) -> Option<(&[Token], &[Token])> {
    let [hash, bracket, ..] = tokens else { return None };
    if hash.text != "#" || bracket.text != "[" {
        return None;
    }
    let mut depth = 0;
    let end = tokens.iter().position(|token| {
        depth += i32::from(token.text == "[") - i32::from(token.text == "]");
        depth == 0 && token.text == "]"
    })?;
    tokens.split_at_checked(end + 1)
}

fn is_for_tests(attribute: &[Token]) -> bool {
    let words: Vec<_> = attribute.iter().map(|token| &*token.text).collect();
    let is_all = words.get(2..6) == Some(&["cfg", "(", "all", "("]) && words.get(6) == Some(&"test");
    is_all || words.get(2..5) == Some(&["cfg", "(", "test"])
}

/// The tokens after an item, which ends with a semicolon or a block.
fn after_item(tokens: &[Token]) -> &[Token] {
    let mut depth = 0;
    let end = tokens.iter().position(|token| {
        match &*token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        depth == 0 && matches!(&*token.text, ";" | "}")
    });
    end.and_then(|end| tokens.get(end + 1..)).unwrap_or_default()
}

#[test]
fn comments_texts_and_tests_are_left_out() {
    let text = "a /* b */ \"c \\\" d\" 'e' '\\'' r#\"f \" g\"# h<'i> // j\n#[cfg(test)]\n#[expect(x)]\nmod k { l }\n\
                #[cfg(all(test, feature = \"m\"))]\nuse n;\n#[cfg(feature = \"o\")]\nmod p;\n#[cfg(test)]\nmod q;\nr";
    let module = Module::of("src/s/mod.rs", text);
    let names: Vec<_> = module.tokens.iter().filter(|token| token.text.len() == 1).collect();
    let letters: String = names.iter().map(|token| &*token.text).filter(|text| *text > "Z").collect();
    assert_eq!(letters.replace(['[', ']'], ""), "ahipr");
    assert_eq!((module.path.join("::"), module.children().collect::<Vec<_>>()), ("s".to_owned(), vec!["p"]));
    assert_eq!(module.tokens.last().unwrap().line, 11);
}
