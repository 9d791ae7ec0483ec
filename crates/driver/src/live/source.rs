//! The sources of settings that a generated client may follow.

/// A source that a generated client may take its settings from while a program runs: a `SettingsHandle`, with the feature `live`.
/// Nothing else implements it.
///
/// Generated code names this trait instead of the handle, so that it compiles without that feature.
pub trait SettingsSource: sealed::Sealed {
    /// The handle.
    #[cfg(feature = "live")]
    #[doc(hidden)]
    fn handle(&self) -> &super::SettingsHandle;
}

mod sealed {
    pub trait Sealed {}

    #[cfg(feature = "live")]
    impl Sealed for crate::live::SettingsHandle {}
}

#[cfg(feature = "live")]
impl SettingsSource for super::SettingsHandle {
    fn handle(&self) -> &super::SettingsHandle {
        self
    }
}
