use super::*;
use gax_retry::{AttemptPlan, Code, NoJitter, Policy, Response, RetrySettings};

const MS: Duration = Duration::from_millis(1);

fn drawn(settings: &RetrySettings, outcomes: &[Response]) -> String {
    let codes = CodeSet::from([Code::Unavailable, Code::DeadlineExceeded]);
    let plan = AttemptPlan::new(&Policy::new(settings, codes), outcomes, &mut NoJitter);
    let timeline = Timeline::from(&plan);
    let total = settings.total_timeout();
    Picture { timeline: &timeline, title: "<t>", caption: "c", total, codes }.draw()
}

fn elements(picture: &str, start: &str) -> usize {
    picture.lines().filter(|line| line.starts_with(start)).count()
}

#[test]
fn an_attempt_is_a_bar_as_long_as_it_took() {
    let settings = RetrySettings::no_retry(1000 * MS);
    let picture = drawn(&settings, &[Response::after(500 * MS, Code::Ok)]);
    // 748 units are 1000 ms.
    assert!(
        picture.contains("<rect class=\"ok\" x=\"176\" y=\"125\" width=\"374\" height=\"26\" rx=\"3\"/>")
    );
    assert!(picture.contains("<rect class=\"granted\" x=\"176\" y=\"125\" width=\"748\""));
    assert!(picture.contains("<title id=\"title\">&lt;t&gt;</title>"));
}

#[test]
fn what_is_not_in_the_picture_is_not_in_the_legend() {
    let settings = RetrySettings::no_retry(1000 * MS);
    let picture = drawn(&settings, &[]);
    assert!(picture.contains(">ran into its RPC timeout<"));
    assert!(picture.contains(">total timeout<"));
    for absent in [">success<", ">wait<", ">not attempted<", ">error, final<"] {
        assert!(!picture.contains(absent), "{absent}");
    }
}

#[test]
fn a_picture_of_too_many_attempts_says_how_many_are_left_out() {
    let settings = RetrySettings::builder()
        .initial_rpc_timeout(MS)
        .initial_retry_delay(Duration::ZERO)
        .max_attempts(50)
        .build()
        .unwrap();
    let picture = drawn(&settings, &[]);
    assert_eq!(elements(&picture, "<rect class=\"late\""), MOST + 1, "forty bars and the legend's");
    assert!(picture.contains(">and 10 more attempts<"));
}

#[test]
fn nothing_that_settings_can_hold_breaks_the_numbers() {
    let longest = Duration::from_nanos(u64::MAX);
    let endless = RetrySettings::default();
    let short = RetrySettings::no_retry(Duration::from_nanos(1));
    let long = RetrySettings::no_retry(longest);
    for (settings, outcomes) in [
        (endless.clone(), vec![]),
        (endless, vec![Response::after(Duration::ZERO, Code::Ok)]),
        (short, vec![]),
        (long.clone(), vec![]),
        (long, vec![Response::after(Duration::from_nanos(1), Code::Internal)]),
    ] {
        let picture = drawn(&settings, &outcomes);
        assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
        assert!(picture.len() < 20_000, "{}", picture.len());
    }
}

/// Names were as long as `timeout 162.51082 ms` and ran into the axis.
#[test]
fn time_begins_right_of_the_longest_name() {
    let nanos = Duration::from_nanos;
    for timeout in [162_510_820, 172_740_000_000_000, 3_599_000_000_001, 172_799_000_000_000_000, u64::MAX] {
        let picture = drawn(&RetrySettings::no_retry(nanos(timeout)), &[]);
        let (_, name) = picture.split_once(">timeout ").unwrap();
        let name = format!("timeout {}", name.split_once('<').unwrap().0);
        assert!(24.0 + paper::width_of(&name) < LEFT, "{name}");
    }
}
