import type { Selectable } from 'kysely';
import type { Tables } from '@troupe/db';
import type { AgentDefinition, definitionSchema, Plan, StandingRule, Tier } from '@troupe/domain';
import type { z } from 'zod';
import type { ConfigPart } from './config.ts';
import type { WantedSkills } from './skills.ts';

/** What the rows of an agent say. */

export type AgentRow = Selectable<Tables['agents']>;

type AgentStatus = 'pending' | 'provisioning' | 'running' | 'stopped' | 'error' | 'failed';

export interface NewAgent {
  id: string;
  userId: string;
  name: string;
  plan: Plan | 'free';
  status: AgentStatus;
  tier?: Tier;
  size?: string;
  model: string;
  aiProvider?: string;
  teamId?: string;
  /** Where it is not the platform's own driver that runs it. */
  driver?: 'hosting';
  /** Beside name and configuration. */
  definition?: Omit<z.input<typeof definitionSchema>, 'name' | 'config' | 'skills'>;
  /** From its owner's library, by name. */
  skills?: WantedSkills;
  ownConfig?: ConfigPart;
  /** Words by which its owner finds it. */
  tags?: readonly string[];
  channels?: Readonly<Record<string, string>>;
  /** Of the owner's own account at `aiProvider`. */
  apiKey?: string;
}

export interface AgentSnapshot {
  name: string;
  model: string;
  ownConfig: ConfigPart;
  definition: AgentDefinition;
}

/** What an agent is for, and what it may use. */
export type Purpose = Partial<Pick<AgentDefinition, 'instruction' | 'tools' | 'description' | 'approvals'>>;

/** A collection of documents, given or taken away. */
export interface CollectionChange {
  id: string;
  on: boolean;
}

/** A skill that an agent is given, or that is taken from it. */
export interface SkillChange {
  id: string;
  on: boolean;
  /** What whoever gives it has seen: another newest version is refused. */
  digest?: string | undefined;
}

/** What can be changed of what an agent runs with. */
export interface AgentChange {
  config?: ConfigPart | undefined;
  purpose?: Purpose | undefined;
  skill?: SkillChange | undefined;
  collection?: CollectionChange | undefined;
  /** What it may do from now on without asking. */
  rule?: StandingRule | undefined;
}
