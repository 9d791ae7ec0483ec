//! Which methods only read, by their names alone, measured on names of RPCs whose effect is known.

use crate::MethodDescription;
use crate::lint::action::Action;
use gax_retry::MethodKind;

const METHODS: &str = include_str!("data/methods.txt");

/// A method of the list: its part, its name, whether it reads, and what is said of it.
struct Judged<'a> {
    part: &'a str,
    name: &'a str,
    reads: bool,
    action: Action,
}

fn judged() -> Vec<Judged<'static>> {
    let (mut part, mut all) = ("", Vec::new());
    for line in METHODS.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            part = title;
        } else if let Some((label, names)) = line.split_once(": ").filter(|_| !line.starts_with('#')) {
            assert!(["read", "write"].contains(&label), "{line}");
            for name in names.split(' ') {
                let streams = name.starts_with('>');
                let kind = if streams { MethodKind::ServerStreaming } else { MethodKind::Unary };
                let name = name.trim_start_matches('>');
                let action = Action::of(&MethodDescription::new(name, kind));
                all.push(Judged { part, name, reads: label == "read", action });
            }
        }
    }
    all
}

impl Judged<'_> {
    fn is_decided(&self) -> bool {
        self.action != Action::Unknown
    }

    fn is_right(&self) -> bool {
        (self.action == Action::Read) == self.reads
    }
}

#[test]
fn no_write_is_taken_for_a_read() {
    let wrong: Vec<_> = judged()
        .into_iter()
        .filter(|method| !method.reads && method.action == Action::Read)
        .map(|method| method.name)
        .collect();
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn most_methods_are_decided_and_nearly_all_of_them_right() {
    let all = judged();
    let is_annotated = |method: &&Judged<'_>| method.part == "annotated";
    let is_by_hand =
        |method: &&Judged<'_>| !method.part.contains("that look like") && !method.part.contains("words of");
    let groups: [(&str, Vec<&Judged<'_>>); 2] = [
        ("annotated", all.iter().filter(is_annotated).collect()),
        ("by hand", all.iter().filter(|method| is_by_hand(method) && !is_annotated(method)).collect()),
    ];
    for (title, group) in groups {
        let decided: Vec<_> = group.iter().filter(|method| method.is_decided()).collect();
        let wrong: Vec<_> =
            decided.iter().filter(|method| !method.is_right()).map(|method| method.name).collect();
        let right = decided.len() - wrong.len();
        println!("{title}: {} of {} decided, {right} right, wrong: {wrong:?}", decided.len(), group.len());
        let unknown: Vec<_> =
            group.iter().filter(|method| !method.is_decided()).map(|method| method.name).collect();
        println!("unknown: {}", unknown.join(" "));
        assert!(group.len() >= 300, "{title}: {}", group.len());
        assert!(decided.len() * 100 >= group.len() * 70, "{title}: {} of {}", decided.len(), group.len());
        assert!(right * 100 >= decided.len() * 97, "{title}: {wrong:?}");
    }
}

#[test]
fn names_that_say_little_are_not_judged() {
    let of = |name| Action::of(&MethodDescription::new(name, MethodKind::Unary));
    for name in [
        "",
        "Getaway",
        "Restock",
        "Export",
        "RunReport",
        "GenerateReport",
        "Sign",
        "VerifyEmail",
        "ListItem",
        "Watch",
    ] {
        assert_eq!(of(name), Action::Unknown, "{name}");
    }
    for name in [
        "RunQuery",
        "get_book",
        "getBook",
        "GetHTTPEndpoints",
        "Encrypt",
        "Recognize",
        "SynthesizeSpeech",
        "CountTokens",
    ] {
        assert_eq!(of(name), Action::Read, "{name}");
    }
    for (name, action) in [
        ("createBook", Action::Create),
        ("MemberAdd", Action::Create),
        ("CreateOrUpdateBook", Action::Change),
        ("BatchDeleteBooks", Action::Remove),
        ("RunPipeline", Action::Create),
    ] {
        assert_eq!(of(name), action, "{name}");
    }
}
