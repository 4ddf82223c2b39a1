import http from 'node:http';

/**
 * The program that the conformance suite starts for each scenario: it asks the test, which has the agent's code loaded
 * already, to be the client. The test's port and the address of the suite's server are the arguments.
 */

const [port, url] = process.argv.slice(2);
interface Context {
  toolCalls?: unknown;
  client_id?: string;
  client_secret?: string;
}
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context;
const { toolCalls, client_id: id, client_secret: secret } = context;
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'];
const wanted = JSON.stringify({ url, scenario, toolCalls, ...(id !== undefined && { client: { id, secret } }) });
http
  .request({ host: '127.0.0.1', port, method: 'POST' }, (response) => {
    response.pipe(process.stderr);
    process.exitCode = response.statusCode === 200 ? 0 : 1;
  })
  .end(wanted);
