// The TypeScript SDK that most clients are built on. Usage: sdk.mjs URL TOKEN
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { walk } from "./walk.mjs";

const [url, token] = process.argv.slice(2);
const client = new Client({ name: "test", version: "1" });
const headers = { Authorization: `Bearer ${token}` };
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
const walked = await walk(client, {
  call: (name, given, options) => client.callTool({ name, arguments: given }, undefined, options),
  resourcePage: (params) => client.listResources(params),
});
console.log(JSON.stringify(walked));
await client.close();
