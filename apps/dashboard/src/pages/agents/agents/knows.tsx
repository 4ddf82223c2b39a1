import { AgentKnowledge } from '../knowledge/agent-knowledge.tsx';
import { AgentSkills } from '../skills/agent-skills.tsx';

/** What the agent may look up. */
export function Knows({ agentId }: { agentId: string }) {
  return (
    <div className="flex flex-col gap-5">
      <AgentKnowledge agentId={agentId} />
      <AgentSkills agentId={agentId} />
    </div>
  );
}
