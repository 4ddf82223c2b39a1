import type { StandInRequest } from '@troupe/ai/stand-in';

/** What a model was asked. */

interface Message {
  role: string;
  content: string | null;
}
export const messagesOf = ({ body }: StandInRequest): Message[] => (body['messages'] ?? []) as Message[];
export const toolsOf = ({ body }: StandInRequest): string[] =>
  ((body['tools'] ?? []) as { function: { name: string } }[]).map((one) => one.function.name);
