//! Control characters in files and names: none reaches the terminal as it is.

use super::folder;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The characters of a hostile name: C0, DEL, C1, and those that turn the direction of writing.
const EVIL: &str =
    "\u{1b}]0;PWNED\u{7}\r\u{8}\u{7f}\u{9b}2J\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}";

/// A hostile name as a string of JSON, TOML and YAML has it.
fn evil() -> String {
    EVIL.chars()
        .map(|c| if c.is_ascii_graphic() { c.to_string() } else { format!("\\u{:04x}", c as u32) })
        .collect()
}

/// A service config in which every text is hostile.
fn service_config() -> String {
    let evil = evil();
    format!(
        r#"{{
  "evil{evil}": 1,
  "methodConfig": [
    {{"name": [{{"service": "a.B{evil}", "method": "Get{evil}"}}, {{"service": "a.B", "method": "Get"}}], "timeout": "5s",
      "retryPolicy": {{"maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE"]}}}},
    {{"name": [{{"service": "a.B{evil}", "method": "Get{evil}"}}], "timeout": "6s", "w{evil}": "x"}}
  ]
}}"#
    )
}

/// The output of the command on a terminal for those words, without its own colours. There must be no control
/// characters in it but ends of lines.
fn harmless<'a>(args: impl IntoIterator<Item = &'a str>) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_gax"))
        .args(args)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gax/fixtures"))
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let printed = without_colours(&(out + &err));
    let is_evil =
        |c: &char| (c.is_control() && *c != '\n') || EVIL.chars().any(|evil| evil == *c && !c.is_ascii());
    let found: Vec<char> = printed.chars().filter(is_evil).collect();
    assert!(found.is_empty(), "{found:?} in {printed:?}");
    printed
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| match part.split_once('m') {
        Some((codes, rest)) if codes.bytes().all(|b| b.is_ascii_digit() || b == b';') => plain + rest,
        _ => plain + "\u{1b}[" + part,
    })
}

#[test]
fn names_in_tables_reach_no_terminal_as_they_are() {
    let folder = folder("hostile");
    let file = folder.join(format!("table{EVIL}.json"));
    fs::write(&file, service_config()).unwrap();
    let toml = folder.join("table.toml");
    fs::write(
        &toml,
        format!(
            "[codes]\n\"c{evil}\" = [\"UNAVAILABLE\"]\n[params.\"p{evil}\"]\ntotal_timeout = \"5s\"\n\
             [[entry]]\nfor = [\"a.B/Get\", \"a.B{evil}/Get{evil}\"]\ncodes = \"c{evil}\"\nparams = \"p{evil}\"\n\
             allow = [{{ rule = \"r{evil}\", reason = \"{evil}\" }}]\n",
            evil = evil()
        ),
    )
    .unwrap();
    let gapic = folder.join("gapic.yaml");
    fs::write(
        &gapic,
        format!(
            "interfaces:\n- name: \"a.B{evil}\"\n  retry_codes_def:\n  - name: \"c{evil}\"\n    retry_codes: [UNAVAILABLE]\n  \
             retry_params_def:\n  - name: \"p{evil}\"\n    total_timeout_millis: 5000\n  methods:\n  - name: \"Get{evil}\"\n    \
             retry_codes_name: \"c{evil}\"\n    retry_params_name: \"p{evil}\"\n    \"odd{evil}\": 1\n",
            evil = evil()
        ),
    )
    .unwrap();
    let method = format!("a.B{EVIL}/Get{EVIL}");
    for file in [&file, &toml, &gapic].map(|path| path.to_str().unwrap()) {
        let shown = harmless(["table", "show", file]);
        assert!(shown.contains("Get\\u{1b}]0;PWNED\\u{7}\\r"), "{shown}");
        for format in ["text", "json", "sarif", "github"] {
            harmless(["table", "lint", file, "--format", format]);
        }
        harmless(["table", "show", file, "--format", "json"]);
        for dialect in ["as-written", "gax-java", "grpc"] {
            for command in ["show", "lint"] {
                harmless(["table", command, file, "--dialect", dialect]);
            }
        }
        for format in ["text", "json"] {
            harmless(["table", "explain", file, &method, "--format", format]);
            harmless(["table", "diff", file, "library_grpc_service_config.json", "--format", format]);
            harmless(["table", "diff", "library_grpc_service_config.json", file, "--format", format]);
        }
        for form in ["grpc", "gapic", "client-config", "toml", "envoy", "istio"] {
            harmless(["table", "convert", file, "--to", form]);
            harmless(["table", "convert", file, "--to", form, "--deny", "note"]);
        }
        harmless(["plan", "--table", file, "--method", &method]);
        harmless(["plan", "--table", file, "--method", &method, "--svg", "-"]);
        harmless(["plan", "--table", file, "--method", EVIL]);
        harmless(["table", "explain", file, EVIL]);
    }
}

#[test]
fn what_can_t_be_read_is_shown_escaped() {
    let folder = folder("hostile_broken");
    for (name, text) in [
        ("broken.json", format!("{{\"methodConfig\": [{{\"timeout\": \"{EVIL}\"}}]}}")),
        ("wrong.json", format!("{{\"methodConfig\": [{{\"name\": [{{}}], \"timeout\": \"5{}\"}}]}}", evil())),
        (
            "code.json",
            format!(
                "{{\"methodConfig\": [{{\"retryPolicy\": {{\"retryableStatusCodes\": [\"{}\"]}}}}]}}",
                evil()
            ),
        ),
        ("broken.toml", format!("a = {EVIL}\n")),
        ("wrong.toml", format!("[[entry]]\nfor = [\"a.B\"]\n\"odd{}\" = 1\n", evil())),
        ("broken.yaml", format!("interfaces:\n- name: {EVIL}\n  x: {{\n")),
        ("text.txt", format!("{EVIL}\n")),
        (EVIL, "{".to_owned()),
    ] {
        let file = folder.join(name);
        fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        for args in
            [["table", "show"], ["table", "lint"], ["plan", "--method=A"], ["conformance", "--format=text"]]
        {
            let table = if args[0] == "plan" { "--table" } else { "--" };
            harmless(args.into_iter().chain([table, file]));
        }
        for format in ["json", "sarif", "github"] {
            harmless(["table", "lint", file, "--format", format]);
        }
        let out = folder.join("out").display().to_string();
        harmless([
            "generate",
            "--table",
            file,
            "--proto-path",
            "generate",
            "--proto",
            "echo.proto",
            "--out",
            &out,
        ]);
    }
    harmless(["table", "show", EVIL]);
    harmless(["table", "show", "library_grpc_service_config.json", "--method", EVIL]);
    harmless(["table", "show", "--preset", EVIL]);
    harmless(["conformance", EVIL]);
    harmless([EVIL]);
    harmless(["plan", &format!("--{EVIL}")]);
    harmless(["plan", "--total-timeout", EVIL]);
}

#[test]
fn carets_stay_under_their_text() {
    let folder = folder("hostile_carets");
    let file = folder.join("table.json");
    fs::write(&file, "{\"a\u{202e}b\": 1, \"methodConfig\": [],\t\"c\u{9b}d\": 2}").unwrap();
    let printed = harmless(["table", "lint", file.to_str().unwrap()]);
    let shown = r#"1 | {"a\u{202e}b": 1, "methodConfig": [], "c\u{9b}d": 2}"#;
    let first = "  |  ^^^^^^^^^^^^";
    let second = "  |                                       ^^^^^^^^^^";
    for carets in [first, second] {
        assert!(printed.contains(&format!("{shown}\n{carets}\n")), "{printed}");
    }
}

#[test]
fn recorded_cases_and_generated_files_reach_no_terminal_as_they_are() {
    let folder = folder("hostile_cases");
    let file = folder.join("cases.jsonl");
    let evil = evil();
    fs::write(&file, format!(r#"{{"id":"i{evil}","kind":"k{evil}","category":"c{evil}","f{evil}":1}}"#))
        .unwrap();
    for format in ["text", "json"] {
        harmless(["conformance", file.to_str().unwrap(), "--format", format]);
    }
    let out = folder.join("out");
    let generate = |more: &[&str]| {
        let args =
            ["generate", "--proto-path", "generate", "--proto", "echo.proto", "--out", out.to_str().unwrap()];
        harmless(args.into_iter().chain(more.iter().copied()))
    };
    generate(&[]);
    fs::write(out.join("test.echo.rs"), format!("a{EVIL}\n")).unwrap();
    let printed = generate(&["--check"]);
    assert!(printed.contains("-a\\u{1b}]0;PWNED"), "{printed}");
    generate(&["--check", "--format", "json"]);
    generate(&["--include-file", &format!("{EVIL}.rs")]);
    let hostile = folder.join("hostile.proto");
    fs::write(&hostile, format!("syntax = \"proto3\"; message {EVIL}")).unwrap();
    let proto_path = Path::new(&hostile).parent().unwrap().to_str().unwrap();
    let args =
        ["generate", "--proto-path", proto_path, "--proto", "hostile.proto", "--out", out.to_str().unwrap()];
    harmless(args);
}
