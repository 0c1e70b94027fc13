//! A tool that adds two numbers.

use serde_json::{Value, json};
fn main() {
    if std::env::args().nth(1).as_deref() == Some("--schema") {
        let number = json!({"type": "number"});
        let parameters = json!({"properties": {"a": number, "b": number}, "required": ["a", "b"]});
        return println!(
            "{}",
            json!({"name": "add", "description": "Add two numbers", "parameters": parameters})
        );
    }
    let given: Value = serde_json::from_reader(std::io::stdin()).expect("arguments");
    println!("{}", given["a"].as_f64().unwrap_or(0.0) + given["b"].as_f64().unwrap_or(0.0));
}
