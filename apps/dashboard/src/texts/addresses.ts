/** Loaded when somebody asks for them: the page around them is full. */
export const api = {
  labels: { openai: 'Python, with the client of OpenAI', mcp: 'Address of its MCP server' },
  hints: {
    openai:
      'Any client of OpenAI or Anthropic can use this address: chat completions, responses and messages. Its own tools are used as always.',
    mcp: 'For a client that can use tools: it asks this agent with them. Your key goes along as a bearer token; a client that asks for access itself needs the address alone.',
  },
};
