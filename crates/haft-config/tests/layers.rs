//! Merging of layers, and errors with their locations.

use haft_config::{Config, ConfigSource, Error, ErrorKind, Layer, Owners, Spanned};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
struct Settings {
    default_agent: Option<String>,
    timeout: Option<u32>,
    shell: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Agent {
    bin: String,
    #[serde(default)]
    prompt: Delivery,
    #[serde(default)]
    models: std::collections::BTreeMap<String, String>,
    model: Option<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Delivery {
    #[default]
    Auto,
    Argv,
    Stdin,
}

fn config(texts: &[(Layer, &str)]) -> Result<Config, Error> {
    let mut config = Config::new();
    for (layer, text) in texts {
        let name = format!("{layer}.toml");
        config.add(ConfigSource { layer: *layer, name, path: None, text: (*text).to_owned() })?;
    }
    Ok(config)
}

#[test]
fn settings_merge_by_field() {
    let config = config(&[
        (Layer::User, "[settings]\ndefault_agent = 'a'\ntimeout = 5"),
        (Layer::Project, "[settings]\ntimeout = 9\nshell = 'sh'"),
    ]);
    let settings = config.unwrap().settings::<Settings>("settings").unwrap().unwrap();
    let text = |text: &str| Some(text.to_owned());
    let expected = Settings { default_agent: text("a"), timeout: Some(9), shell: text("sh") };
    assert_eq!(settings, expected);
    assert_eq!(Config::new().settings::<Settings>("settings").unwrap(), None);
}

#[test]
fn items_are_replaced_whole_and_keep_their_position() {
    let config = config(&[
        (Layer::Embedded, "[[agent]]\nname='x'\nbin='1'\nprompt='argv'\n[[agent]]\nname='y'\nbin='2'"),
        (Layer::User, "[[agent]]\nname='z'\nbin='3'\n[[agent]]\nname='x'\nbin='4'"),
    ]);
    let items = config.unwrap().items::<Agent>("agent").unwrap();
    let seen: Vec<_> = items.iter().map(|item| format!("{}{}", item.name, item.value.bin)).collect();
    assert_eq!(seen, ["x4", "y2", "z3"]);
    assert_eq!(items[0].value.prompt, Delivery::Auto, "nothing of the replaced one is left");
    assert_eq!(items[0].location.layer(), Layer::User);
}

/// The error for a text, with its hint.
fn refusal(text: &str) -> (ErrorKind, String) {
    let read = |config: Config| {
        config.settings::<Settings>("settings")?;
        config.items::<Agent>("agent")
    };
    let error = config(&[(Layer::User, text)]).and_then(read).expect_err(text);
    let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    (error.kind(), format!("{error}{hint}"))
}

#[test]
fn errors_show_the_line_and_a_hint() {
    for (text, kind, expected) in [
        (
            "[settings]\ntimeuot = 5",
            ErrorKind::UnknownKey,
            "unknown key 'timeuot' in [settings]\n --> user.toml:2:1\n  |\n2 | timeuot = 5\n  | ^^^^^^^\n\
             hint: did you mean 'timeout'?",
        ),
        (
            "[[agents]]\nname = 'x'",
            ErrorKind::UnknownKey,
            "unknown section 'agents'\n --> user.toml:1:3\n  |\n1 | [[agents]]\n  |   ^^^^^^\n\
             hint: did you mean 'agent'?",
        ),
        (
            "[settings]\ntimeout = 'long'",
            ErrorKind::WrongValue,
            "expected an integer, found a string in [settings]\n --> user.toml:2:11\n  |\n\
             2 | timeout = 'long'\n  |           ^^^^^^",
        ),
        (
            "[settings]\ntimeout = -1",
            ErrorKind::WrongValue,
            "number -1 is out of range in [settings]\n --> user.toml:2:11\n  |\n2 | timeout = -1\n  |           ^^",
        ),
        (
            "[[agent]]\nname = 'x'\nbin = 'b'\nprompt = 'agrv'",
            ErrorKind::WrongValue,
            "unknown value 'agrv' in [[agent]] 'x'\n --> user.toml:4:10\n  |\n4 | prompt = 'agrv'\n  |          ^^^^^^\n\
             hint: did you mean 'argv'?",
        ),
        (
            "[[agent]]\nname = 'x'",
            ErrorKind::MissingKey,
            "missing key 'bin' in [[agent]] 'x'\n --> user.toml:2:8\n  |\n2 | name = 'x'\n  |        ^^^",
        ),
        (
            "[[agent]]\nname = 'x'\nbin = 'b'\n[[agent]]\nname = 'x'\nbin = 'c'",
            ErrorKind::Duplicate,
            "duplicate [[agent]] 'x' in the same file\n --> user.toml:5:8\n  |\n5 | name = 'x'\n  |        ^^^\n \
             --> user.toml:2:8\n  |\n2 | name = 'x'\n  |        ^^^ first defined here",
        ),
        (
            "[agent]\nname = 'x'",
            ErrorKind::WrongValue,
            "section 'agent' must be an array of tables, found a table\n --> user.toml:1:2\n  |\n1 | [agent]\n  |  ^^^^^\n\
             hint: write [[agent]] for each item",
        ),
        (
            "[[agent]]\nname = 'x'\nbin = 'b'\nmodels = { big = 3 }",
            ErrorKind::WrongValue,
            "expected a string, found a number in [[agent]] 'x'\n --> user.toml:4:18\n  |\n4 | models = { big = 3 }\n  \
             |                  ^",
        ),
    ] {
        assert_eq!(refusal(text), (kind, expected.to_owned()), "{text}");
    }
    let (kind, message) = refusal("[settings\nx = 1");
    assert_eq!(kind, ErrorKind::Syntax);
    assert!(message.contains("user.toml:1:"), "{message}");
}

#[test]
fn errors_in_overridden_values_are_still_reported() {
    let config = config(&[
        (Layer::User, "[settings]\ntimeout = 'x'\n[[agent]]\nname='a'\nbin=3"),
        (Layer::Project, "[settings]\ntimeout = 3\n[[agent]]\nname='a'\nbin='b'"),
    ]);
    let config = config.unwrap();
    assert!(config.settings::<Settings>("settings").is_err());
    assert!(config.items::<Agent>("agent").is_err());
}

#[test]
fn values_have_spans() {
    let config = config(&[(
        Layer::User,
        "[[agent]]\nname='a'\nbin='b'\nmodels = { m = 'x' }\nmodel = 'say {what} now'",
    )]);
    let config = config.unwrap();
    let items = config.items::<Agent>("agent").unwrap();
    assert_eq!(items[0].value.models["m"], "x");
    let model = items[0].value.model.as_ref().unwrap();
    let location = config.locate(model.span).narrowed("{what}");
    let error = Error::at(ErrorKind::WrongValue, &location, "unknown");
    assert!(error.to_string().ends_with("5 | model = 'say {what} now'\n  |              ^^^^^^"), "{error}");
}

#[test]
fn an_unreadable_file_is_not_treated_as_missing() {
    let directory = tempfile::tempdir().unwrap();
    let add = |config: &mut Config| {
        config.add_file(Layer::Project, directory.path(), directory.path(), &Owners::of_process())
    };
    let mut config = Config::new();
    add(&mut config).unwrap();
    assert_eq!(config.sources().count(), 0);
    let path = directory.path().join(haft_config::CONFIG_FILE_NAME);
    std::fs::write(&path, b"\xff\xfe").unwrap();
    assert_eq!(add(&mut config).unwrap_err().kind(), ErrorKind::Unreadable);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(add(&mut config).unwrap_err().kind(), ErrorKind::Unreadable);
}
