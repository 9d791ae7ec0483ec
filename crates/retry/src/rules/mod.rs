//! The arithmetic of each rule set: when the next attempt starts, and how long it may take.

mod documented;
mod gax_java;
mod grpc;
mod policy_rules;
#[cfg(feature = "polling")]
mod polling;
mod rule_set;
mod server_wait;
#[cfg(feature = "strategy")]
mod strategy;

pub(crate) use documented::Documented;
pub(crate) use gax_java::GaxJava;
pub(crate) use grpc::Grpc;
pub(crate) use policy_rules::{Progress, Rules};
#[cfg(feature = "polling")]
pub(crate) use polling::Polls;
pub(crate) use rule_set::{Ask, Refusal, RuleSet, Wait};
pub(crate) use server_wait::{Own, longest, longest_of};
#[cfg(feature = "strategy")]
pub(crate) use strategy::Strategy;
