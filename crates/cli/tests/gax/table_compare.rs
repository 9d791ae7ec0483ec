use super::{gax_with, session, stdout, transcript};
use insta::assert_snapshot;

const LIBRARY: &str = "library_grpc_service_config.json";

#[test]
fn a_method_is_explained() {
    let lines = [
        format!("table explain {LIBRARY} ListBooks"),
        format!("table explain {LIBRARY} DeleteBook"),
        "table explain table/messy_grpc_service_config.json GetShelf".to_owned(),
        "table explain table/messy_grpc_service_config.json CreateShelf --dialect gax-java".to_owned(),
    ];
    assert_snapshot!(lines.map(|line| session(&line)).join("\n"));
}

#[test]
fn a_hedged_method_is_explained() {
    assert_snapshot!(session("table explain hedged.toml GetBook"));
}

#[test]
fn a_total_timeout_that_cuts_a_stream_is_explained() {
    let explain = |method: &str| {
        stdout(&format!(
            "table explain --proto-path generate --proto echo.proto -- generate/dialect.json {method}"
        ))
    };
    let cut = "Its stream of responses is cut after 10 s, however much it has delivered";
    assert!(explain("Repeat").contains(cut), "{}", explain("Repeat"));
    assert!(!explain("Say").contains("stream"), "{}", explain("Say"));
}

#[test]
fn what_the_environment_lowers_is_explained() {
    let explain = |variables: &[(&'static str, &'static str)], more: &str| {
        let line = format!("table explain {LIBRARY} ListBooks --env{more}");
        let set: Vec<_> = variables.iter().map(|(name, value)| format!("{name}={value} ")).collect();
        let output = gax_with(variables.iter().copied(), line.split_whitespace());
        // How others read the same table is in another snapshot.
        let text = transcript(&line, output);
        let own = text.split_once("How others").map_or(&*text, |(own, _)| own).to_owned();
        format!("{}{own}", set.concat())
    };
    let low = [("GAX_MAX_ATTEMPTS", "2"), ("GAX_TOTAL_TIMEOUT", "3s")];
    let runs = [
        explain(&[], ""),
        explain(&low, ""),
        explain(&[("GAX_TOTAL_TIMEOUT", "9h")], ""),
        explain(&[("GAX_RETRIES", "off"), ("GAX_MAX_ATTEMPTS", "2")], ""),
        explain(&low, " --format json"),
        explain(&[("GAX_RETRIES", "none"), ("GAX_MAX_ATTEMPTS", "0")], ""),
    ];
    assert_snapshot!(runs.join("\n"));
}

/// It is no question of codes.
#[test]
fn a_hedged_method_that_the_environment_leaves_one_attempt_is_explained() {
    let line = "table explain hedged.toml GetBook --env";
    let output = gax_with([("GAX_RETRIES", "off")], line.split_whitespace());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\nA call makes one attempt.\n"), "{text}");
}

#[test]
fn a_method_is_explained_to_programs() {
    assert_snapshot!(session(&format!("table explain {LIBRARY} DeleteBook --format json")));
}

#[test]
fn a_table_is_converted_and_losses_are_reported() {
    let lines = [
        format!("table convert {LIBRARY} --to toml"),
        format!("table convert {LIBRARY} --to envoy"),
        format!("table convert {LIBRARY} --to xml"),
    ];
    let text = lines.map(|line| session(&line)).join("\n");
    assert!(text.contains("[[entry]]"), "{text}");
    assert!(text.contains("[not-expressible]"), "{text}");
    assert!(text.contains("error: --to \"xml\" is not known; write one of grpc, gapic"), "{text}");
}
