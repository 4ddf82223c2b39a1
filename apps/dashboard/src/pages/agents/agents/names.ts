import { web } from '@troupe/contract';
import { useCall } from '../../../api.ts';

/** The own agents, and their names by id; another's agent shows its id. */
export function useAgentNames() {
  const agents = useCall(web.agents.list, {}).data?.agents ?? [];
  const nameOf = (id: string) => agents.find((agent) => agent.id === id)?.name ?? id;
  return { agents, nameOf, choices: agents.map(({ id, name }) => ({ value: id, label: name })) };
}
