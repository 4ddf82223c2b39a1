import { web } from '@troupe/contract';
import { useCall, useSend } from '../../../api.ts';
import { config as texts } from '../../../texts/operate.ts';
import { Page } from '../../../ui/page.tsx';
import { Loaded } from '../../../ui/states.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { ConfigBackups } from './kept.tsx';
import { ConfigEditor } from './editor.tsx';

export default function Configuration() {
  const read = useCall(web.config.get, {});
  const say = useSay();
  const save = useSend(web.config.save, { refresh: [web.config.get], done: () => say(texts.saved) });
  return (
    <Page title={texts.page} lead={texts.lead}>
      <Loaded from={read} rows={8}>
        {({ config, backups }) => (
          <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
            {/* A new version starts a new editor: a restore must not be hidden behind old drafts. */}
            <ConfigEditor
              key={JSON.stringify(config)}
              name="config"
              config={config}
              busy={save.isPending}
              error={save.error}
              onSave={(next) => save.mutate({ body: { config: next } })}
            />
            <ConfigBackups config={config} backups={backups} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}
