import { web } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { differences } from '../../../diff.ts';
import { ago, moment } from '../../../format.ts';
import { config as texts } from '../../../texts/operate.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, Notice } from '../../../ui/card.tsx';
import { DiffView } from '../../../ui/diff-view.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';
import type { Config } from './config-text.ts';

interface Backup {
  id: string;
  timestamp: string;
}

export function ConfigBackups({ config, backups }: { config: Config; backups: Backup[] }) {
  const [looking, setLooking] = useState<Backup>();
  return (
    <Card title={texts.backups} hint={texts.backupsHint}>
      {backups.length === 0 ? (
        <Empty title={texts.noBackups}>{texts.noBackupsHint}</Empty>
      ) : (
        <ul className="divide-y divide-line">
          {backups.map((backup) => (
            <li key={backup.id} className="flex items-center justify-between gap-2 py-2.5">
              <span className="min-w-0">
                <span className="block">{moment(backup.timestamp)}</span>
                <span className="block text-[0.85rem] text-ink-faint">{ago(backup.timestamp)}</span>
              </span>
              <Button
                small
                aria-label={`${texts.compare} ${moment(backup.timestamp)}`}
                onClick={() => setLooking(backup)}
              >
                {texts.compare}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {looking && <Compare backup={looking} config={config} onClose={() => setLooking(undefined)} />}
    </Card>
  );
}

/** What a restore would change, before it is done. */
function Compare({ backup, config, onClose }: { backup: Backup; config: Config; onClose: () => void }) {
  const read = useCall(web.config.getBackup, { params: { id: backup.id } });
  const say = useSay();
  const restore = useSend(web.config.restore, {
    refresh: [web.config.get],
    done: () => {
      say(texts.restored);
      onClose();
    },
  });
  return (
    <Dialog open onClose={onClose} wide title={texts.compareTitle} hint={moment(backup.timestamp)}>
      <div className="flex flex-col gap-5">
        <Loaded from={read}>
          {(old) => (
            <DiffView
              items={differences(config, old.config)}
              before={texts.now}
              after={texts.before}
              same={texts.same}
            />
          )}
        </Loaded>
        <p className="text-ink-soft">{texts.restoreLoss}</p>
        {restore.error && <Notice tone="danger">{restore.error.message}</Notice>}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{texts.keep}</Button>
          <Button
            kind="primary"
            busy={restore.isPending}
            onClick={() => restore.mutate({ body: { backupId: backup.id } })}
          >
            {texts.restore}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
