//! Text from files, names and servers, as a terminal may have it.

use std::fmt::{self, Display, Write};

/// Prints a text in one line, with everything escaped that a terminal would act on instead of showing it.
/// An escape is that of Rust: `\u{1b}`, `\n`.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper around one value, made where it is printed")]
pub struct Escaped<T>(pub T);

impl<T: Display> Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaper(f), "{}", self.0)
    }
}

/// Returns whether a terminal would act on the character: a control character (C0, DEL, C1), one that turns the
/// direction of what follows, or one that ends a line.
#[must_use]
pub fn is_unprintable(c: char) -> bool {
    match c {
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    }
}

/// Escapes what is written through it.
struct Escaper<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl Write for Escaper<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for part in text.split_inclusive(is_unprintable) {
            let last = part.chars().next_back().filter(|c| is_unprintable(*c));
            self.0.write_str(part.strip_suffix(is_unprintable).unwrap_or(part))?;
            match last {
                Some(c @ ('\n' | '\r' | '\t')) => write!(self.0, "{}", c.escape_default())?,
                Some(c) => write!(self.0, "{}", c.escape_unicode())?,
                None => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_escaped() {
        for (text, shown) in [
            ("", ""),
            ("plain, é → 🙂\\", "plain, é → 🙂\\"),
            ("\u{1b}]0;PWNED\u{7}", r"\u{1b}]0;PWNED\u{7}"),
            ("a\r\n\tb\0", r"a\r\n\tb\u{0}"),
            ("\u{7f}\u{80}\u{9b}31m\u{9f}\u{a0}", "\\u{7f}\\u{80}\\u{9b}31m\\u{9f}\u{a0}"),
            ("\u{61c}\u{200e}\u{200f}", r"\u{61c}\u{200e}\u{200f}"),
            ("\u{2028}\u{2029}", r"\u{2028}\u{2029}"),
            ("\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}", r"\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}"),
            ("\u{2066}\u{2067}\u{2068}\u{2069}", r"\u{2066}\u{2067}\u{2068}\u{2069}"),
        ] {
            assert_eq!(Escaped(text).to_string(), shown);
        }
        assert_eq!(Escaped(format_args!("{}\u{1b}{}", 1, '\u{7}')).to_string(), r"1\u{1b}\u{7}");
    }

    #[test]
    fn what_debug_forms_print_is_harmless_too() {
        let every = ('\0'..=char::MAX).filter(|c| is_unprintable(*c)).collect::<String>();
        assert!(!format!("{every:?}").contains(is_unprintable));
    }
}
