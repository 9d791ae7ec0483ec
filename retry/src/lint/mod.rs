//! What is wrong, useless or unsafe in a retry table: one rule for each thing worth saying.
//!
//! What can only be seen while a file is read (a field that is not known, a name that comes twice) is said
//! by its reader; see [`RetryTable::findings`](crate::RetryTable::findings).
