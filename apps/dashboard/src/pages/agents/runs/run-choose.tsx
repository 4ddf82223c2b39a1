import { web } from '@troupe/contract';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useCall } from '../../../api.ts';
import { ago } from '../../../format.ts';
import { runs as texts } from '../../../texts/runs.ts';
import { Dialog, DialogEnd } from '../../../ui/dialog.tsx';
import { SelectField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { useAgentNames } from '../agents/names.ts';
import { titleOf } from '../conversations/title.ts';
import { runAddress, runName } from './run-name.ts';
import type { RunPlace } from './run-name.ts';
import { nearFirst, runsIn } from './runs-in.ts';

const MOST = 1000;
/** Longer ones push the rest of a list out of sight. */
const WORDS = 70;

const cut = (text: string) => (text.length > WORDS ? `${text.slice(0, WORDS).trimEnd()}…` : text);

/** The newest runs of a conversation, but the one that is looked at. */
function useRuns(agentId: string, sessionId: string, lastSeq: number, place: RunPlace) {
  const query = { after: String(Math.max(0, lastSeq - MOST)), limit: String(MOST) };
  const read = useCall(
    web.conversations.get,
    { params: { id: agentId, sessionId }, query },
    { enabled: sessionId !== '' },
  );
  const runs = useMemo(() => {
    const isOwn = agentId === place.agentId && sessionId === place.sessionId;
    return runsIn(read.data?.events ?? []).filter(({ first }) => !isOwn || first !== place.first);
  }, [read.data, agentId, sessionId, place]);
  return { read, runs };
}

/** With which other run this one is compared: of this conversation, of one of its branches, or of any other. */
export function CompareDialog({ place, onClose }: { place: RunPlace; onClose: () => void }) {
  const navigate = useNavigate();
  const agents = useAgentNames().choices;
  const [agentId, setAgent] = useState(place.agentId);
  const [wanted, setWanted] = useState<{ session?: string; first?: number }>({});
  const listed = useCall(web.conversations.list, { params: { id: agentId }, query: { limit: '100' } });
  const heads = useMemo(() => nearFirst(listed.data?.sessions ?? [], place.sessionId), [listed.data, place.sessionId]);
  const head = heads.find(({ id }) => id === wanted.session) ?? heads[0];
  const { read, runs } = useRuns(agentId, head?.id ?? '', head?.lastSeq ?? 0, place);
  const run = runs.find(({ first }) => first === wanted.first) ?? runs[0];
  const submit = () => {
    if (!head || !run) return;
    const other = runName({ agentId, sessionId: head.id, first: run.first });
    void navigate({ to: `${runAddress(place)}/compare/${other}` });
  };
  const isKnown = listed.data !== undefined && (head === undefined || read.data !== undefined);
  const error = listed.error ?? read.error;
  return (
    <Dialog open onClose={onClose} title={texts.compareTitle} hint={texts.compareHint}>
      <Form error={error} fields={[]} onSubmit={submit}>
        <SelectField
          label={texts.agent}
          value={agentId}
          onChange={({ target }) => {
            setAgent(target.value);
            setWanted({});
          }}
          choices={agents}
        />
        <SelectField
          label={texts.conversation}
          value={head?.id ?? ''}
          onChange={({ target }) => setWanted({ session: target.value })}
          choices={heads.map(({ id, title, updatedAt }) => ({
            value: id,
            label: `${cut(titleOf(title))}, ${ago(updatedAt)}`,
          }))}
        />
        <SelectField
          label={texts.run}
          hint={isKnown && !run ? texts.noOther : undefined}
          value={String(run?.first ?? '')}
          onChange={({ target }) => setWanted({ session: head?.id, first: Number(target.value) })}
          choices={runs.map(({ first, text, at }) => ({
            value: String(first),
            label: `${cut(text.trim() || texts.kinds['prompt'] || '')}, ${ago(at)}`,
          }))}
        />
        <DialogEnd
          send={{ error, isPending: !isKnown && !error }}
          onClose={onClose}
          action={texts.compare}
          disabled={!run}
        />
      </Form>
    </Dialog>
  );
}
