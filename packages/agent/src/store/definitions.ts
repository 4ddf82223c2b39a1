import type { AgentDefinition, VersionedDefinition } from '@troupe/domain';

/** What the agent is. A part of every store. */
export interface DefinitionStore {
  definition: () => Promise<VersionedDefinition | undefined>;
  /** Saves a next version and answers its number. */
  saveDefinition: (definition: AgentDefinition) => Promise<number>;
}
