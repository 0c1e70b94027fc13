//! `haft mcp` as a client sees it: lines of JSON.

mod asking;
mod blocked;
mod client;
mod ending;
mod http;
mod install;
mod jobs;
mod load;
mod news;
mod overlay;
mod protocol;
mod recorded;
mod remote;
mod remote_http;
mod running;
mod secrets;
mod shielded;
mod stand_in;
