//! The fields of one object, found by name.

use super::scalar::Values;
use crate::document::{Kind, Member, Node, Source, Span};
use crate::{Dialect, TableError};
use gax_text::closest;

impl Values<'_> {
    /// The members of an object (`what` it is, such as "a retry policy") that have these names, in lower camel case. A
    /// name in snake case is the same field, as in protobuf's JSON form; `null` is treated as absent.
    pub(crate) fn find<'n, const N: usize>(
        &self,
        node: &'n Node,
        what: &str,
        names: [&str; N],
    ) -> Result<[Option<&'n Node>; N], TableError> {
        self.find_among(node, what, names, &[])
    }

    /// Like `find`, for an object that may have `others` as well, which are of no interest here.
    pub(crate) fn find_among<'n, const N: usize>(
        &self,
        node: &'n Node,
        what: &str,
        names: [&str; N],
        others: &[&str],
    ) -> Result<[Option<&'n Node>; N], TableError> {
        let Kind::Object(members) = &node.kind else {
            let problem = format!("is {}, but {} is an object", node.a_kind(), what);
            return Err(self.source.fault(node.span, &problem, "write an object in braces"));
        };
        let mut fields = [None; N];
        let mut spellings: [Option<&str>; N] = [None; N];
        for member in members {
            let is_exact = |name: &str| {
                *name == *member.key || (self.takes_snake_case() && snake_case(name) == *member.key)
            };
            let is_any =
                !names.iter().chain(others).any(|name| is_exact(name)) && self.dialect != Dialect::GaxJava;
            let slot = names
                .iter()
                .zip(fields.iter_mut().zip(&mut spellings))
                .find(|(name, _)| is_exact(name) || is_any && name.eq_ignore_ascii_case(&member.key));
            if let (Some((name, _)), true, Dialect::Grpc) = (&slot, is_any, self.dialect) {
                let problem = "is a field for grpc-go alone, which takes upper case for lower case";
                return Err(self.source.fault(member.key_span, problem, format!("write {name:?}")));
            }
            let Some((name, (slot, spelling))) = slot else {
                if !others.contains(&&*member.key) {
                    self.unknown(member, what, &names)?;
                }
                continue;
            };
            match spelling {
                Some(first) if **first != *member.key && self.dialect == Dialect::GaxJava => {
                    let problem = format!("is the same field as {first:?}");
                    return Err(self.source.fault(member.key_span, &problem, "keep one of the two"));
                }
                Some(_) => self.twice(member)?,
                None => self.spelling(member, name),
            }
            *spelling = Some(&member.key);
            *slot = match member.value.kind {
                Kind::Null => {
                    self.null(member)?;
                    None
                }
                _ => Some(&member.value),
            };
        }
        Ok(fields)
    }

    fn unknown(&self, member: &Member, what: &str, names: &[&str]) -> Result<(), TableError> {
        let problem = format!("is not a field of {what}");
        let help = || match closest(&member.key, names.iter().copied()) {
            Some(name) => format!("did you mean \"{name}\"?"),
            None => format!("it has {}", names.join(", ")),
        };
        if self.dialect == Dialect::GaxJava {
            return Err(self.source.fault(member.key_span, &problem, help()));
        }
        self.findings.push_with(|| {
            let message = format!("{} {problem}", self.source.excerpt(member.key_span));
            self.source.warning("unknown-field", member.key_span, message, help())
        });
        Ok(())
    }

    fn takes_snake_case(&self) -> bool {
        self.dialect != Dialect::Grpc
    }

    fn twice(&self, member: &Member) -> Result<(), TableError> {
        if self.dialect == Dialect::Grpc {
            return Err(duplicate_key(self.source, member));
        }
        let message = format!("{} occurs twice in one object", self.source.excerpt(member.key_span));
        let help = "the last one applies; remove the others";
        self.warn("duplicate-key", member.key_span, message, help);
        Ok(())
    }

    fn spelling(&self, member: &Member, name: &str) {
        if *member.key != *name && self.dialect == Dialect::AsWritten {
            let message = format!("{:?} is read as {name:?}", member.key);
            let who =
                if member.key.contains('_') { "gRPC itself does" } else { "gRPC's clients but grpc-go do" };
            let help = format!("write {name:?}: {who} not see the field");
            self.warn("snake-case-field", member.key_span, message, help);
        }
    }

    fn null(&self, member: &Member) -> Result<(), TableError> {
        match self.dialect {
            Dialect::GaxJava => {}
            Dialect::Grpc => {
                let problem = "is not a value in gRPC";
                return Err(self.source.fault(member.value.span, problem, "remove the field"));
            }
            Dialect::AsWritten => {
                let message = format!("{:?} is null, which is treated as absent", member.key);
                let help = "remove the field: grpc-java rejects the whole file";
                self.warn("null-value", member.key_span, message, help);
            }
        }
        Ok(())
    }
}

/// The error of a reader that refuses an object with a key twice.
pub(crate) fn duplicate_key(source: &Source, member: &Member) -> TableError {
    source.fault(member.key_span, "occurs twice in one object", "remove one of the two")
}

/// `initialBackoff` as `initial_backoff`.
fn snake_case(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(character.to_ascii_lowercase());
    }
    text
}

/// Where the key of a member stands: a better place to point at than the bracket that its value begins with.
pub(crate) fn key_span(object: &Node, value: &Node) -> Span {
    let member = object.members().iter().find(|member| std::ptr::eq(&raw const member.value, value));
    member.map_or(value.span, |member| member.key_span)
}

/// The members of an object under other names than these.
pub(crate) fn rest(node: &Node, names: &[&str]) -> Vec<Member> {
    let others = node
        .members()
        .iter()
        .filter(|member| !names.iter().any(|name| *member.key == **name || *member.key == *snake_case(name)));
    others.cloned().collect()
}
