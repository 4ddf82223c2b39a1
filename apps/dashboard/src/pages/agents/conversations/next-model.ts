import { useState } from 'react';
import { forget, keep, kept } from '../../../keeping.ts';

/** The model for what is asked next; it is kept until another one is chosen. */
export function useNextModel(agentId: string): [string | undefined, (model: string | undefined) => void] {
  const key = `model:${agentId}`;
  const [model, setModel] = useState<string | undefined>(() => kept(key) as string | undefined);
  const choose = (next: string | undefined) => {
    setModel(next);
    if (next === undefined) forget(key);
    else keep(key, next);
  };
  return [model, choose];
}
