#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tonic_gax_fuzz::play("frames", data));
