import type { Team } from '@troupe/domain';
import { teams as texts } from '../../../texts/teams.ts';

const BOX = { width: 148, height: 46 };
const GAP = { x: 20, y: 56 };
const PER_ROW = 4;

interface Placed {
  name: string;
  role: string;
  subAgents: string[];
  x: number;
  y: number;
}

/** Levels by distance from the lead; agents that nobody can reach come last. */
function place(team: Team): { nodes: Placed[]; width: number; height: number } {
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
  const widest = Math.max(...rows.map((row) => row.length));
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
  return { nodes, width, height: rows.length * BOX.height + (rows.length - 1) * GAP.y };
}

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Who delegates to whom, as a picture and in words. */
export function Delegation({ team }: { team: Team }) {
  const { nodes, width, height } = place(team);
  const at = new Map(nodes.map((node) => [node.name, node]));
  return (
    <figure className="min-w-0">
      <svg
        viewBox={`-2 -2 ${width + 4} ${height + 4}`}
        className="mx-auto block h-auto w-full"
        style={{ maxWidth: width * 1.1 }}
        aria-hidden="true"
      >
        {nodes.flatMap((from) =>
          from.subAgents.map((name) => {
            const to = at.get(name)!;
            const [x1, y1] = [from.x + BOX.width / 2, from.y + BOX.height];
            const [x2, y2] = [to.x + BOX.width / 2, to.y];
            const bend = Math.max(24, (y2 - y1) / 2);
            return (
              <path
                key={`${from.name}-${name}`}
                d={`M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`}
                className="fill-none stroke-line-strong"
                strokeWidth="1.5"
              />
            );
          }),
        )}
        {nodes.map((node, index) => (
          <Box key={node.name} node={node} isFirst={index === 0} />
        ))}
      </svg>
      <figcaption className="sr-only">
        {nodes.map(({ name, subAgents }) => (
          <p key={name}>{texts.pictureText(name, subAgents.join(', ') || texts.nobody)}</p>
        ))}
      </figcaption>
    </figure>
  );
}

function Box({ node, isFirst }: { node: Placed; isFirst: boolean }) {
  return (
    <g transform={`translate(${node.x} ${node.y})`}>
      <rect
        width={BOX.width}
        height={BOX.height}
        rx="10"
        className={isFirst ? 'fill-accent' : 'fill-surface stroke-line-strong'}
      />
      <text
        x={BOX.width / 2}
        y="20"
        textAnchor="middle"
        className={isFirst ? 'fill-on-accent' : 'fill-ink'}
        fontWeight="600"
        fontSize="13"
      >
        {cut(node.name, 19)}
      </text>
      <text
        x={BOX.width / 2}
        y="36"
        textAnchor="middle"
        className={isFirst ? 'fill-on-accent' : 'fill-ink-faint'}
        fontSize="11"
      >
        {cut(node.role, 24)}
      </text>
    </g>
  );
}
