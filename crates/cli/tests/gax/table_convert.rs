use super::{folder, session, session_of};
use insta::assert_snapshot;
use std::fs;

/// A table with something of all that a table can say.
const EVERYTHING: &str = "table/everything.toml";
const LIBRARY: &str = "library_grpc_service_config.json";

#[test]
fn every_form_says_what_it_can_and_what_it_can_t() {
    for form in ["grpc", "gapic", "client-config", "toml", "envoy", "istio"] {
        assert_snapshot!(form, session(&format!("table convert {EVERYTHING} --to {form}")));
    }
}

#[test]
fn forms_that_list_methods_take_them_from_protos() {
    for form in ["gapic", "client-config"] {
        assert_snapshot!(
            format!("{form}-of-protos"),
            session(&format!(
                "table convert --to {form} --proto-path table --proto messy.proto -- {EVERYTHING}"
            ))
        );
    }
}

#[test]
fn a_dialect_is_what_the_other_form_gets() {
    let lines = ["as-written", "gax-java", "grpc"]
        .map(|dialect| session(&format!("table convert {LIBRARY} --to envoy --dialect {dialect}")));
    // Exactly, with one decimal, and not as gRPC has it either: Envoy doubles.
    assert!(
        lines[0].contains("retry_delay_multiplier 1.37 of example.library.v1.Library/GetBook"),
        "{}",
        lines[0]
    );
    assert!(
        lines[1].contains("retry_delay_multiplier 1.4 of example.library.v1.Library/GetBook"),
        "{}",
        lines[1]
    );
    assert!(lines[0].contains("num_retries: 3\n"), "{}", lines[0]);
    // Google's Java generator has no number of attempts, so that the timeout's room counts.
    assert!(!lines[1].contains("num_retries: 3\n"), "{}", lines[1]);
    assert!(lines[2].contains("num_retries: 3\n"), "{}", lines[2]);
}

#[test]
fn what_is_denied_keeps_the_file_from_being_written() {
    let file = folder("convert_denied").join("routes.yaml");
    let line = |flags: &str| {
        let line = format!("table convert {LIBRARY} --to envoy -o {} {flags}", file.display());
        session_of("convert", line.split_whitespace())
    };
    let denied = line("--deny not-expressible");
    assert!(denied.contains("error[not-expressible]: retry_delay_multiplier 1.37 of "), "{denied}");
    assert!(
        denied.ends_with(
            "error: nothing is written as envoy: 1 finding is denied; change the table, or leave --deny \
             out\n--- exit status 1\n"
        ),
        "{denied}"
    );
    assert!(!file.exists());
    let allowed = line("--deny warning --allow not-expressible");
    assert!(allowed.ends_with("--- exit status 0\n"), "{allowed}");
    assert!(!allowed.contains("not-expressible"), "{allowed}");
    assert!(allowed.contains("note[approximated]: "), "{allowed}");
    let written = fs::read_to_string(&file).unwrap();
    assert!(written.starts_with("name: retry_table\nvirtual_hosts:\n"), "{written}");
}

#[test]
fn a_table_comes_back_from_its_other_forms() {
    let folder = folder("convert_back");
    for form in ["grpc", "toml"] {
        let file = folder.join(form);
        let there = format!("table convert {LIBRARY} --to {form} -o {}", file.display());
        let reported = session_of("there", there.split_whitespace());
        assert_eq!(reported, "$ gax there\n--- exit status 0\n");
        let diff = format!("table diff {LIBRARY} {} --deny any", file.display());
        let reported = session_of("diff", diff.split_whitespace());
        assert!(reported.ends_with("--- exit status 0\n"), "{reported}");
    }
}

#[test]
fn several_tables_become_one() {
    let reported = session(&format!("table convert {LIBRARY} {EVERYTHING} --to toml"));
    for name in ["example.library.v1.Library/GetBook", "example.messy.v1.Shelves/GetShelf"] {
        assert!(reported.contains(&format!("\"{name}\"")), "{reported}");
    }
}

#[test]
fn what_can_t_be_converted_is_refused() {
    let sessions = [
        format!("table convert {LIBRARY}"),
        "table convert --to toml".to_owned(),
        format!("table convert {LIBRARY} --to yaml"),
        format!("table convert {LIBRARY} --to toml --from gapic"),
        "table convert none.json --to toml".to_owned(),
        "table convert table/broken_grpc_service_config.json --to toml".to_owned(),
        format!("table convert {LIBRARY} --to toml --deny nothing-like-it"),
        format!("table convert {LIBRARY} --to toml --proto-path table"),
        format!("table convert {LIBRARY} --to toml -o no/such/folder/x.toml"),
    ]
    .map(|line| session(&line));
    assert_snapshot!(sessions.join("\n"));
}
