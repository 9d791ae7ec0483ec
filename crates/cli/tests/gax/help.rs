use super::{gax, session};
use insta::assert_snapshot;

#[test]
fn the_command_explains_itself() {
    assert_snapshot!(session("--help"));
}

#[test]
fn every_command_explains_itself() {
    assert_snapshot!("serve", session("serve --help"));
    assert_snapshot!("generate", session("generate --help"));
    assert_snapshot!("plan", session("plan --help"));
    assert_snapshot!("conformance", session("conformance --help"));
    for command in ["show", "explain", "lint", "clients", "convert", "diff"] {
        assert_snapshot!(format!("table_{command}"), session(&format!("table {command} --help")));
    }
}

#[test]
fn presets_are_listed_in_the_help_and_where_the_name_is_wrong() {
    let help = session("table show --help");
    let near = session("table show --preset storge");
    assert!(near.contains("--preset \"storge\" is not known; did you mean storage?"), "{near}");
    let far = session("table show --preset nothing");
    for name in gax_retry::http::presets::names() {
        assert!(help.contains(name) && far.contains(name), "{name}");
    }
}

#[test]
fn the_version_is_printed() {
    assert_eq!(
        session("--version"),
        format!("$ gax --version\ngax {}\n--- exit status 0\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn what_is_no_command_is_refused_in_one_sentence() {
    let sessions = ["", "plna", "--plan", "plan extra", "conformance"].map(session);
    assert_snapshot!(sessions.join("\n"));
    let error = gax(["plan", "--totl-timeout=3"]).stderr;
    assert_eq!(String::from_utf8(error).unwrap().lines().count(), 1);
}
