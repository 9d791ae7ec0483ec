//! The rules of the house that no compiler holds: which module may know which, who waits, who ends an operation, how folders are
//! laid out, and which words are said.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by it")]

mod circles;
mod comments;
mod imports;
mod links;
mod mutants;
mod order;
mod pages;
mod paths;
mod rooms;
mod source;
mod texts;
mod words;

use circles::circles;
use order::{Order, Root, arrows};
use source::{Module, modules};
use std::fs;
use std::path::{Path, PathBuf};

/// Where tasks and threads wait.
const WAITING: [&str; 2] =
    ["crates/driver/src/operation/timer.rs", "crates/driver/src/operation/blocking.rs"];
/// Who says that an operation has ended.
const ENDING: &str = "crates/retry/src/operation/";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The modules of the crates, the roots first.
fn crates() -> [(&'static str, Vec<Module>); 14] {
    [
        "src/",
        "crates/driver/src/",
        "crates/wire/src/",
        "crates/http/src/",
        "crates/transfer/src/",
        "crates/connection/src/",
        "crates/batching/src/",
        "crates/testing/src/",
        "crates/rest/src/",
        "crates/grpc/src/",
        "crates/retry/src/",
        "codegen/src/",
        "crates/cli/src/",
        "crates/table/src/",
    ]
    .map(|folder| {
        let read = |file: &str| fs::read_to_string(repository().join(file)).ok();
        (folder, modules(folder, &read))
    })
}

/// Where a module names one of these.
fn mentions(module: &Module, names: &[&str]) -> Vec<String> {
    let tokens = module.tokens.iter().filter(|token| names.contains(&&*token.text));
    tokens.map(|token| format!("{}:{}: {}", module.file, token.line, token.text)).collect()
}

/// Those who wait elsewhere than they may.
fn waiters(module: &Module) -> Vec<String> {
    if WAITING.contains(&&*module.file) {
        return Vec::new();
    }
    mentions(module, &["sleep", "sleep_until", "timeout_at", "park_timeout"])
}

/// Those who end an operation and are no part of it.
fn enders(module: &Module) -> Vec<String> {
    if module.file.starts_with(ENDING) {
        return Vec::new();
    }
    let calls = module.tokens.windows(4).filter(|window| {
        let [kind, first, second, name] = window else { return false };
        (&*kind.text, &*first.text, &*second.text, &*name.text) == ("Stop", ":", ":", "new")
    });
    calls.filter_map(|window| Some(format!("{}:{}: Stop::new", module.file, window.first()?.line))).collect()
}

const NOTHING: [String; 0] = [];

#[test]
fn modules_know_only_those_below_them() {
    let page = fs::read_to_string(repository().join("docs/contributing/architecture.md")).unwrap();
    for (folder, modules) in crates() {
        // Small crates have no order: that nothing in them goes in a circle is enough.
        let Some(order) = Order::read(&page, folder) else { continue };
        let (root, rest) = modules.split_first().unwrap();
        let root = Root::of(root);
        assert_eq!(
            order.unlike(&root),
            NOTHING,
            "docs/contributing/architecture.md lists other modules than {folder} has"
        );
        let wrong: Vec<_> = rest.iter().flat_map(|module| arrows(module, &root, &order)).collect();
        assert_eq!(wrong, NOTHING, "the order of modules is in docs/contributing/architecture.md");
        assert!(rest.len() > 10, "{folder} has more files than {}", rest.len());
    }
}

#[test]
fn files_side_by_side_know_each_other_one_way() {
    let found: Vec<_> = crates()
        .iter()
        .flat_map(|(folder, modules)| {
            circles(modules).into_iter().map(move |circle| format!("{folder} {circle}"))
        })
        .collect();
    assert_eq!(found, NOTHING, "let one of them hold what both need, or let a third");
}

#[test]
fn only_the_timer_and_the_blocking_loop_wait() {
    let found: Vec<_> = crates().iter().flat_map(|(_, modules)| modules.iter().flat_map(waiters)).collect();
    assert_eq!(found, NOTHING, "wait by a Timer: see crates/driver/src/operation/timer.rs");
}

#[test]
fn only_the_operation_ends_itself() {
    let found: Vec<_> = crates().iter().flat_map(|(_, modules)| modules.iter().flat_map(enders)).collect();
    assert_eq!(found, NOTHING, "report facts: a Stop is made in {ENDING}");
}

#[test]
fn who_waits_elsewhere_is_found() {
    let text = "use tokio::time::sleep_until;\n// sleep\nfn wait() {\n    std::thread::sleep(TIME);\n}\n\
                #[cfg(test)]\nmod tests {\n    use tokio::time::sleep;\n}\n";
    let found = waiters(&Module::of("crates/http/src/layer.rs", text));
    assert_eq!(found, ["crates/http/src/layer.rs:1: sleep_until", "crates/http/src/layer.rs:4: sleep"]);
    let found = waiters(&Module::of("crates/retry/src/plan.rs", "fn wait() { park_timeout(TIME) }"));
    assert_eq!(found, ["crates/retry/src/plan.rs:1: park_timeout"]);
    assert_eq!(waiters(&Module::of("crates/driver/src/operation/timer.rs", text)), NOTHING);
}

#[test]
fn who_ends_an_operation_elsewhere_is_found() {
    let text = "fn end() -> Stop {\n    gax_retry::operation::Stop::new(reason, None)\n}";
    assert_eq!(enders(&Module::of("src/grpc/protocol.rs", text)), ["src/grpc/protocol.rs:2: Stop::new"]);
    assert_eq!(enders(&Module::of("crates/retry/src/operation/past.rs", text)), NOTHING);
    assert_eq!(enders(&Module::of("src/grpc/protocol.rs", "Stop::of(\"Stop::new\")")), NOTHING);
}
