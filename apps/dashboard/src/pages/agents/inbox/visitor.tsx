import { VISITOR_MESSAGE_LENGTH, web } from '@troupe/contract';
import type { InboxItem } from '@troupe/contract';
import { useRef } from 'react';
import { useSend } from '../../../api.ts';
import { ago } from '../../../format.ts';
import { newId } from '../../../ids.ts';
import { visitors as texts } from '../../../texts/widgets.ts';
import { inbox } from '../../../texts/access.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { TextArea } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { Mask } from '../../../ui/icons.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { LeftOff, useUnsaved } from '../../../ui/use-unsaved.tsx';

type Visitor = Extract<InboxItem, { kind: 'visitor' }>;

/** Somebody on a site who wants to talk to a person, and the answer. */
export function VisitorItem({ item }: { item: Visitor }) {
  const say = useSay();
  const unsaved = useUnsaved(`visitor:${item.id}`, { message: '' });
  const { message } = unsaved.value;
  // The platform takes the same answer once, however often it is sent.
  const tried = useRef({ id: '', words: '' });
  const params = { id: item.agentId, visitorId: item.id };
  const reply = useSend(web.widgets.reply, {
    refresh: [web.inbox.get],
    done: () => {
      unsaved.again();
      tried.current.words = '';
      say(texts.sent);
    },
  });
  const giveBack = useSend(web.widgets.giveBack, { refresh: [web.inbox.get], done: () => say(texts.givenBack) });
  const submit = () => {
    if (tried.current.words !== message) tried.current = { id: newId(), words: message };
    reply.mutate({ params, body: { message, id: tried.current.id } });
  };
  const title = item.state === 'waiting' ? texts.waits(item.widgetTitle) : texts.talks(item.widgetTitle);
  const error = reply.error ?? giveBack.error;
  return (
    <div role="group" aria-label={title} className="flex min-w-0 flex-col gap-2">
      <Words item={item} title={title} />
      {error && <Notice tone="danger">{error.message}</Notice>}
      <Form error={reply.error} fields={[]} onSubmit={submit} className="flex flex-col gap-2">
        <LeftOff of={unsaved} />
        <TextArea
          label={texts.answer}
          rows={2}
          required
          maxLength={VISITOR_MESSAGE_LENGTH}
          value={message}
          onChange={({ target }) => unsaved.set({ message: target.value })}
        />
        <div className="flex flex-wrap gap-2">
          <Button kind="primary" type="submit" busy={reply.isPending}>
            {texts.send}
          </Button>
          <Button busy={giveBack.isPending} onClick={() => giveBack.mutate({ params })}>
            {texts.giveBack}
          </Button>
          <LinkButton
            kind="quiet"
            to="/dashboard/agents/$id"
            params={{ id: item.agentId } as never}
            search={{ tab: 'chat' } as never}
          >
            {inbox.open}
          </LinkButton>
        </div>
      </Form>
    </div>
  );
}

function Words({ item, title }: { item: Visitor; title: string }) {
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-2 text-[0.9rem] text-ink-soft">
        <Mask seed={item.agentId} size={22} />
        <bdi className="min-w-0 truncate font-medium text-ink">{item.agentName}</bdi>
        <span className="break-all">{texts.from(item.origin)}</span>
        <span>{ago(item.at)}</span>
      </p>
      <p className="font-medium break-words" dir="auto">
        {title}
      </p>
      <p className="break-words whitespace-pre-wrap" dir="auto">
        {item.words || <span className="text-ink-faint">{texts.nothing}</span>}
      </p>
    </>
  );
}
