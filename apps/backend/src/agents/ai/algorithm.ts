import type { ChatMessage } from '@troupe/ai';

const PHASES = ['Observe', 'Think', 'Plan', 'Build', 'Execute', 'Verify', 'Learn'];

const PROMPT = `Structure your answer in seven phases, each under its own heading:
1. Observe: what is given and what is asked.
2. Think: what matters, what could go wrong, which ways there are.
3. Plan: the steps you will take.
4. Build: make the parts.
5. Execute: carry out the plan and show the result.
6. Verify: check the result against what was asked.
7. Learn: what to keep in mind next time.`;

const namesPhases = (message: ChatMessage): boolean => {
  if (message.role !== 'system') return false;
  const text = JSON.stringify(message.content);
  return PHASES.every((phase) => text.includes(phase));
};

/** Puts the seven-phase prompt first, unless a system message already has the phases. */
export const withAlgorithm = (messages: ChatMessage[]): ChatMessage[] =>
  messages.some(namesPhases) ? messages : [{ role: 'system', content: PROMPT }, ...messages];
