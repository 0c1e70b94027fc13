//! Configuration: layers of TOML, the places it is found in, and what is trusted.
