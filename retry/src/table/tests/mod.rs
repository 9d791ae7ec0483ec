//! Whole tables, from text to policies.

mod corpus;
