//! Values under names.

/// Values with their names, in the order in which they came.
#[derive(Debug)]
pub(super) struct Definitions<T> {
    all: Vec<(String, T)>,
}

impl<T: PartialEq> Definitions<T> {
    pub(super) fn new() -> Self {
        Self { all: Vec::new() }
    }

    /// The name of a value, whatever it is; a value that has none gets this one, or one like it if that is
    /// another value's.
    pub(super) fn name_of(&mut self, value: T, name: &str) -> String {
        match self.all.iter().find(|(_, known)| *known == value) {
            Some((name, _)) => name.clone(),
            None => self.add(value, name),
        }
    }

    /// A name for a value: this one, or one like it if that is another value's.
    pub(super) fn add(&mut self, value: T, name: &str) -> String {
        let mut chosen = name.to_owned();
        let mut number = 1_u64;
        while let Some((_, known)) = self.all.iter().find(|(known, _)| *known == chosen) {
            if *known == value {
                return chosen;
            }
            number += 1;
            chosen = format!("{name}_{number}");
        }
        self.all.push((chosen.clone(), value));
        chosen
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.all.iter().map(|(name, value)| (name.as_str(), value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_one_value() {
        let mut definitions = Definitions::new();
        assert_eq!(definitions.add(1, "default"), "default");
        assert_eq!(definitions.add(2, "default"), "default_2");
        assert_eq!(definitions.add(3, "default"), "default_3");
        assert_eq!(definitions.add(2, "default"), "default_2");
        assert_eq!(definitions.add(2, "other"), "other");
        assert_eq!(definitions.name_of(3, "new"), "default_3");
        assert_eq!(definitions.name_of(4, "new"), "new");
        assert_eq!(definitions.iter().count(), 5);
    }
}
