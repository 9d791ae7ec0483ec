use super::layout::{LEFT, MOST, RIGHT};
use super::paper;
use super::picture::Picture;
use crate::render::{Ms, Timeline};
use gax_retry::{AttemptPlan, Code, CodeSet, Hedging, NoJitter, Policy, Response, RetrySettings};
use std::time::Duration;

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
    // Text stands left of a wait or, where there is no room, in it.
    for (lane, place) in [(second, "\"small over\" x=\"184\""), (third, "\"small\" x=\"488.57\"")] {
        let is_there = |line: &&&str| line.contains(place) && line.contains(">wait 300 ms<");
        assert_eq!(lane.iter().filter(is_there).count(), 1, "{lane:?}");
    }
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

/// Unavailable at those times, each attempt with that timeout, in that total.
fn refusing(delay: u32, timeout: u32, total: u32, refusals: &[u32]) -> String {
    let settings = RetrySettings::builder()
        .initial_retry_delay(delay * MS)
        .retry_delay_multiplier(1.0)
        .initial_rpc_timeout(timeout * MS)
        .total_timeout(total * MS)
        .build()
        .unwrap();
    let outcomes: Vec<_> =
        refusals.iter().map(|after| Response::after(*after * MS, Code::Unavailable)).collect();
    drawn(&settings, &outcomes)
}

#[test]
fn an_rpc_timeout_beyond_the_axis_is_drawn_open() {
    let picture = drawn(&RetrySettings::no_retry(60_000 * MS), &[Response::after(800 * MS, Code::Ok)]);
    assert!(picture.contains("\n<path class=\"granted\" d=\"M936 125H176V151H936\"/>\n"), "{picture}");
    assert_eq!(elements(&picture, "<rect class=\"granted\""), 1, "the legend's");
    // One that fits is a box.
    let picture = drawn(&RetrySettings::no_retry(1000 * MS), &[Response::after(800 * MS, Code::Ok)]);
    assert_eq!(elements(&picture, "<path"), 0);
    assert_eq!(elements(&picture, "<rect class=\"granted\""), 2, "a box and the legend's");
}

#[test]
fn each_wait_says_how_long_it_is() {
    for (delay, total, refusals) in
        [(100, 2000, vec![20]), (3000, 4000, vec![700]), (200, 5000, vec![800, 900]), (1, 1000, vec![1; 5])]
    {
        let picture = refusing(delay, 5000, total, &refusals);
        let delay = Ms(delay * MS);
        let waits = [format!(">wait {delay}<"), format!(", after a wait of {delay}<")];
        for attempt in 2..=u32::try_from(refusals.len()).unwrap() + 1 {
            let lane = lane(&picture, attempt);
            let texts: Vec<_> =
                lane.iter().filter(|line| waits.iter().any(|wait| line.contains(wait))).collect();
            assert_eq!(texts.len(), 1, "{lane:?}");
        }
    }
}

/// From where to where a text goes, about.
fn extent(line: &str) -> (f64, f64) {
    let value = |name: &str| {
        let (_, rest) = line.split_once(&format!(" {name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    };
    let (_, text) = line.split_once('>').unwrap();
    let (x, width) =
        (value("x").parse::<f64>().unwrap(), paper::width_of(text.split_once('<').unwrap().0) * 0.88);
    match &*value("text-anchor") {
        "start" => (x, x + width),
        "end" => (x - width, x),
        _ => (x - width / 2.0, x + width / 2.0),
    }
}

#[test]
fn texts_stand_on_no_name_and_not_across_the_total_timeout() {
    for (delay, total, refusals) in [
        (3000, 4000, vec![700]),
        (100, 2000, vec![20]),
        (100, 1000, vec![200, 200, 200, 50]),
        (500, 10_000, vec![50; 18]),
        (2900, 3300, vec![100, 250]),
    ] {
        let picture = refusing(delay, 5000, total, &refusals);
        let line = picture.lines().find(|line| line.starts_with("<line class=\"total\"")).unwrap();
        let total: f64 = line.split('"').nth(3).unwrap().parse().unwrap();
        for attempt in 1..=u32::try_from(refusals.len()).unwrap() {
            for text in lane(&picture, attempt).into_iter().skip(2).filter(|line| line.starts_with("<text")) {
                let (from, to) = extent(text);
                assert!(from >= LEFT, "{text}");
                assert!(to <= RIGHT + 40.0, "{text}");
                assert!(to <= total || from >= total, "{text} and {total}");
            }
        }
    }
}

/// The luminance of `#rrggbb`, as in WCAG.
fn luminance(colour: &str) -> f64 {
    let part = |at: usize| {
        let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
        if value <= 0.039_28 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
}

#[test]
fn text_on_bars_has_a_contrast_of_4_5_at_least() {
    let (light, dark) = paper::STYLE.split_once("@media").unwrap();
    let fill = |style: &str, class: &str| {
        let (_, rest) = style.split_once(&format!(".{class}{{fill:"))?;
        Some(luminance(rest.get(..7)?))
    };
    let of = |class: &str| [light, dark].map(|style| fill(style, class).or(fill(light, class)).unwrap());
    for (text, bars) in [("on", &["ok", "retried", "final", "lost"][..]), ("late-on", &["late"])] {
        for bar in bars {
            for (text, ground) in of(text).into_iter().zip(of(bar)) {
                let contrast = (text.max(ground) + 0.05) / (text.min(ground) + 0.05);
                assert!(contrast >= 4.5, "{bar}: {contrast:.2}");
            }
        }
    }
}
