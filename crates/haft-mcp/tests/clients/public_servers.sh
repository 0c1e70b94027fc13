#!/bin/sh
# Uses two public MCP servers as tools in pipelines: public_servers.sh PATH-OF-HAFT
# Needs `pip install mcp-server-time` and `npm i @modelcontextprotocol/server-everything` on the PATH.
set -eu
haft=$1
directory=$(mktemp -d)
trap 'rm -r "$directory"' EXIT
mkdir "$directory/haft"
cat > "$directory/haft/config.toml" <<END
[[mcp]]
name = "clock"
command = ["$(command -v mcp-server-time)"]

[[mcp]]
name = "everything"
command = ["$(command -v mcp-server-everything)"]
END
export XDG_CONFIG_HOME="$directory"
"$haft" tool list | grep -E '^(clock|everything)\.'
"$haft" -c 'tool clock.get_current_time timezone=Asia/Tokyo | grep -o "\"timezone\":\"[^\"]*\""'
"$haft" -c 'tool everything.echo message="from a pipeline" | tr a-z A-Z'
"$haft" -c 'for zone in UTC Europe/Berlin; do clock.convert_time source_timezone=UTC time=12:00 target_timezone=$zone; done | grep -c time_difference'
