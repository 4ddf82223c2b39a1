import { web } from '@troupe/contract';
import type { Notice } from '@troupe/contract';
import { useRouter } from '@tanstack/react-router';
import { useCall, useSend } from '../../../api.ts';
import { ago, inDollars } from '../../../format.ts';
import { overview as texts } from '../../../texts/overview.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Icon } from '../../../ui/icons.tsx';
import { Failure, Lines, Loaded } from '../../../ui/states.tsx';
import { WaitingCard } from '../../agents/inbox/items.tsx';
import { useWaiting } from '../../agents/inbox/use-waiting.ts';
import { isInInbox } from '../../agents/inbox/waiting.ts';

const MOST = 5;

/** What the platform wants a person to look at, live. */
export function Attention() {
  const read = useCall(web.notices.list, { query: {} });
  const { items, read: waiting } = useWaiting();
  const mark = useSend(web.notices.read, { refresh: [web.notices.list] });
  // What waits for a decision stands above.
  const isNews = (notice: Notice) => !notice.readAt && !isInInbox(notice);
  return (
    <Card
      title={texts.attention}
      actions={
        read.data?.notices.some(isNews) && (
          <Button small kind="quiet" busy={mark.isPending} onClick={() => mark.mutate({ body: {} })}>
            {texts.markRead}
          </Button>
        )
      }
    >
      {items.length > 0 && (
        <ul className="mb-4 flex flex-col gap-4">
          {items.slice(0, MOST).map((waiting) => (
            <li key={waiting.key} className="rounded-xl border border-line bg-spot-soft p-3">
              <WaitingCard waiting={waiting} />
            </li>
          ))}
        </ul>
      )}
      {items.length > MOST && (
        <LinkButton small className="mb-4" to="/dashboard/inbox">
          {texts.inbox(items.length)}
        </LinkButton>
      )}
      <Loaded from={read}>
        {({ notices }) => {
          const unread = notices.filter(isNews);
          if (unread.length === 0 && items.length > 0) return null;
          if (waiting.error) return <Failure error={waiting.error} retry={waiting.refetch} />;
          // That nothing needs anybody is said when it is known.
          if (unread.length === 0 && waiting.data === undefined) return <Lines rows={2} />;
          return unread.length === 0 ? (
            <p className="flex items-center gap-2 text-ink-soft">
              <Icon name="check" className="shrink-0 text-ok" /> {texts.nothing}
            </p>
          ) : (
            <News unread={unread} />
          );
        }}
      </Loaded>
    </Card>
  );
}

/** The newest, and how many there are besides. */
function News({ unread }: { unread: Notice[] }) {
  const hidden = unread.length - MOST;
  return (
    <ul className="-mt-3 divide-y divide-line">
      {unread.slice(0, MOST).map((notice) => (
        <li key={notice.id} className="flex gap-3 py-3">
          <Icon name="bell" className="mt-0.5 shrink-0 text-spot" />
          <span className="min-w-0">
            <NoticeText {...notice} message={inDollars(notice.message)} />
            <span className="block text-[0.85rem] text-ink-faint">{ago(notice.createdAt)}</span>
          </span>
        </li>
      ))}
      {hidden > 0 && <li className="pt-3 text-ink-faint">{texts.more(hidden)}</li>}
    </ul>
  );
}

function NoticeText({ message, link }: { message: string; link: string | null }) {
  const router = useRouter();
  if (!link?.startsWith('/')) return <span className="block">{message}</span>;
  return (
    <a
      href={link}
      className="link block"
      onClick={(event) => {
        event.preventDefault();
        router.history.push(link);
      }}
    >
      {message}
    </a>
  );
}
