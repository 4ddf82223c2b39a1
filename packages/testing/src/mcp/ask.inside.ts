import http from 'node:http';

/**
 * The program that the conformance suite starts for each scenario: it asks the test, which has the agent's code loaded
 * already, to be the client. The test's port and the address of the suite's server are the arguments.
 */

const [port, url] = process.argv.slice(2);
const { toolCalls } = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as { toolCalls?: unknown };
const wanted = JSON.stringify({ url, scenario: process.env['MCP_CONFORMANCE_SCENARIO'], toolCalls });
http
  .request({ host: '127.0.0.1', port, method: 'POST' }, (response) => {
    response.pipe(process.stderr);
    process.exitCode = response.statusCode === 200 ? 0 : 1;
  })
  .end(wanted);
