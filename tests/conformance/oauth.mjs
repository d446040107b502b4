// The TypeScript SDK's own way through OAuth. Usage: oauth.mjs URL CALLBACK
// Prints where the person is to go, reads where they were sent back to, lists the tools and searches.
import { createInterface } from "node:readline/promises";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, callback] = process.argv.slice(2);
const kept = {};
const provider = {
  redirectUrl: callback,
  clientMetadata: {
    client_name: "TypeScript client",
    redirect_uris: [callback],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  state: () => "state-of-the-script",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  redirectToAuthorization: (address) => { console.log(address.href); },
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  codeVerifier: () => kept.verifier,
};

const connect = async () => {
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  return client;
};

try {
  await connect();
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
}
const sent = new URL(await createInterface({ input: process.stdin }).question(""));
const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
await transport.finishAuth(sent.searchParams.get("code"));
const client = await connect();
const { tools } = await client.listTools();
const asked = { name: "search_knowledge_base", arguments: { query: "granite" } };
const { structuredContent } = await client.callTool(asked);
console.log(JSON.stringify({
  tools: tools.map((tool) => tool.name),
  found: structuredContent.results.map((hit) => hit.title),
  tokens: kept.tokens,
  client: kept.client.client_id,
}));
await client.close();
process.exit(0);
