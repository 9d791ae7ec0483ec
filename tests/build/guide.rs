//! The guide's pages as documentation tests.

use std::fs;
use std::path::Path;

/// A page as rustdoc reads it: the code of the comments `setup` and `teardown` around a block becomes hidden lines of the block.
fn with_hidden_lines(page: &str) -> String {
    let (mut text, mut setup) = (String::new(), None::<String>);
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(code) = comment(line, "setup") {
            setup = Some(code);
            continue;
        }
        let teardown = lines.next_if(|next| line == "```" && comment(next, "teardown").is_some());
        text.push_str(&teardown.and_then(|next| comment(next, "teardown")).unwrap_or_default());
        // Functions in the setup need what the block imports.
        if !["```rust", "use "].iter().any(|start| line.starts_with(start)) {
            text.push_str(&setup.take().unwrap_or_default());
        }
        text.extend([line, "\n"]);
    }
    text
}

/// The hidden line of a comment with this name.
fn comment(line: &str, name: &str) -> Option<String> {
    let code = line.strip_prefix("<!-- ")?.strip_prefix(name)?.strip_prefix(": ")?.strip_suffix(" -->")?;
    Some(format!("# {code}\n"))
}

/// Writes each page, and a module that has it as its documentation, for `src/guide.rs`.
pub(crate) fn write(pages: &Path, out: &Path) -> std::io::Result<()> {
    let folder = out.join("guide");
    fs::create_dir_all(&folder)?;
    println!("cargo::rerun-if-changed={}", pages.display());
    let mut modules = Vec::new();
    let mut paths = Vec::new();
    for folder in [pages, &pages.join("reference")] {
        for entry in fs::read_dir(folder)? {
            paths.push(entry?.path());
        }
    }
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "md")) {
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        let page = folder.join(name).with_extension("md");
        fs::write(&page, with_hidden_lines(&fs::read_to_string(path)?))?;
        let page = page.display().to_string();
        modules.push(format!("#[doc = include_str!({page:?})]\nmod {} {{}}\n", name.replace('-', "_")));
    }
    fs::write(out.join("guide.rs"), modules.concat())
}
