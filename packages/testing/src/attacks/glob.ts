import { nothing, unless, type Prepare } from './hostile.ts';

/** A pattern that takes years on one long name, asked for by one chat message. */
const PATTERNS = { stars: `${'*a'.repeat(12)}b`, braces: '{a,b}'.repeat(15) };

export const hostileGlob: Prepare = async ({ attacker }) => {
  await attacker.chat({ tool: 'write_file', args: { path: `${'a'.repeat(55)}!`, content: 'x' } }, { say: 'made' });
  return {
    attack: (signal) =>
      unless(
        signal,
        attacker.chat(
          ...Object.values(PATTERNS).map((pattern) => ({ tool: 'search_files', args: { path: '.', pattern } })),
          { say: 'done' },
        ),
      ),
    end: nothing,
  };
};
