//! The cases of one server each, with the layer.

use tonic_gax_tests::a6::LayerClient;
use tonic_gax_tests::a6::hedging::{
    errors_bring_the_next_attempt_or_the_end, h15_throttled_hedges_are_withheld, pushback_holds_hedges_back,
    the_deadline_and_the_commit_end_all, the_first_good_reply_wins, to_drop_the_call_resets_every_attempt,
};
use tonic_gax_tests::a6::rows::{
    commit, deadlines, empty_pushback, pushback, retries, throttling, transparent_retries,
};
use tonic_gax_tests::a6::streams::{
    a_message_over_the_limit_ends_hedging, a_stream_of_requests_over_a_limit_is_committed,
    a_unary_request_over_the_limit_is_sent_once, messages_so_far_are_replayed,
};

#[tokio::test(start_paused = true)]
async fn calls() {
    retries::<LayerClient>().await;
    pushback::<LayerClient>().await;
    empty_pushback::<LayerClient>().await;
    commit::<LayerClient>().await;
    transparent_retries::<LayerClient>().await;
    throttling::<LayerClient>().await;
    deadlines::<LayerClient>().await;
}

#[tokio::test(start_paused = true)]
async fn requests_that_are_sent_again() {
    a_unary_request_over_the_limit_is_sent_once::<LayerClient>().await;
    a_stream_of_requests_over_a_limit_is_committed::<LayerClient>().await;
    messages_so_far_are_replayed::<LayerClient>().await;
    a_message_over_the_limit_ends_hedging::<LayerClient>().await;
}

#[tokio::test(start_paused = true)]
async fn hedges() {
    the_first_good_reply_wins::<LayerClient>().await;
    errors_bring_the_next_attempt_or_the_end::<LayerClient>().await;
    pushback_holds_hedges_back::<LayerClient>().await;
    h15_throttled_hedges_are_withheld::<LayerClient>().await;
    the_deadline_and_the_commit_end_all::<LayerClient>().await;
    to_drop_the_call_resets_every_attempt::<LayerClient>().await;
}
