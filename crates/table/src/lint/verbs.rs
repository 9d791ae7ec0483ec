//! The words of a method's name, and what they say of its effect.

use super::action::Action;

/// Verbs of methods that change nothing.
const READS: &str = "get fetch lookup read search query find retrieve describe check has is can browse peek enumerate inspect \
    analyze predict recognize synthesize translate tokenize estimate calculate calc compute simulate compare parse explain \
    summarize preview classify geocode echo ping";
/// Verbs that only read if they are about many things: `ListBooks`, but not `ListItem` (for sale), `CountTokens`, but not `CountDown`.
const READS_OF_MANY: &str = "list count show scan";
/// Verbs that only read if the response is a stream: `FollowUser` is something else.
const READS_OF_STREAMS: &str = "watch tail subscribe listen observe follow monitor stream streaming";
/// Whole names of methods that change nothing.
const NOUNS: &str = "status version info stat stats usage metrics health features exists encrypt decrypt";
/// Words before the verb that don't matter.
const MODIFIERS: &str =
    "batch bulk multi async internal experimental raw asymmetric subtle soft force conditional partial";
/// Words after which the name of a read is that of something else: `CheckOut`, `GetOrCreate`, `FetchNext`, `ReadForUpdate`.
const DOUBTS: &str = "in out down up off over back away and or then plus with for next once new fresh lock exchange repair heal \
    wake bind burn del ex long longrunning";
/// Plurals that don't end in s, and words for all there are.
const PLURALS: &str = "data info children people history media metadata inventory by of all";

/// Verbs of methods that make something that would be there twice.
const CREATES: &str = "create insert add publish send submit append copy clone upload write enqueue provision purchase withdraw \
    increment decrement start launch register post notify begin";
/// Verbs of methods that remove something.
const REMOVALS: &str = "delete remove purge drop destroy";
/// Verbs of methods that change something.
const CHANGES: &str = "update set put patch modify mutate upsert replace overwrite rename move truncate clear flush revoke grant \
    enable disable activate deactivate attach detach unlock acquire claim take reset restart restore undelete cancel terminate abort \
    stop pause resume unpause unregister enroll approve disapprove reject acknowledge ack nack import ingest save store persist \
    install uninstall initialize promote demote pop push swap consume redeem reserve allocate assign unassign unsubscribe signal \
    respond kill shutdown rollback commit invalidate prune apply archive unarchive dismiss configure alter retract rotate resize \
    rebuild reindex refresh trigger mark touch merge expire evict erase wipe migrate deploy undeploy adjust ban invite dequeue \
    requeue drain erase toggle bump failover shuffle";
/// Verbs that are also the names of things, such as the order of `GetOrder`: they count as verbs at the beginning of a name.
const CREATING_NOUNS: &str = "schedule issue place charge pay buy transfer refund deposit order book raise";
const CHANGING_NOUNS: &str = "record release invoke exec link unlink login logout deprecate downgrade upgrade operate rate vote \
    close open tag label edit change switch";
/// The things whose run has an effect; other things, such as a report, may be read only.
const RUN: &str = "job jobs task tasks pipeline workflow script command batch sandbox instances";

/// The effect of a method with that name: a read if its verb is one and no other word casts doubt on it.
pub(super) fn by_name(name: &str, streams_responses: bool) -> Action {
    let words = words(name);
    let mut words = words.as_slice();
    while let [first, rest @ ..] = words
        && is(first, MODIFIERS)
        && !rest.is_empty()
    {
        words = rest;
    }
    let Some((first, rest)) = words.split_first() else { return Action::Unknown };
    let any = |list| rest.iter().any(|word| is(word, list));
    let last = rest.last().map_or("", String::as_str);
    if is(first, CREATING_NOUNS) || is(first, CHANGING_NOUNS) {
        // `OrderHistory`, `RecordGet`
        let is_of_noun = [READS, READS_OF_MANY, NOUNS, PLURALS].iter().any(|list| is(last, list));
        let action = if is(first, CREATING_NOUNS) { Action::Create } else { Action::Change };
        return if is_of_noun { Action::Unknown } else { action };
    }
    if first == "run" {
        return match last {
            "query" | "search" => Action::Read,
            last if is(last, RUN) => Action::Create,
            _ => Action::Unknown,
        };
    }
    let is_of_many = rest.iter().any(|word| is_plural(word));
    let is_reading = [READS, READS_OF_MANY, READS_OF_STREAMS].iter().any(|list| is(first, list));
    let is_plain = match first.as_str() {
        "stream" | "streaming" => {
            streams_responses && (is_of_many || rest.first().is_some_and(|word| is(word, READS)))
        }
        first if is(first, READS_OF_STREAMS) => streams_responses,
        first if is(first, READS_OF_MANY) => is_of_many || rest.is_empty(),
        first => is(first, READS) || rest.is_empty() && is(first, NOUNS),
    };
    match words.iter().find_map(|word| write(word)) {
        None if is_plain && !any(DOUBTS) => Action::Read,
        // `UpdateBook`, `MemberUpdate`; but neither `GetAndUpdate` nor a stream of updates.
        Some(action) if write(first).is_some() || !is_reading && !streams_responses => {
            if rest.iter().any(|word| word == "or") { Action::Change } else { action }
        }
        _ => Action::Unknown,
    }
}

/// Returns what the verb of a write does.
fn write(word: &str) -> Option<Action> {
    let effects = [(CREATES, Action::Create), (REMOVALS, Action::Remove), (CHANGES, Action::Change)];
    effects.into_iter().find(|(verbs, _)| is(word, verbs)).map(|(_, action)| action)
}

fn is(word: &str, list: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

fn is_plural(word: &str) -> bool {
    word.ends_with('s') && !word.ends_with("ss") || is(word, PLURALS)
}

/// The words of a name in camel case or with underscores, in lower case, without numbers and the versions of previews.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let letters: Vec<char> = name.chars().collect();
    let mut before = '_';
    for (at, letter) in letters.iter().enumerate() {
        let next_is_lower = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        let begins =
            !before.is_alphabetic() || letter.is_uppercase() && (before.is_lowercase() || next_is_lower);
        if letter.is_alphabetic() {
            if begins {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(letter.to_lowercase());
            }
        }
        before = *letter;
    }
    words.retain(|word| !matches!(&**word, "alpha" | "beta" | "v"));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capital(verb: &str) -> String {
        let (first, rest) = verb.split_at(1);
        first.to_uppercase() + rest
    }

    #[test]
    fn each_reading_verb_reads_a_thing() {
        for verb in READS.split_whitespace().map(capital) {
            for thing in ["Item", "Items", "Order", "TaxRecord", "OpenOrder", "_item_label"] {
                assert_eq!(by_name(&format!("{verb}{thing}"), false), Action::Read, "{verb}{thing}");
            }
        }
        for verb in READS_OF_MANY.split_whitespace().map(capital) {
            assert_eq!(by_name(&format!("{verb}Items"), false), Action::Read, "{verb}");
        }
    }

    #[test]
    fn no_writing_verb_reads_wherever_it_stands() {
        let lists = [CREATES, REMOVALS, CHANGES, CREATING_NOUNS, CHANGING_NOUNS];
        for verb in lists.into_iter().flat_map(str::split_whitespace).map(capital) {
            for name in [
                format!("{verb}Item"),
                format!("{verb}Items"),
                format!("Batch{verb}Items"),
                format!("GetAnd{verb}Item"),
                format!("GetItemAnd{verb}"),
                format!("GetOr{verb}Item"),
                format!("CheckThen{verb}"),
            ] {
                for streams in [false, true] {
                    assert_ne!(by_name(&name, streams), Action::Read, "{name}");
                }
            }
        }
    }
}
