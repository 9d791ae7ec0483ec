//! A doc comment, line by line.

use gax_text::Escaped;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

/// The lines of a doc comment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DocLines(Vec<String>);

impl DocLines {
    /// A comment of one line.
    pub(crate) fn new(line: impl Into<String>) -> Self {
        Self(vec![line.into()])
    }

    /// Adds a paragraph, list or table, after an empty line where something is before it.
    pub(crate) fn block(mut self, lines: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut lines = lines.into_iter().map(Into::into).peekable();
        if !self.0.is_empty() && lines.peek().is_some() {
            self.0.push(String::new());
        }
        self.0.extend(lines);
        self
    }

    #[cfg(test)]
    pub(crate) fn into_lines(self) -> Vec<String> {
        self.0
    }
}

impl ToTokens for DocLines {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        for line in &self.0 {
            // Whatever a table or a proto holds: Rust refuses bare returns and text that runs the other way.
            let line = Escaped(line.replace('\t', "    "));
            let line = if line.0.is_empty() { String::new() } else { format!(" {line}") };
            tokens.extend(quote!(#[doc = #line]));
        }
    }
}
