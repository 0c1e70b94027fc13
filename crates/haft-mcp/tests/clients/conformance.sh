#!/bin/sh
# Runs the official conformance suite against the server over HTTP: conformance.sh PATH-OF-HAFT [SCENARIO…]
# Needs `npm i @modelcontextprotocol/conformance` and node 22 or later on the PATH. The suite does not support tokens, so a relay
# adds the token. Tools in a directory and tasks provide the fixtures that the suite expects, as far as haft supports them.
set -eu
haft=$1
shift
directory=$(mktemp -d)
server='' relay=''
trap 'kill $server $relay 2> "$directory/null" || :; rm -r "$directory"' EXIT

mkdir -p "$directory/haft/tools"
tool() { # NAME SCHEMA SCRIPT
  cat > "$directory/haft/tools/$1-tool" <<END
#!/bin/sh
if [ "\${1-}" = --schema ]; then
  echo '{"name": "$1", "description": "Fixture of the suite", "parameters": $2}'
  exit
fi
$3
END
  chmod +x "$directory/haft/tools/$1-tool"
}
tool test_simple_text '{"type": "object"}' 'echo "\"This is a simple text response for testing.\""'
tool test_error_handling '{"type": "object"}' 'echo "This tool intentionally returns an error for testing" >&2; exit 1'
tool json_schema_2020_12_tool '{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}}, "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}}, "additionalProperties": false}' 'echo "\"done\""'
cat > "$directory/haft/config.toml" <<'END'
[[task]]
name = "test_simple_prompt"
description = "Fixture of the suite"
prompt = "This is a simple prompt for testing."
END

cd "$directory"
: > log
XDG_CONFIG_HOME=$directory "$haft" mcp --http 127.0.0.1:0 --token-file "$directory/token" 2> "$directory/log" &
server=$!
while ! grep -q token "$directory/log"; do sleep 0.05; done
address=$(sed -n 's|.*http://\([^/]*\)/mcp.*|\1|p' "$directory/log")
node -e '
  const http = require("node:http");
  const [address, token] = process.argv.slice(1);
  const [host, port] = address.split(":");
  http.createServer((request, response) => {
    const headers = { ...request.headers, authorization: "Bearer " + token };
    const onward = http.request({ host, port, path: "/mcp", method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
  }).listen(0, "127.0.0.1", function () { console.log(this.address().port); });
' "$address" "$(cat "$directory/token")" > "$directory/relay" &
relay=$!
while ! [ -s "$directory/relay" ]; do sleep 0.05; done
url="http://127.0.0.1:$(cat "$directory/relay")/mcp"
[ $# -gt 0 ] || set -- server-initialize ping logging-set-level completion-complete tools-list tools-call-simple-text tools-call-error \
  json-schema-2020-12 resources-list resources-subscribe resources-unsubscribe prompts-list prompts-get-simple dns-rebinding-protection \
  server-sse-multiple-streams
for scenario; do
  if conformance server --url "$url" --scenario "$scenario" > "$directory/out" 2>&1; then
    echo "passed: $scenario"
  else
    echo "FAILED: $scenario"
    sed 's/^/    /' "$directory/out"
  fi
done
