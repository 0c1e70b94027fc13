#!/bin/sh
# The official conformance suite against the server over HTTP: conformance.sh PATH-OF-HAFT
# Needs `npm i @modelcontextprotocol/conformance`. The suite knows no tokens: a relay in between adds ours. Of its scenarios, those
# run that need no tools, prompts or resources of the suite's own making.
set -eu
haft=$1
directory=$(mktemp -d)
"$haft" mcp --http 127.0.0.1:0 --token-file "$directory/token" 2> "$directory/log" &
server=$!
trap 'kill $server $relay 2> "$directory/null" || :; rm -r "$directory"' EXIT
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
for scenario in server-initialize ping tools-list resources-list prompts-list dns-rebinding-protection server-sse-multiple-streams; do
  conformance server --url "$url" --scenario "$scenario" 2>&1 | grep -E "Passed|passed|✓|✗|FAIL" || :
done
