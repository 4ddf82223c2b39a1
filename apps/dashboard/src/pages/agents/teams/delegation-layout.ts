import type { Team } from '@troupe/domain';

export const BOX = { width: 148, height: 46 };
const GAP = { x: 20, y: 56 };
const PER_ROW = 4;

export interface Placed {
  name: string;
  role: string;
  subAgents: string[];
  x: number;
  y: number;
}

/** Levels by distance from the lead; agents that nobody can reach come last. */
export function place(team: Team): { nodes: Placed[]; width: number; height: number } {
  const byName = new Map(team.agents.map((agent) => [agent.name, agent]));
  const levels: string[][] = [];
  const seen = new Set<string>();
  let level = team.agents.slice(0, 1).map(({ name }) => name);
  while (level.length > 0) {
    levels.push(level);
    for (const name of level) seen.add(name);
    level = [...new Set(level.flatMap((name) => byName.get(name)?.subAgents ?? []))].filter((name) => !seen.has(name));
  }
  const loose = team.agents.map(({ name }) => name).filter((name) => !seen.has(name));
  if (loose.length > 0) levels.push(loose);

  const rows = levels.flatMap((names) =>
    Array.from({ length: Math.ceil(names.length / PER_ROW) }, (_, index) =>
      names.slice(index * PER_ROW, (index + 1) * PER_ROW),
    ),
  );
  const widest = Math.max(1, ...rows.map((row) => row.length));
  const width = widest * BOX.width + (widest - 1) * GAP.x;
  const nodes = rows.flatMap((row, depth) => {
    const start = (width - (row.length * BOX.width + (row.length - 1) * GAP.x)) / 2;
    return row.map((name, index) => ({
      name,
      role: byName.get(name)!.role,
      subAgents: byName.get(name)!.subAgents,
      x: start + index * (BOX.width + GAP.x),
      y: depth * (BOX.height + GAP.y),
    }));
  });
  return { nodes, width, height: rows.length * BOX.height + Math.max(0, rows.length - 1) * GAP.y };
}

/** So many characters at the most. */
export const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
