//! The rows of streams, tokens, replies and the machine.

use super::http::UPLOADS;
use crate::faults::misbehaviours::row::{ALL, Row, Section, row};

pub(super) fn streams() -> Section {
    const RESUMED: &str = "a client that starts over reads messages twice";
    let played =
        |behaviour, plain, name| row(behaviour, "`VirtualServer`, `RawServer`", plain).test("S", name);
    Section {
        heading: "Streams and messages",
        about: "",
        second: "the kit's name",
        clients: "S",
        rows: vec![
            played(
                "an error right behind 1, 2 or 10 messages in a frame",
                "reads all of them",
                "calls::streams::messages::every_message_before_an_error_is_read_whatever_comes_right_behind",
            )
            .test("S", "chaos::messages::nothing_that_a_plain_client_reads_is_lost"),
            played(
                "a break after each message",
                RESUMED,
                "calls::streams::resuming::a_stream_goes_on_behind_its_last_message",
            )
            .test("S", "chaos::streams::streams_of_the_generated_client"),
            played(
                "a break with nothing new, n times",
                RESUMED,
                "calls::streams::resuming::without_a_total_timeout_attempts_count_that_deliver_nothing",
            ),
            played(
                "a resume point that is gone",
                "misses messages",
                "calls::streams::resuming::the_caller_sees_that_a_stream_began_anew",
            )
            .test("S", "sockets::watch::each_revision_comes_once_or_the_watch_says_that_it_began_anew"),
            played(
                "the response of one attempt compressed, that of the next one not",
                "reads both",
                "faults::misbehaviours::replies::a_stream_that_goes_on_uncompressed",
            ),
            played(
                "a reader that is slow",
                "reads all",
                "calls::streams::resuming::a_caller_that_takes_its_time_does_not_wait",
            ),
            played(
                "a reader that leaves",
                "resets the stream",
                "calls::streams::resuming::a_stream_that_is_dropped_is_reset_at_once",
            ),
            played(
                "a reader that never reads",
                "holds the stream for ever",
                "calls::streams::resuming::a_stream_that_is_left_alone_is_dropped",
            ),
            played(
                "a writer that sends while the stream is being opened, or closed",
                "loses what it wrote",
                "calls::streams::subscribing::every_line_is_said_until_it_is_heard",
            ),
        ],
    }
}

pub(super) fn tokens() -> Section {
    let played = |behaviour, plain, name| row(behaviour, "`TokenEndpoint`", plain).test("C", name);
    Section {
        heading: "Token endpoints",
        about: "",
        second: "the kit's name",
        clients: "C",
        rows: vec![
            played("an error, as often as it is asked", "asks with each call", "calls::google::token_endpoints::an_endpoint_that_fails_is_asked_with_back_off_and_calls_fail_at_once")
                .test("C", "calls::google::token_endpoints::a_refresh_that_fails_or_hangs_delays_no_call_while_the_token_is_valid"),
            played("no reply", "waits for ever", "calls::google::token_endpoints::a_fetch_that_hangs_is_given_up_after_a_minute"),
            played("a token with a lifetime of 0", "asks with each call", "calls::google::token_endpoints::tokens_without_a_lifetime_are_used_for_a_second"),
            played("a fresh token that the server refuses", "fails until the token expires", "calls::google::token_endpoints::a_server_that_refuses_all_tokens_gets_each_call_twice_at_most"),
            played("a token that is refused for one method alone", "fails", "calls::google::token_endpoints::a_token_that_is_refused_for_one_method_is_refreshed_once_in_ten_seconds"),
        ],
    }
}

pub(super) fn replies() -> Section {
    const JSON: &str = "protobuf says the type of each field";
    const TYPED: &str = "its replies are messages of the caller's types";
    let typed = |row: Row| row.no("BP", TYPED);
    Section {
        heading: "Replies with the right status and the wrong content",
        about: "",
        second: "where it comes from",
        clients: "RBOP",
        rows: vec![
            row("fewer or more results than a batch had", "a server that drops what it does not understand", "gives results to the wrong callers")
                .test("B", "calls::google::batching::each_caller_has_the_ids_of_its_messages_or_an_error")
                .test("R", "calls::rest::whole_calls::elements_are_sent_in_batches")
                .no("OP", "they have no batches"),
            typed(row("an operation that is done, with neither a response nor an error", "servers of operations without a result", "takes it for a success")
                .test("O", "calls::long_running::ends::done_with_nothing_is_an_error_of_its_own")
                .test("R", "faults::misbehaviours::replies::operations_over_rest")),
            typed(row("metadata of another type", "another version of the API", "fails")
                .test("O", "calls::long_running::ends::metadata_of_another_type_is_missing_and_the_result_stands")
                .test("R", "faults::misbehaviours::replies::operations_over_rest")),
            typed(row("an `Any` of an unknown type", "another version of the API", "fails")
                .test("O", "calls::long_running::ends::a_response_of_another_type_is_an_error_and_the_metadata_is_readable")
                .test("R", "calls::rest::whole_calls::one_operation_of_an_unknown_type_does_not_hide_the_others")),
            typed(row("an empty `Any`", "a server that says nothing", "fails")
                .test("O", "calls::long_running::progress::an_empty_response_may_be_missing")
                .test("R", "faults::misbehaviours::replies::operations_over_rest")),
            row("`error` as an ordinary field", "an API with such a field", "takes a message for an error")
                .test("R", "calls::rest::streams::a_field_error_in_a_message_is_no_error")
                .no("BOP", JSON),
            row("an unknown enum value, an unknown field", "a later version of the API", "fails")
                .test("R", "calls::rest::types::replies_that_are_too_deep_are_refused_and_unknown_ones_skipped")
                .no("BOP", "prost keeps the number of an enum value, and skips unknown fields"),
            row("a page token that repeats", "a server that ignores the token", "never ends")
                .test("P", "calls::paging::circles::a_token_that_follows_itself")
                .test("P", "calls::paging::circles::two_tokens_in_turn")
                .no("R", "its pages are those of P")
                .no("BO", "they have no pages"),
            row("an empty page with a token", "a server that filters behind its limit", "ends too early")
                .test("P", "calls::paging::list::an_empty_page_with_a_token_goes_on")
                .no("R", "its pages are those of P")
                .no("BO", "they have no pages"),
        ],
    }
}

pub(super) fn machine() -> Section {
    const FILES: &str = "they write no files";
    let files = |behaviour, plain| row(behaviour, "the file system", plain).no("LGKHRSCBP", FILES);
    Section {
        heading: "The machine",
        about: "",
        second: "where it comes from",
        clients: ALL,
        rows: vec![
            files("a full disk", "leaves a part of the file").test("T", "faults::misbehaviours::machine::a_full_disk_is_an_error_of_the_target").no("O", FILES),
            files("a read-only folder", "downloads all, and fails then")
                .test("T", "http::transfers::downloads::a_target_that_can_not_be_written_is_noticed_before_anything_is_sent")
                .test("T", "http::transfers::state_files::a_state_file_that_can_not_be_read_or_written_is_an_error")
                .no("O", FILES),
            files("a target that is a link, or readable by its owner alone", "replaces the link, and shows the file to all")
                .test("T", "http::transfers::part_files::the_target_keeps_its_permissions_and_its_links")
                .no("O", FILES),
            files("a target that is a folder", "downloads all, and fails then")
                .test("T", "http::transfers::downloads::a_name_that_can_not_be_had_loses_no_bytes")
                .no("O", FILES),
            files("two or three processes with one target", "mixes the bytes of both")
                .test("T", "http::transfers::downloads::one_download_at_a_time_writes_a_file")
                .test("T", "http::transfers::state_files::two_uploads_with_one_state_file_make_the_object")
                .no("O", FILES),
            files("`kill -9` at any byte, then another program at the same path", "starts over, or continues with other bytes")
                .test("T", "http::transfers::trials::kills::a_download_survives")
                .test("T", "http::transfers::trials::kills::an_upload_by_cloud_storage_s_protocol_survives")
                .test("T", "http::transfers::part_files::a_part_that_somebody_replaced_is_not_written")
                .test("O", "calls::long_running::restarts::an_operation_that_a_killed_process_has_started_is_finished_by_name_in_another"),
            row("a clock that jumps", "NTP, a machine that slept", "waits too long, or not at all")
                .test("H", "faults::misbehaviours::proxies::replies_to_http_requests")
                .test("R", "faults::misbehaviours::proxies::replies_to_rest_calls")
                .test("T", UPLOADS)
                .no("LGKSCBOP", "dates in `Retry-After` alone are compared with the time of day"),
            row("a runtime that is dropped while calls wait", "a program that ends, or has several", "waits for ever")
                .test(ALL, "faults::misbehaviours::machine::a_runtime_that_is_dropped_while_calls_wait")
                .test("K", "sockets::connections::faults::a_connection_outlives_its_runtime"),
            row("a call outside a runtime", "a thread of its own, a test", "panics")
                .test(ALL, "faults::misbehaviours::machine::calls_outside_a_runtime_say_so"),
            row("a callback that panics", "the program", "ends the task of all")
                .test("LG", "observing::panics::an_observer_that_panics_in_every_method_changes_no_call_and_no_other_observer_notices")
                .test("H", "observing::panics::an_http_request_has_its_response_though_its_observer_panics")
                .test("S", "observing::panics::a_stream_is_read_to_its_end_or_dropped_though_its_observer_panics")
                .test("S", "calls::streams::resuming::a_panic_of_a_strategy_is_its_callers")
                .test("K", "sockets::connections::faults::a_resolver_that_fails_or_panics_is_asked_again")
                .test("K", "sockets::connections::faults::a_connector_that_panics_fails_calls_until_it_connects")
                .test("K", "sockets::connections::faults::an_observer_that_panics_changes_nothing")
                .test("C", "calls::google::credentials::a_source_that_panics_fails_the_calls_that_wait_and_is_asked_again")
                .test("B", "chaos::batches::each_element_ends_once_with_the_result_of_its_batch")
                .test("TROP", "faults::misbehaviours::machine::callbacks_that_panic"),
            row("a callback that blocks, or calls back", "the program", "waits for itself")
                .test(ALL, "faults::misbehaviours::machine::callbacks_that_block_or_call_back"),
        ],
    }
}
