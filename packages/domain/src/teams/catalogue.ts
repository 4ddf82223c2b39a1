/** Servers of Docker's MCP catalogue as their makers offer them without Docker. */

export interface KnownServer {
  url?: string;
  command?: string;
  args?: string[];
  /** What is to be done before it can be used. */
  needs?: string;
  /** What becomes of its settings: an argument that begins so, or what its owner has to do. */
  config?: Readonly<Record<string, { arg: string } | { asks: string }>>;
}

const npm = (name: string, needs?: string): KnownServer => ({
  command: 'npx',
  args: ['-y', name],
  ...(needs && { needs }),
});
const pypi = (name: string, needs?: string): KnownServer => ({ command: 'uvx', args: [name], ...(needs && { needs }) });

const SERVERS: Readonly<Record<string, KnownServer>> = {
  apify: { url: 'https://mcp.apify.com', needs: 'connect it to your account there' },
  brave: npm('@brave/brave-search-mcp-server', 'give it BRAVE_API_KEY'),
  context7: { url: 'https://mcp.context7.com/mcp' },
  couchbase: pypi('couchbase-mcp-server', 'give it CB_CONNECTION_STRING, CB_USERNAME and CB_PASSWORD'),
  duckduckgo: pypi('duckduckgo-mcp-server'),
  // It works where it starts, in the agent's workspace.
  filesystem: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] },
  fetch: pypi('mcp-server-fetch'),
  github: { url: 'https://api.githubcopilot.com/mcp/', needs: 'connect it to your account there' },
  'github-official': { url: 'https://api.githubcopilot.com/mcp/', needs: 'connect it to your account there' },
  'inspektor-gadget': {
    command: 'ig-mcp-server',
    args: ['-gadget-discoverer=artifacthub'],
    needs: 'put the program ig-mcp-server into its workspace or image',
    config: {
      kubeconfig: { asks: 'put that kubeconfig into its workspace' },
      'gadget-images': { arg: '-gadget-images=' },
    },
  },
  kubernetes: {
    ...npm('mcp-server-kubernetes', 'put a kubeconfig into its workspace'),
    config: { config_path: { asks: 'put that kubeconfig into its workspace' } },
  },
  'openbnb-airbnb': npm('@openbnb/mcp-server-airbnb'),
};

export const catalogueServer = (name: string): KnownServer | undefined =>
  Object.hasOwn(SERVERS, name) ? SERVERS[name] : undefined;
