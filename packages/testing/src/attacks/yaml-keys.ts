import { nothing, unless, type Prepare } from './hostile.ts';

/** A team's document with more keys than a careless reader can compare. */
const manyKeys = (bytes: number): string => {
  const lines: string[] = [];
  for (let size = 0, n = 0; size < bytes; n += 1) {
    const line = `key${n}: 1`;
    lines.push(line);
    size += line.length + 1;
  }
  return lines.join('\n');
};

export const hostileYamlKeys: Prepare = async ({ attacker }) => {
  const yaml = manyKeys(400_000);
  return {
    attack: async (signal) => {
      for (let turn = 0; turn < 3 && !signal.aborted; turn += 1)
        await unless(signal, attacker.ask('POST', '/api/provision/team', { plan: 'network', yaml_config: yaml }));
    },
    end: nothing,
  };
};
