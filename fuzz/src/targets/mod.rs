//! A function for each target.

mod all;
mod canned;
mod delays;
mod downloads;
mod inbound;
mod paths;
mod rest;
mod script;
mod serving;
mod states;
mod tables;
mod uploads;

pub(crate) use all::TARGETS;
