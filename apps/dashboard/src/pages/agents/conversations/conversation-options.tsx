import { web } from '@troupe/contract';
import type { Branch, SessionHead } from '@troupe/contract';
import { useState } from 'react';
import { urlOf, useCall, useSend } from '../../../api.ts';
import { ago, moment } from '../../../format.ts';
import { kept as texts } from '../../../texts/talk.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { Confirm, Dialog } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { OLDER } from './conversation-list.tsx';

interface Props {
  agentId: string;
  session: SessionHead;
  branches: Branch[];
  onOpen: (sessionId: string) => void;
  onClose: () => void;
  onDeleted: () => void;
}

const link =
  'inline-flex min-h-8 items-center rounded-lg border border-line-strong/45 bg-surface px-2.5 text-[0.87rem] font-medium hover:border-line-strong';

/** What can be done with a conversation as a whole. */
export function ConversationOptions({ agentId, session, branches, onOpen, onClose, onDeleted }: Props) {
  const params = { id: agentId, sessionId: session.id };
  const change = useSend(web.conversations.change, { refresh: [web.conversations.list, OLDER] });
  const remove = useSend(web.conversations.remove, { refresh: [web.conversations.list, OLDER], done: onDeleted });
  const [isAsking, setAsking] = useState(false);
  const exported = (format: 'markdown' | 'json') => urlOf(web.conversations.download, { params, query: { format } });
  const rename = (title: string) => change.mutate({ params, body: { title } }, { onSuccess: onClose });
  const now = change.data?.session ?? session;
  return (
    <Dialog open onClose={onClose} title={texts.title}>
      <div className="flex flex-col gap-5">
        <Rename title={session.title ?? ''} busy={change.isPending} error={change.error} onRename={rename} />
        <div className="flex flex-wrap gap-2">
          <Button small icon="pin" onClick={() => change.mutate({ params, body: { pinned: !now.pinned } })}>
            {now.pinned ? texts.unpin : texts.pin}
          </Button>
          <Button small onClick={() => change.mutate({ params, body: { archived: !now.archived } })}>
            {now.archived ? texts.unarchive : texts.archive}
          </Button>
          <a className={link} href={exported('markdown')} download>
            {texts.exportMarkdown}
          </a>
          <a className={link} href={exported('json')} download>
            {texts.exportJson}
          </a>
          <Button small kind="danger" icon="trash" onClick={() => setAsking(true)}>
            {texts.remove}
          </Button>
        </div>
        {branches.length > 1 && <Branches branches={branches} current={session.id} onOpen={onOpen} />}
        <Shares agentId={agentId} sessionId={session.id} />
      </div>
      <Confirm
        open={isAsking}
        onClose={() => setAsking(false)}
        title={texts.removeTitle}
        losses={<p>{texts.removeLoss}</p>}
        action={texts.remove}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ params })}
      />
    </Dialog>
  );
}

function Rename({
  title: before,
  busy,
  error,
  onRename,
}: {
  title: string;
  busy: boolean;
  error: Error | null;
  onRename: (title: string) => void;
}) {
  const [title, setTitle] = useState(before);
  return (
    <Form error={error} fields={[]} onSubmit={() => onRename(title)}>
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1">
          <TextField
            label={texts.name}
            required
            dir="auto"
            value={title}
            onChange={({ target }) => setTitle(target.value)}
          />
        </div>
        <Button type="submit" busy={busy}>
          {texts.rename}
        </Button>
      </div>
      <Refused error={error} />
    </Form>
  );
}

function Branches({
  branches,
  current,
  onOpen,
}: {
  branches: Branch[];
  current: string;
  onOpen: (id: string) => void;
}) {
  return (
    <section>
      <h3 className="mb-1.5 text-[1rem] font-semibold">{texts.branches}</h3>
      <ul className="flex max-h-44 flex-col gap-1 overflow-y-auto">
        {branches.map(({ id, updatedAt }, index) => (
          <li key={id} className="flex items-center justify-between gap-3">
            <span>
              {texts.branch(index + 1)} <span className="text-[0.85rem] text-ink-faint">{ago(updatedAt)}</span>
            </span>
            {id === current ? (
              <span className="text-[0.85rem] text-ink-faint">{texts.here}</span>
            ) : (
              <Button small onClick={() => onOpen(id)} aria-label={texts.openBranch(index + 1)}>
                {texts.open}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Shares({ agentId, sessionId }: { agentId: string; sessionId: string }) {
  const read = useCall(web.shares.list, { params: { id: agentId } });
  const share = useSend(web.shares.create, { refresh: [web.shares.list] });
  const remove = useSend(web.shares.remove, { refresh: [web.shares.list] });
  const shares = read.data?.shares ?? [];
  const problem = share.error ?? remove.error;
  return (
    <section className="flex flex-col gap-2 border-t border-line pt-4">
      <p className="text-[0.9rem] text-ink-soft">{texts.shareHint}</p>
      <div>
        <Button busy={share.isPending} onClick={() => share.mutate({ params: { id: agentId, sessionId } })}>
          {texts.share}
        </Button>
      </div>
      {share.data && (
        <>
          <Notice tone="spot">{texts.shared}</Notice>
          <Code label={texts.link} text={share.data.url} />
        </>
      )}
      {problem && <Notice tone="danger">{problem.message}</Notice>}
      {shares.length > 0 && (
        <>
          <h3 className="mt-1 text-[1rem] font-semibold">{texts.links}</h3>
          <ul className="flex max-h-44 flex-col gap-1 overflow-y-auto">
            {shares.map(({ id, title, createdAt }) => (
              <li key={id} className="flex items-center justify-between gap-3">
                <span className="min-w-0 truncate" dir="auto">
                  {title} <span className="text-[0.85rem] text-ink-faint">{moment(createdAt)}</span>
                </span>
                <Button
                  small
                  aria-label={texts.unshareNamed(title)}
                  onClick={() => remove.mutate({ params: { id: agentId, shareId: id } })}
                >
                  {texts.unshare}
                </Button>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
