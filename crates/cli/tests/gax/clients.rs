//! What other gRPC clients make of a table.

use super::{folder, gax};
use std::fs;
use std::path::Path;

/// A run in a folder with this file.
fn run(name: &str, text: &str, line: &str) -> (String, i32) {
    let folder = folder(name);
    fs::write(folder.join("shop_service_config.json"), text).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gax"));
    let output = command.args(line.split_whitespace()).current_dir(&folder).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (text, output.status.code().unwrap())
}

/// The file that the guide's page begins with, and what is printed of it.
fn page() -> (String, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference/clients.md");
    let page = fs::read_to_string(path).unwrap();
    let block = |start: &str| page.split_once(start).unwrap().1.split_once("```").unwrap().0.to_owned();
    (block("```json\n"), block("```text\n$ gax table clients shop_service_config.json\n"))
}

#[test]
fn the_page_shows_what_is_printed() {
    let (file, shown) = page();
    let (printed, status) = run("clients_page", &file, "table clients shop_service_config.json");
    assert_eq!((printed.as_str(), status), (shown.as_str(), 0));
}

#[test]
fn a_file_that_nobody_can_read_is_said_once() {
    let (printed, status) = run("clients_none", "a: b\n", "table clients shop_service_config.json");
    assert_eq!(status, 0);
    assert_eq!(printed.lines().count(), 1, "{printed}");
    assert!(printed.contains("none of these clients can read the file"), "{printed}");
}

#[test]
fn an_unknown_client_lists_the_known_ones() {
    for line in
        ["table clients --client grpc-rust x", "table lint --client grpc-rust x", "plan --client grpc-rust"]
    {
        let output = gax(line.split_whitespace());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("grpc-go, grpc-java, grpcio, grpc-js"), "{said}");
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn the_linter_knows_the_clients_that_a_team_has() {
    let (file, _) = page();
    let (all, status) =
        run("clients_lint", &file, "table lint --client grpc-js,grpcio shop_service_config.json");
    assert_eq!(status, 1);
    for part in ["no channel is made by grpc-js 1.14.7", "every call of grpcio 1.85.3 fails", "is read as 2s"]
    {
        assert!(all.contains(part), "{all}");
    }
    let (one, status) = run("clients_note", &file, "table lint shop_service_config.json");
    assert_eq!((one.matches("note[clients-disagree]: ").count(), status), (1, 0), "{one}");
    let folder = folder("clients_toml");
    fs::write(folder.join("shop_service_config.json"), file).unwrap();
    fs::write(folder.join("gax.toml"), "[lint]\nclient = [\"grpc-js\"]\n").unwrap();
    let path = folder.join("shop_service_config.json").display().to_string();
    let output = gax(["table", "lint", path.as_str()]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("client-refuses") && !said.contains("grpcio"), "{said}");
    // A client that is named twice is one.
    let twice = gax(["table", "lint", "--client", "grpc-js", path.as_str()]);
    assert_eq!(String::from_utf8(twice.stdout).unwrap(), said);
}

#[test]
fn a_plan_shows_the_attempts_of_another_client() {
    let (file, _) = page();
    let file = file.replace("\".1s\"", "\"0.1s\"");
    let line = "plan --client grpc-js --table shop_service_config.json --method shop.v1.Shop/Get";
    let (printed, status) = run("clients_plan", &file, line);
    assert_eq!(status, 0, "{printed}");
    for part in ["attempt 4: 400ms later", "timeout 2s", "follows UNAVAILABLE"] {
        assert!(printed.contains(part), "{printed}");
    }
}

#[test]
fn a_plan_shows_hedges_without_a_random_factor() {
    let file = r#"{"methodConfig": [{"name": [{"service": "a.B"}], "hedgingPolicy":
        {"maxAttempts": 2, "hedgingDelay": "0.2s", "nonFatalStatusCodes": ["UNAVAILABLE"]}}]}"#;
    let line = "plan --client grpc-java --table shop_service_config.json --method a.B/Get";
    let (printed, _) = run("clients_hedges", file, line);
    assert!(printed.contains("  attempt 2: 200ms later\n"), "{printed}");
}
