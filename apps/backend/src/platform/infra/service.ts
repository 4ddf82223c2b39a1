import { INFRA, INFRA_EXAMPLES, INFRA_TOOLS, infraKeyErrors } from '@troupe/domain';
import { AppError, iso, type Clock } from '@troupe/kernel';

const { name, version, description, image, documentation, repository } = INFRA;
const about = { name, version, description };

const dockerConfig = {
  mcpServers: {
    render: {
      command: 'docker',
      args: ['run', '-i', '--rm', '-e', 'RENDER_API_KEY', '-v', 'render-mcp-server-config:/config', image],
      env: { RENDER_API_KEY: '<your key>' },
    },
  },
};

export type InfraService = ReturnType<typeof createInfra>;

/** What is known here of the MCP server that runs infrastructure elsewhere. */
export function createInfra(clock: Clock) {
  return {
    documentation,
    repository,
    health: () => ({
      ...about,
      status: 'operational' as const,
      official_repo: repository,
      docker_image: image,
      documentation,
      timestamp: iso(clock()),
    }),
    info: () => ({
      ...about,
      maintained_by: INFRA.maintainer,
      repository,
      docker_image: image,
      documentation,
      setup_guide: '/api/infra-mcp/setup',
      features: [...INFRA.features],
    }),
    setup: () => ({
      title: 'Set up the Render MCP server',
      recommended_approach: `Use the hosted server at ${INFRA.hosted}, or run the Docker image on your own machine.`,
      quick_start: {
        step_1: 'Create an API key in the account settings of the Render dashboard.',
        step_2: 'Check its form with POST /api/infra-mcp/validate-config.',
        step_3: 'Add the server to your MCP client with docker_config_example, and restart the client.',
      },
      docker_config_example: dockerConfig,
      documentation_links: { documentation, repository, hosted_server: INFRA.hosted },
    }),
    tools: () => ({
      source: repository,
      tool_categories: INFRA_TOOLS,
      complete_reference: `${documentation}#supported-actions`,
    }),
    examples: () => ({
      description: 'What to ask an assistant that has these tools',
      examples: INFRA_EXAMPLES,
    }),
    validate(apiKey: unknown) {
      const errors = infraKeyErrors(apiKey);
      if (errors.length > 0)
        throw new AppError(400, errors.join('; '), {
          valid: false,
          errors,
          help: `Create a key as ${documentation} describes.`,
        });
      return {
        valid: true as const,
        message: 'The key has the right form. Whether it is accepted shows at its first use.',
        next_steps: ['Set RENDER_API_KEY in your MCP client', 'Restart the client', 'Ask it to list your workspaces'],
      };
    },
  };
}
