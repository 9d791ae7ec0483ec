//! Packages, services and methods that have another name now.

use std::borrow::Cow;

/// An old name and the new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rename {
    old: String,
    new: String,
}

/// Reads `old.v1=new.v1`.
pub(super) fn rename(text: &str) -> Result<Rename, String> {
    let advice = "write what it was and what it is, such as example.v1=example.v2";
    let (old, new) = text.split_once('=').ok_or_else(|| format!("has no \"=\"; {advice}"))?;
    let (old, new) = (old.trim(), new.trim());
    let is_name = |name: &str| !name.is_empty() && !name.contains(['=', ' ', '*']);
    if !is_name(old) || !is_name(new) {
        return Err(format!("names nothing on one side; {advice}"));
    }
    if old.contains('/') != new.contains('/') {
        return Err("has a method on one side only; give a method's name on both, or on neither".to_owned());
    }
    Ok(Rename { old: old.to_owned(), new: new.to_owned() })
}

/// A service and a method.
pub(super) type Name<'n> = (Cow<'n, str>, Cow<'n, str>);

/// All of them; the first that fits counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Renames<'a>(pub(super) &'a [Rename]);

impl Renames<'_> {
    /// The present name of a method of the old table.
    pub(super) fn now<'n>(self, service: &'n str, method: &'n str) -> Name<'n> {
        self.moved(service, method, |rename| (&rename.old, &rename.new))
    }

    /// The former name of a method of the new table.
    pub(super) fn before<'n>(self, service: &'n str, method: &'n str) -> Name<'n> {
        self.moved(service, method, |rename| (&rename.new, &rename.old))
    }

    fn moved<'n>(
        self,
        service: &'n str,
        method: &'n str,
        ends: impl Fn(&Rename) -> (&String, &String),
    ) -> Name<'n> {
        if self.0.is_empty() {
            return (service.into(), method.into());
        }
        let name = format!("{service}/{method}");
        for (from, to) in self.0.iter().map(ends) {
            let rest = name.strip_prefix(from.as_str());
            if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with(['.', '/'])) {
                let moved = format!("{to}{rest}");
                let (service, method) = moved.split_once('/').unwrap_or((&moved, ""));
                return (service.to_owned().into(), method.to_owned().into());
            }
        }
        (service.into(), method.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_services_and_methods_are_renamed() {
        let renames = ["a.v1.S/Get=a.v2.S/Fetch", "a.v1=a.v2", "b.S=b.T"].map(|text| rename(text).unwrap());
        let renames = Renames(&renames);
        for (old, new) in [
            (("a.v1.S", "Get"), ("a.v2.S", "Fetch")),
            (("a.v1.S", "List"), ("a.v2.S", "List")),
            (("a.v1.S", ""), ("a.v2.S", "")),
            (("a.v10.S", "List"), ("a.v10.S", "List")),
            (("b.S", "Get"), ("b.T", "Get")),
            (("", ""), ("", "")),
        ] {
            assert_eq!(renames.now(old.0, old.1), (new.0.into(), new.1.into()), "{old:?}");
            assert_eq!(renames.before(new.0, new.1), (old.0.into(), old.1.into()), "{new:?}");
        }
    }

    #[test]
    fn what_renames_nothing_is_refused() {
        for text in ["a.v1", "=b", "a=", "a=b=c", "a.S/Get=a.T"] {
            assert!(rename(text).is_err(), "{text}");
        }
    }
}
