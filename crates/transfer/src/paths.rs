//! Paths of files that a server has named.

use std::path::{Path, PathBuf};

/// A name from a server that is not a path within a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsafeName {
    name: String,
    problem: &'static str,
}

impl UnsafeName {
    gax_text::getters! { self:
        /// The name as on the server.
        pub name: &str = &self.name;
    }
}

gax_text::error_text! { UnsafeName { name, problem }, "the name {name:?} is not a path within a folder: {problem}" }

/// Names that Windows has for devices, with whatever extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// The path of a file in that folder for a name from a server, for example the name of an object, whose slashes separate
/// folders.
///
/// The rules are the same on every system, so that no name means something else on another one. Windows accepts fewer names: a
/// file whose name has a `?` can't be written there.
///
/// # Errors
///
/// [`UnsafeName`]: the path would lead out of the folder, or means something else on some system. That is a name which is empty or
/// begins or ends with a slash, has a part that is empty, `.` or `..`, or has a backslash, a colon or a control character.
///
/// # Examples
///
/// ```
/// use std::path::Path;
/// use gax_transfer::path_within;
///
/// let folder = Path::new("backup");
/// assert_eq!(path_within(folder, "2026/cat.jpg")?, folder.join("2026").join("cat.jpg"));
/// assert!(path_within(folder, "../.ssh/authorized_keys").is_err());
/// assert!(path_within(folder, "/etc/passwd").is_err());
/// # Ok::<(), gax_transfer::UnsafeName>(())
/// ```
pub fn path_within(folder: &Path, name: &str) -> Result<PathBuf, UnsafeName> {
    match problem(name) {
        None => Ok(name.split('/').fold(folder.to_owned(), |path, part| path.join(part))),
        Some(problem) => Err(UnsafeName { name: name.to_owned(), problem }),
    }
}

fn problem(name: &str) -> Option<&'static str> {
    let of_all = [
        (name.is_empty(), "it is empty"),
        (name.chars().any(char::is_control), "it has a control character"),
        (name.contains('\\'), "it has a backslash"),
        (name.contains(':'), "it has a colon"),
    ];
    let of_all = of_all.into_iter().find_map(|(is_so, problem)| is_so.then_some(problem));
    of_all.or_else(|| name.split('/').find_map(of_part))
}

fn of_part(part: &str) -> Option<&'static str> {
    match part {
        "" => Some("a part of it is empty"),
        "." | ".." => Some("a part of it is `.` or `..`"),
        _ if part.ends_with(['.', ' ']) => Some("a part of it ends with a dot or a space"),
        _ => {
            let stem = part.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
            let is_numbered = |device: &str| {
                let mut number = stem.strip_prefix(device).unwrap_or_default().chars();
                // The superscripts are treated as digits.
                let is_digit = number
                    .next()
                    .is_some_and(|digit| digit.is_ascii_digit() || "\u{b9}\u{b2}\u{b3}".contains(digit));
                is_digit && number.next().is_none()
            };
            let is_device = DEVICES.contains(&&*stem) || is_numbered("com") || is_numbered("lpt");
            is_device.then_some("a part of it is the name of a device")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_never_leave_the_folder() {
        for name in [
            "",
            "/",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            "a/../b",
            "../a",
            "a/..",
            "a\\..\\b",
            "c:",
            "C:/a",
            "a\0b",
            "a\nb",
            "a/./b",
            "a.",
            "a /b",
            "nul",
            "NUL.txt",
            "x/com1",
            "lpt9.log",
            "COM\u{b2}.a",
            "CONIN$",
        ] {
            let error = path_within(Path::new("f"), name).unwrap_err();
            assert_eq!(error.name(), name);
        }
        for name in ["a", "a/b.c", "...a", ".hidden", "a..b", "\u{fc}", "com", "com10", "null", "auxiliary"] {
            let path = path_within(Path::new("f"), name).unwrap();
            assert!(path.starts_with("f"), "{name}");
            assert_eq!(path.components().count(), 1 + name.split('/').count(), "{name}");
        }
        let text = path_within(Path::new("f"), "../x").unwrap_err().to_string();
        assert_eq!(text, "the name \"../x\" is not a path within a folder: a part of it is `.` or `..`");
    }
}
