//! Examples in the documentation of what `tonic-gax` re-exports are written with the crate that programs depend on.

use crate::texts::texts;
use crate::{NOTHING, repository};
use std::collections::BTreeSet;
use std::fs;

/// The names that `tonic-gax` re-exports from `gax-retry` at its root.
fn re_exported() -> BTreeSet<String> {
    let root = fs::read_to_string(repository().join("src/lib.rs")).unwrap();
    let lists = root.split("\npub use gax_retry::{").skip(1);
    let names = lists.flat_map(|list| list.split_once('}').unwrap().0.split(',').map(str::trim));
    names.filter(|name| !name.is_empty()).map(ToOwned::to_owned).collect()
}

/// The imports from `gax-retry` in examples that need nothing of it but re-exported names.
fn imports(text: &str, re_exported: &BTreeSet<String>) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix("///"));
    let text = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    let is_re_exported = |names: &String| {
        let names = names.trim_matches(['{', '}']).split(',').map(str::trim).filter(|name| !name.is_empty());
        let mut roots = names.map(|name| name.split("::").next().unwrap_or_default());
        roots.all(|root| re_exported.contains(root))
    };
    let of_example = |example: &str| -> Vec<String> {
        let uses = example.split("use gax_retry::").skip(1);
        let names: Vec<_> = uses.filter_map(|rest| Some(rest.split_once(';')?.0.to_owned())).collect();
        if names.iter().all(is_re_exported) { names } else { Vec::new() }
    };
    text.split("```").flat_map(of_example).collect()
}

#[test]
fn examples_import_from_the_crate_that_programs_depend_on() {
    let re_exported = re_exported();
    assert!(re_exported.contains("RetrySettings") && re_exported.len() > 8, "{re_exported:?}");
    let files = texts("crates/retry/src", &[".rs"]).into_iter();
    let found: Vec<_> = files
        .flat_map(|(file, text)| {
            imports(&text, &re_exported).into_iter().map(move |names| format!("{file}: {names}"))
        })
        .collect();
    assert_eq!(found, NOTHING, "write: # use gax_retry as tonic_gax; and use tonic_gax::..");
}

#[test]
fn imports_are_found() {
    let names = BTreeSet::from(["Code".to_owned(), "presets".to_owned()]);
    let text = "/// ```\n/// use gax_retry::Code;\n    /// use gax_retry::{\n    ///     Code, presets,\n    /// };\n\
                /// use gax_retry::presets::Boto;\n/// ```\n/// ```\n/// use gax_retry::{Code, NoJitter};\n\
                /// use gax_retry::Code;\n/// ```\nuse gax_retry::Code;\n";
    assert_eq!(imports(text, &names), ["Code", "{ Code, presets, }", "presets::Boto"].map(str::to_owned));
}
