use super::*;
use gax_retry::{AttemptPlan, Code, Hedging, NoJitter, Policy, Response, RetrySettings};

const MS: Duration = Duration::from_millis(1);

fn drawn(settings: &RetrySettings, outcomes: &[Response]) -> String {
    let codes = CodeSet::from([Code::Unavailable, Code::DeadlineExceeded]);
    let plan = AttemptPlan::new(&Policy::new(settings, codes), outcomes, &mut NoJitter);
    let timeline = Timeline::from(&plan);
    let total = settings.total_timeout();
    Picture { timeline: &timeline, title: "<t>", caption: "c", total, codes, is_hedged: false }.draw()
}

/// The elements of a lane, from its name to the next one's.
fn lane(picture: &str, attempt: u32) -> Vec<&str> {
    let name = format!(">attempt {attempt}<");
    let mut lines = picture.lines().skip_while(|line| !line.contains(&name));
    let first = lines.next();
    first.into_iter().chain(lines.take_while(|line| !line.contains(">attempt "))).collect()
}

#[test]
fn a_hedge_waits_from_the_start_of_the_attempt_before() {
    let settings = RetrySettings::no_retry(2000 * MS);
    let policy = Policy::new(&settings, Code::Unavailable).with_hedging(Hedging::new(3).delay(300 * MS));
    let outcomes = [1900, 400].map(|after| Response::after(after * MS, Code::Ok));
    let plan = AttemptPlan::new(&policy, &outcomes, &mut NoJitter);
    let timeline = Timeline::from(&plan);
    let codes = CodeSet::from(Code::Unavailable);
    let picture =
        Picture { timeline: &timeline, title: "t", caption: "c", total: None, codes, is_hedged: true };
    let picture = picture.draw();
    // 748 units are 700 ms; the second attempt waits from 0 to 300 ms, and the third from 300 ms to 600 ms.
    let [second, third] = [2, 3].map(|attempt| lane(&picture, attempt));
    let waits = |lane: &[&str], place: &str| {
        lane.iter().any(|line| line.contains("\"wait\"") && line.contains(place))
    };
    assert!(waits(&second, "x=\"176\" y=\"169\" width=\"320.57\""), "{second:?}");
    assert!(waits(&third, "x=\"496.57\" y=\"213\" width=\"320.57\""), "{third:?}");
    // Text stands left of a wait, or nowhere: on no bar.
    assert!(!second.iter().any(|line| line.contains(">wait 300 ms<")), "{second:?}");
    assert!(
        third.iter().any(|line| line.contains("x=\"490.57\"") && line.contains(">wait 300 ms<")),
        "{third:?}"
    );
    assert_eq!(elements(&picture, "<rect class=\"lost\""), 3, "two bars and the legend's");
    assert!(picture.contains(">cancelled: another attempt has ended the call<"));
    assert!(!picture.contains(">error, retryable<"));
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
