import { web } from '@troupe/contract';
import { useSend } from '../../../api.ts';
import { servers as texts } from '../../../texts/connections.ts';
import { Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { Form } from '../../../ui/form.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { LeftOff, useUnsaved } from '../../../ui/use-unsaved.tsx';
import { Insist } from '../evaluations/insist.tsx';
import { NO_SERVER, SECRET_FIELDS, serverBody } from './mcp-server.ts';
import { ServerFields } from './server-fields.tsx';

/** A server for this agent alone. */
export function Attach({ agentId, onClose }: { agentId: string; onClose: () => void }) {
  const unsaved = useUnsaved(`server:${agentId}`, NO_SERVER, SECRET_FIELDS);
  const form = unsaved.value;
  const leave = () => {
    unsaved.clear();
    onClose();
  };
  const say = useSay();
  const attach = useSend(web.connections.attach, {
    refresh: [web.connections.list],
    done: () => {
      say(texts.attached);
      leave();
    },
  });
  const submit = (force?: 'true') => {
    const query = force ? { force } : {};
    attach.mutate({ params: { id: agentId, name: form.name.trim() }, query, body: serverBody(form) });
  };
  return (
    <Dialog open onClose={onClose} title={texts.add} hint={texts.attachHint}>
      <Form error={attach.error} fields={['name', 'url']} onSubmit={() => submit()}>
        <LeftOff of={unsaved} />
        <ServerFields form={form} onChange={unsaved.set} />
        <Insist error={attach.error} onForce={() => submit('true')} />
        <DialogEnd send={attach} onClose={leave} action={texts.attach} />
      </Form>
    </Dialog>
  );
}
