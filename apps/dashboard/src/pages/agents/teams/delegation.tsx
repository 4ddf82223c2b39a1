import type { Team } from '@troupe/domain';
import { teams as texts } from '../../../texts/teams.ts';
import { BOX, cut, place } from './delegation-layout.ts';
import type { Placed } from './delegation-layout.ts';

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
