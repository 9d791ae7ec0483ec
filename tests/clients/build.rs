//! Generates the client of the method that the suite calls.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    tonic_gax_build::configure().build_server(false).compile_protos(&["health.proto"], &["."])?;
    Ok(())
}
