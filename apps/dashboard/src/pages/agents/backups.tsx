import {
  createAgentBackup,
  deleteAgentBackup,
  downloadAgentBackup,
  listAgentBackups,
  listConversations,
  getMemory,
  restoreAgentBackup,
} from '@troupe/contract';
import type { AgentBackup, WebAgent } from '@troupe/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { urlOf, useCall, useSend } from '../../api.ts';
import { ago, bytes, moment } from '../../format.ts';
import { backups as texts } from '../../texts/agents.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Card, Notice } from '../../ui/card.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useSay } from '../../ui/toast.tsx';
import { forgetSteps } from './conversations/conversation.ts';

/** Copies of the agent: make one, go back to one, take one away. */
export function Backups({ agent }: { agent: WebAgent }) {
  const params = { id: agent.id };
  const read = useCall(listAgentBackups, { params }, { every: 15_000 });
  const [restoring, setRestoring] = useState<AgentBackup>();
  const [removing, setRemoving] = useState<AgentBackup>();
  const say = useSay();
  const queries = useQueryClient();
  const make = useSend(createAgentBackup, { refresh: [listAgentBackups], done: () => say(texts.made) });
  const restore = useSend(restoreAgentBackup, {
    refresh: [listAgentBackups, listConversations, getMemory],
    done: () => {
      forgetSteps(queries, agent.id);
      setRestoring(undefined);
      say(texts.restored);
    },
  });
  const remove = useSend(deleteAgentBackup, {
    refresh: [listAgentBackups],
    done: () => {
      setRemoving(undefined);
      say(texts.deleted);
    },
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
        columns={[
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
                <Button
                  small
                  aria-label={texts.restoreNamed(moment(backup.createdAt))}
                  onClick={() => {
                    restore.reset();
                    setRestoring(backup);
                  }}
                >
                  {texts.restore}
                </Button>
                <a
                  href={urlOf(downloadAgentBackup, { params: { ...params, backupId: backup.id } })}
                  download
                  className="link text-[0.9rem]"
                >
                  {texts.download}
                </a>
                <IconButton
                  icon="trash"
                  label={texts.deleteNamed(moment(backup.createdAt))}
                  onClick={() => {
                    remove.reset();
                    setRemoving(backup);
                  }}
                />
              </span>
            ),
          },
        ]}
      />
      <Confirm
        open={restoring !== undefined}
        onClose={() => setRestoring(undefined)}
        title={texts.restoreTitle(agent.name, moment(restoring?.createdAt))}
        losses={
          <>
            <p>{texts.restoreLoss}</p>
            <p>{texts.restoreUndo}</p>
          </>
        }
        action={texts.restore}
        busy={restore.isPending}
        error={restore.error}
        onConfirm={() => restoring && restore.mutate({ params: { ...params, backupId: restoring.id } })}
      />
      <Confirm
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title={texts.deleteTitle(moment(removing?.createdAt))}
        losses={<p>{texts.deleteLoss}</p>}
        action={texts.delete}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => removing && remove.mutate({ params: { ...params, backupId: removing.id } })}
      />
    </Card>
  );
}
