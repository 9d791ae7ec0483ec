//! JSON, as far as bodies are looked into.

/// A JSON text from where its reader stands. Nothing is kept of what was read, and nesting that is passed over costs no stack.
///
/// Each function reads one value or one part of it. `None`: that is not JSON, or it ends early.
pub(super) struct Json<'a>(pub(super) &'a str);

impl Json<'_> {
    /// Calls `read` with the name of each member of an object, for it to read the value. Passes over any other value.
    pub(super) fn members(&mut self, mut read: impl FnMut(&mut Self, &str) -> Option<()>) -> Option<()> {
        if !self.takes('{') {
            return self.pass();
        }
        self.list('}', |json| {
            let name = json.name()?;
            read(json, &name)
        })
    }

    /// Calls `read` for each element of an array, for it to read that, or for a value that is no array.
    pub(super) fn elements(&mut self, mut read: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if self.takes('[') { self.list(']', read) } else { read(self) }
    }

    fn list(&mut self, end: char, mut read: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if self.takes(end) {
            return Some(());
        }
        loop {
            read(self)?;
            if self.takes(end) {
                return Some(());
            }
            self.requires(',')?;
        }
    }

    /// Passes over a value.
    pub(super) fn pass(&mut self) -> Option<()> {
        let mut open = Vec::new();
        loop {
            if self.takes('{') {
                open.push('}');
                if !self.is_at('}') {
                    self.name()?;
                    continue;
                }
            } else if self.takes('[') {
                open.push(']');
                if !self.is_at(']') {
                    continue;
                }
            } else if self.is_at('"') {
                self.text()?;
            } else {
                self.word()?;
            }
            loop {
                let Some(end) = open.last() else { return Some(()) };
                if self.takes(*end) {
                    open.pop();
                    continue;
                }
                self.requires(',')?;
                if *end == '}' {
                    self.name()?;
                }
                break;
            }
        }
    }

    /// The value of a text. Passes over any other value, which counts as an empty one.
    pub(super) fn text_or_other(&mut self) -> Option<String> {
        if self.is_at('"') { self.text() } else { self.pass().map(|()| String::new()) }
    }

    /// Returns whether a value is neither null nor an empty text. It is passed over.
    pub(super) fn holds_something(&mut self) -> Option<bool> {
        let value = self.0.trim_start_matches(WHITESPACE);
        self.pass()?;
        let value = value.strip_suffix(self.0)?;
        Some(!matches!(value, "null" | "\"\""))
    }

    /// Returns whether nothing but white space follows.
    pub(super) fn is_at_end(&self) -> bool {
        self.0.trim_start_matches(WHITESPACE).is_empty()
    }

    fn is_at(&mut self, sign: char) -> bool {
        self.0 = self.0.trim_start_matches(WHITESPACE);
        self.0.starts_with(sign)
    }

    fn takes(&mut self, sign: char) -> bool {
        let is_there = self.is_at(sign);
        self.0 = self.0.strip_prefix(sign).unwrap_or(self.0);
        is_there
    }

    fn requires(&mut self, sign: char) -> Option<()> {
        self.takes(sign).then_some(())
    }

    /// The name of a member, with the colon.
    fn name(&mut self) -> Option<String> {
        let name = self.text()?;
        self.requires(':')?;
        Some(name)
    }

    fn text(&mut self) -> Option<String> {
        self.requires('"')?;
        let mut text = String::new();
        loop {
            let end = self.0.find(|sign| matches!(sign, '"' | '\\' | '\0'..' '))?;
            text.push_str(self.0.get(..end)?);
            let mut rest = self.0.get(end..)?.chars();
            let sign = rest.next()?;
            self.0 = rest.as_str();
            match sign {
                '"' => return Some(text),
                '\\' => text.push(self.escaped()?),
                _ => return None,
            }
        }
    }

    /// The character behind a backslash.
    fn escaped(&mut self) -> Option<char> {
        let mut rest = self.0.chars();
        let sign = rest.next()?;
        self.0 = rest.as_str();
        Some(match sign {
            '"' | '\\' | '/' => sign,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let (digits, rest) = self.0.split_at_checked(4)?;
                self.0 = rest;
                let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
                let number = is_number.then(|| u32::from_str_radix(digits, 16).ok())??;
                // Half of a surrogate pair: nothing that is looked for has one.
                char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return None,
        })
    }

    /// Passes over a number, `true`, `false` or `null`.
    fn word(&mut self) -> Option<()> {
        let is_outside = |sign: char| !sign.is_ascii_alphanumeric() && !matches!(sign, '+' | '-' | '.');
        let (word, rest) = self.0.split_at(self.0.find(is_outside).unwrap_or(self.0.len()));
        self.0 = rest;
        (matches!(word, "null" | "true" | "false") || is_number(word)).then_some(())
    }
}

const WHITESPACE: [char; 4] = [' ', '\t', '\r', '\n'];

fn is_number(word: &str) -> bool {
    let word = word.strip_prefix('-').unwrap_or(word);
    let (number, exponent) = word.split_once(['e', 'E']).unwrap_or((word, "0"));
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    [whole, decimals, exponent].into_iter().all(is_digits) && (whole == "0" || !whole.starts_with('0'))
}

/// Returns whether a text is digits alone, one at least.
pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    fn is_json(text: &str) -> bool {
        let mut json = Json(text);
        json.pass().is_some() && json.is_at_end()
    }

    #[test]
    fn what_is_json_is_what_serde_takes_for_it() {
        for text in [
            "",
            " ",
            "null",
            " tru",
            "true false",
            "nul1",
            "0",
            "-0.0e+1",
            "01",
            "-",
            "1.",
            ".1",
            "1e",
            "1e5",
            "+1",
            "0x1",
            "[]",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[1,2]]",
            "[[],[[]]]",
            "[}",
            "{}",
            "{\"a\":1,}",
            "{\"a\" :1 , \"b\": {}}",
            "{\"a\"}",
            "{a:1}",
            "{\"a\":1 \"b\":2}",
            "\"\\u00e9\\n\\/\"",
            "\"\\x\"",
            "\"\\u+123\"",
            "\"\\u12\"",
            "\"\n\"",
            "\"\u{7f}é\"",
            "\"a",
            "\u{a0}1",
            "[{\"a\":[{}]},\"\",-1.5E-7]\n",
        ] {
            assert_eq!(is_json(text), serde_json::from_str::<IgnoredAny>(text).is_ok(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_made_of_its_signs_is_judged_as_serde_judges_it(text in "[\\[\\]{}:,\"\\\\u0-1.eE+ a-]{0,12}") {
            prop_assert_eq!(is_json(&text), serde_json::from_str::<IgnoredAny>(&text).is_ok());
        }
    }

    #[test]
    fn texts_are_read_with_their_escapes() {
        assert_eq!(Json(r#""a\u0062\"\\é\ud83d""#).text().as_deref(), Some("ab\"\\é\u{fffd}"));
    }
}
