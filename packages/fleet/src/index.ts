export { createChannelHost, type ChannelHost, type ChannelHostDeps } from './channels.ts';
export { effectiveConfig, layered, type ConfigPart } from './config.ts';
export { DriverError, type Driver, type DriverStats, type Placement } from './driver.ts';
export { createEmbedded, type Embedded, type EmbeddedDeps, type Thinking } from './embedded.ts';
export { AGENT_CHANGED, createFleet, type Fleet, type FleetDeps, type Updated } from './fleet.ts';
export { createRegistry, LimitReached, type AgentRow, type NewAgent, type Registry } from './registry.ts';
export { checkTicket, isTicket, makeTicket } from './tickets.ts';
export { createDocker, teamToken, type DockerDeps } from './docker/docker.ts';
export { dockerEngine } from './docker/engine.ts';
