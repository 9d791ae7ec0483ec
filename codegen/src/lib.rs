//! Generates stub settings and retrying clients from retry tables and protos.
