import { web } from '@troupe/contract';
import type { AgentBackup, WebAgent } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { urlOf, useCall, useSend } from '../../api.ts';
import { ago, bytes, moment } from '../../format.ts';
import { backups as texts } from '../../texts/agents.ts';
import { useAsk } from '../../ui/ask.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Card, Notice } from '../../ui/card.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';
import { forgetSteps } from './conversations/conversation.ts';

interface Acts {
  restore: (backup: AgentBackup) => void;
  remove: (backup: AgentBackup) => void;
}

const columnsOf = (params: { id: string }, acts: Acts): Column<AgentBackup>[] => [
  {
    key: 'when',
    header: texts.when,
    cell: ({ createdAt }) => <span title={ago(createdAt)}>{moment(createdAt)}</span>,
  },
  { key: 'why', header: texts.why, cell: ({ reason }) => texts.reasons[reason] ?? reason },
  { key: 'size', header: texts.size, end: true, cell: ({ size }) => bytes(size) },
  {
    key: 'actions',
    header: '',
    end: true,
    cell: (backup) => (
      <span className="flex items-center justify-end gap-2">
        <Button small aria-label={texts.restoreNamed(moment(backup.createdAt))} onClick={() => acts.restore(backup)}>
          {texts.restore}
        </Button>
        <a
          href={urlOf(web.backups.download, { params: { ...params, backupId: backup.id } })}
          download
          className="link text-[0.9rem]"
        >
          {texts.download}
        </a>
        <IconButton
          icon="trash"
          label={texts.deleteNamed(moment(backup.createdAt))}
          onClick={() => acts.remove(backup)}
        />
      </span>
    ),
  },
];

/** Copies of the agent: make one, go back to one, take one away. */
export function Backups({ agent }: { agent: WebAgent }) {
  const params = { id: agent.id };
  const read = useCall(web.backups.list, { params }, { every: 15_000 });
  const say = useSay();
  const make = useSend(web.backups.create, { refresh: [web.backups.list], done: () => say(texts.made) });
  const restore = useRestore(agent.id);
  const remove = useAsk(web.backups.remove, ({ id }: AgentBackup) => ({ params: { ...params, backupId: id } }), {
    refresh: [web.backups.list],
    done: () => say(texts.deleted),
  });
  const create = (
    <Button kind="primary" icon="plus" busy={make.isPending} onClick={() => make.mutate({ params })}>
      {texts.make}
    </Button>
  );
  return (
    <Card title={texts.title} hint={texts.hint(read.data?.limit ?? 10)} actions={create} flush>
      {make.error && (
        <div className="px-5 pb-4">
          <Notice tone="danger">{make.error.message}</Notice>
        </div>
      )}
      <Table
        label={texts.title}
        rows={read.data?.backups}
        rowKey={({ id }) => id}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={texts.none}>{texts.noneHint}</Empty>}
        columns={columnsOf(params, { restore: restore.ask, remove: remove.ask })}
      />
      <Confirm
        {...restore.confirm}
        title={texts.restoreTitle(agent.name, moment(restore.subject?.createdAt))}
        losses={
          <>
            <p>{texts.restoreLoss}</p>
            <p>{texts.restoreUndo}</p>
          </>
        }
        action={texts.restore}
      />
      <Confirm
        {...remove.confirm}
        title={texts.deleteTitle(moment(remove.subject?.createdAt))}
        losses={<p>{texts.deleteLoss}</p>}
        action={texts.delete}
      />
    </Card>
  );
}

/** Going back to a copy: what was said and remembered since is another. */
function useRestore(agentId: string) {
  const say = useSay();
  const queries = useQueryClient();
  return useAsk(web.backups.restore, ({ id }: AgentBackup) => ({ params: { id: agentId, backupId: id } }), {
    refresh: [web.backups.list, web.conversations.list, web.memory.get],
    done: () => {
      forgetSteps(queries, agentId);
      say(texts.restored);
    },
  });
}
