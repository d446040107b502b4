// The TypeScript client of the 2026 SDK. Usage: client.mjs URL TOKEN REVISION
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { walk } from "./walk.mjs";

const [url, token, revision] = process.argv.slice(2);
const mode = revision === "2026-07-28" ? { pin: revision } : "legacy";
const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
const headers = { Authorization: `Bearer ${token}` };
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
const walked = await walk(client, {
  call: (name, given, options) => client.callTool({ name, arguments: given }, options),
  resourcePage: (params) => client.request({ method: "resources/list", params }),
});
console.log(JSON.stringify(walked));
await client.close();
