import { web } from '@troupe/contract';
import { useCall } from '../../../api.ts';
import { humanise } from '../../../format.ts';
import { overview as texts } from '../../../texts/overview.ts';
import { Card } from '../../../ui/card.tsx';
import { Loaded } from '../../../ui/states.tsx';

/** The day in short, from measured state. */
export function Brief() {
  const read = useCall(web.overview.getBrief, {}, { every: 120_000 });
  return (
    <Card title={texts.brief}>
      <Loaded from={read}>
        {({ brief }) => (
          <dl className="flex flex-col gap-3">
            {brief
              // What needs attention stands beside it, with links.
              .filter(({ id, items }) => id !== 'focus' && items.length > 0)
              .map(({ id, title, items }) => (
                <div key={id}>
                  <dt className="eyebrow">{title}</dt>
                  {items.map((item) => (
                    <dd key={item} className="mt-0.5 text-[0.95rem]">
                      {humanise(item)}
                    </dd>
                  ))}
                </div>
              ))}
          </dl>
        )}
      </Loaded>
    </Card>
  );
}
