//! A table for people.

use crate::command::table::view::MethodView;
use crate::failure::Failure;
use crate::render::HEAD;
use gax_text::Escaped;
use std::collections::HashMap;
use std::io::Write;

/// Writes the methods, those of which the table says the same together.
pub(super) fn render(methods: &[MethodView<'_>], out: &mut dyn Write) -> Result<(), Failure> {
    let mut groups: Vec<Vec<&MethodView<'_>>> = Vec::new();
    // Per entry, and what stands beside it, the number of the group.
    let mut numbers: HashMap<(Option<usize>, Vec<String>), usize> = HashMap::new();
    for method in methods {
        let number = *numbers.entry((method.entry(), method.sentences())).or_insert(groups.len());
        match groups.get_mut(number) {
            Some(group) => group.push(method),
            None => groups.push(vec![method]),
        }
    }
    for group in groups {
        for method in &group {
            writeln!(out, "{HEAD}{}{HEAD:#}", Escaped(method.name()))?;
        }
        if let Some(method) = group.first() {
            writeln!(out, "{method}")?;
        }
    }
    Ok(())
}
