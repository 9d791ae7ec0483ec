//! Names of accessors in Google's Java clients.

/// The words that are no names in Java, with a space between two of them.
const KEYWORDS: &str = "\
    _ abstract assert boolean break byte case catch char class const continue default do double else \
    enum extends false final finally float for goto if implements import instanceof int interface long \
    native new null package private protected public return short static strictfp super switch \
    synchronized this throw throws transient true try void volatile while";

/// A method's accessor in a Java client without its ending `Settings`: the first letter in lower case,
/// underscores gone, a letter after a digit or underscore in upper case; a keyword gets an underscore.
///
/// # Examples
///
/// ```
/// use gax_table::getter_name;
///
/// assert_eq!(getter_name("ListAssets"), "listAssets");
/// assert_eq!(getter_name("Get2things"), "get2Things");
/// assert_eq!(getter_name("Import"), "import_");
/// ```
#[must_use]
pub fn getter_name(method: &str) -> String {
    let mut name = String::with_capacity(method.len() + 1);
    let mut raise = false;
    for character in method.chars() {
        if character == '_' {
            raise = true;
            continue;
        }
        if name.is_empty() {
            name.extend(character.to_lowercase());
        } else if raise {
            name.extend(character.to_uppercase());
        } else {
            name.push(character);
        }
        raise = character.is_ascii_digit();
    }
    if KEYWORDS.split(' ').any(|keyword| keyword == name) {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_javas() {
        for (method, getter) in [
            ("GetIAMPolicy", "getIAMPolicy"),
            ("get_thing", "getThing"),
            ("_Get", "get"),
            ("Get_2x", "get2X"),
            ("Default", "default_"),
            ("", ""),
        ] {
            assert_eq!(getter_name(method), getter, "{method}");
        }
    }
}
