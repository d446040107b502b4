// Passes requests on with a token: the conformance suite has no way to send one.
// Usage: with_token.mjs TARGET TOKEN; prints the port it listens on.
import http from "node:http";

const [target, token] = process.argv.slice(2);
const { hostname, port } = new URL(target);

const proxy = http.createServer((request, answer) => {
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  const { method, url: path } = request;
  const onward = http.request({ hostname, port, path, method, headers }, (reply) => {
    answer.writeHead(reply.statusCode, reply.rawHeaders);
    reply.pipe(answer);
  });
  onward.on("error", () => answer.destroy());
  answer.on("close", () => onward.destroy());
  request.pipe(onward);
});

proxy.listen(0, "127.0.0.1", () => console.log(proxy.address().port));
