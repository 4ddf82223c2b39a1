import {
  getInfraDocs,
  getInfraExamples,
  getInfraHealth,
  getInfraInfo,
  getInfraRepository,
  getInfraSetup,
  getInfraTools,
  validateInfraConfig,
} from '@troupe/contract';
import { INFRA, INFRA_EXAMPLES, INFRA_TOOLS, infraKeyErrors } from '@troupe/domain';
import { AppError, iso, redirect, serve, type Clock, type Server } from '@troupe/kernel';

const { name, version, description, image, documentation, repository } = INFRA;
const about = { name, version, description };
const MOVED = 301;

const dockerConfig = {
  mcpServers: {
    render: {
      command: 'docker',
      args: ['run', '-i', '--rm', '-e', 'RENDER_API_KEY', '-v', 'render-mcp-server-config:/config', image],
      env: { RENDER_API_KEY: '<your key>' },
    },
  },
};

export function infraRoutes(server: Server, clock: Clock): void {
  serve(server, getInfraHealth, () => ({
    ...about,
    status: 'operational' as const,
    official_repo: repository,
    docker_image: image,
    documentation,
    timestamp: iso(clock()),
  }));
  serve(server, getInfraInfo, () => ({
    ...about,
    maintained_by: INFRA.maintainer,
    repository,
    docker_image: image,
    documentation,
    setup_guide: '/api/infra-mcp/setup',
    features: [...INFRA.features],
  }));
  serve(server, getInfraSetup, () => ({
    title: 'Set up the Render MCP server',
    recommended_approach: `Use the hosted server at ${INFRA.hosted}, or run the Docker image on your own machine.`,
    quick_start: {
      step_1: 'Create an API key in the account settings of the Render dashboard.',
      step_2: 'Check its form with POST /api/infra-mcp/validate-config.',
      step_3: 'Add the server to your MCP client with docker_config_example, and restart the client.',
    },
    docker_config_example: dockerConfig,
    documentation_links: { documentation, repository, hosted_server: INFRA.hosted },
  }));
  serve(server, getInfraTools, () => ({
    source: repository,
    tool_categories: INFRA_TOOLS,
    complete_reference: `${documentation}#supported-actions`,
  }));
  serve(server, getInfraExamples, () => ({
    description: 'What to ask an assistant that has these tools',
    examples: INFRA_EXAMPLES,
  }));
  serve(server, validateInfraConfig, ({ body }) => {
    const errors = infraKeyErrors(body.api_key);
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
  });
  serve(server, getInfraDocs, () => redirect(documentation, MOVED));
  serve(server, getInfraRepository, () => redirect(repository, MOVED));
}
